import * as vscode from 'vscode';
import type { LanguageClient } from './languageClient.ts';
import { locationOf, namingFiles, positionAt } from './places.ts';

/** Finds every place of the domain that mentions the symbol at the cursor. */
export function registerReferences(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerReferenceProvider(namingFiles, {
    provideReferences: async (document, position, { includeDeclaration }, token) => {
      const at = positionAt(document, position);
      const question = { type: 'references', at, withDeclaration: includeDeclaration } as const;
      return (await client.ask(at.file, question, token))?.map(locationOf);
    },
  });
}
