import * as vscode from 'vscode';
import type { LanguageClient } from './languageClient.ts';
import { yamlFiles } from './places.ts';

/** Puts the indentation and the spaces of a YAML file in order; its comments, blank lines and texts stay. */
export function registerFormatting(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerDocumentFormattingEditProvider(yamlFiles, {
    provideDocumentFormattingEdits: async (document, _options, token) => {
      const file = document.uri.fsPath;
      const made = await client.ask(file, { type: 'format', file }, token);
      if (made === undefined || made === null) return undefined;
      const whole = new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);
      return [vscode.TextEdit.replace(whole, made)];
    },
  });
}
