import * as vscode from 'vscode';
import type { LanguageClient } from './languageClient.ts';
import { rangeOf, yamlFiles } from './places.ts';

/** The files that domain.yaml names open with a click. */
export function registerLinks(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerDocumentLinkProvider(yamlFiles, {
    provideDocumentLinks: async ({ uri: { fsPath: file } }, token) => {
      const found = await client.ask(file, { type: 'links', file }, token);
      return found?.map(({ at, target }) => new vscode.DocumentLink(rangeOf(at), vscode.Uri.file(target)));
    },
  });
}
