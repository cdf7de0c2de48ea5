import * as vscode from 'vscode';
import type { LanguageClient } from './languageClient.ts';
import { yamlFiles } from './places.ts';

/** Items, long texts and blocks of comments fold. */
export function registerFolding(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerFoldingRangeProvider(yamlFiles, {
    provideFoldingRanges: async ({ uri: { fsPath: file } }, _context, token) => {
      const found = await client.ask(file, { type: 'folds', file }, token);
      return found?.map(
        ({ line, endLine, isComment }) =>
          new vscode.FoldingRange(line - 1, endLine - 1, isComment ? vscode.FoldingRangeKind.Comment : undefined),
      );
    },
  });
}
