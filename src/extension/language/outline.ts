import * as vscode from 'vscode';
import type { OutlineItem } from '../../language/outline.ts';
import type { LanguageClient } from './languageClient.ts';
import { rangeOf, writtenFiles } from './places.ts';

const kinds: Readonly<Record<OutlineItem['type'], vscode.SymbolKind>> = {
  item: vscode.SymbolKind.Object,
  map: vscode.SymbolKind.Module,
  list: vscode.SymbolKind.Array,
  text: vscode.SymbolKind.Property,
  rule: vscode.SymbolKind.Key,
};

/** Tasks, personas, checks and keys of a file in the outline and in Go to Symbol. */
export function registerOutline(client: LanguageClient): vscode.Disposable {
  const provider: vscode.DocumentSymbolProvider = {
    provideDocumentSymbols: async ({ uri: { fsPath: file } }, token) =>
      (await client.ask(file, { type: 'outline', file }, token))?.map(symbolOf),
  };
  return vscode.languages.registerDocumentSymbolProvider(writtenFiles, provider, { label: 'Rehearsal' });
}

function symbolOf({ name, detail, type, at, nameAt, children }: OutlineItem): vscode.DocumentSymbol {
  const symbol = new vscode.DocumentSymbol(name || ' ', detail, kinds[type], rangeOf(at), rangeOf(nameAt));
  symbol.children = children.map(symbolOf);
  return symbol;
}
