import * as vscode from 'vscode';
import type { LanguageClient } from './languageClient.ts';
import { positionAt, rangeOf, writtenFiles } from './places.ts';

/** Highlights the places of a file that mention the symbol at the cursor; undefined leaves it to matching words. */
export function registerHighlights(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerDocumentHighlightProvider(writtenFiles, {
    provideDocumentHighlights: async (document, position, token) => {
      const at = positionAt(document, position);
      const found = await client.ask(at.file, { type: 'highlights', at }, token);
      return found && found.length > 0 ? found.map((each) => new vscode.DocumentHighlight(rangeOf(each))) : undefined;
    },
  });
}
