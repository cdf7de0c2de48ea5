import * as vscode from 'vscode';
import type { SymbolKind } from '../../language/symbols/roles.ts';
import { domainFolders } from '../workspace/workspaceDomains.ts';
import type { LanguageClient } from './languageClient.ts';
import { locationOf } from './places.ts';

const kinds: Readonly<Record<SymbolKind, vscode.SymbolKind>> = {
  tool: vscode.SymbolKind.Function,
  rule: vscode.SymbolKind.Key,
  persona: vscode.SymbolKind.Class,
  task: vscode.SymbolKind.Event,
  verifier: vscode.SymbolKind.Function,
  fact: vscode.SymbolKind.Variable,
  phrases: vscode.SymbolKind.Array,
  argument: vscode.SymbolKind.Property,
  field: vscode.SymbolKind.Field,
  row: vscode.SymbolKind.Constant,
};

/** Returns what the domains of the workspace declare, in Go to Symbol in Workspace. */
export function registerWorkspaceSymbols(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerWorkspaceSymbolProvider({
    provideWorkspaceSymbols: async (query, token) => {
      const folders = await domainFolders();
      const found = await Promise.all(folders.map((folder) => client.askIn(folder, { type: 'symbols', query }, token)));
      return found
        .flatMap((each) => each ?? [])
        .map(
          ({ kind, name, container, at }) => new vscode.SymbolInformation(name, kinds[kind], container, locationOf(at)),
        );
    },
  });
}
