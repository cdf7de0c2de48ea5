import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { LanguageClient } from './languageClient.ts';

/** Run, Debug and Play as User above every task of a task file. */
export function registerTaskLenses(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerCodeLensProvider(
    { scheme: 'file', pattern: '**/*.task.yaml' },
    {
      provideCodeLenses: async ({ uri: { fsPath: file } }, token) => {
        const folder = domainFolderOf(file);
        if (folder === undefined) return [];
        const anchors = (await client.askIn(folder, { type: 'tasks', file }, token)) ?? [];
        return anchors.flatMap(({ name, line }) => {
          const range = new vscode.Range(line - 1, 0, line - 1, 0);
          const target = { type: 'task', folder, task: name };
          const lens = (title: string, command: string) =>
            new vscode.CodeLens(range, { title, command, arguments: [target] });
          return [
            lens('$(debug-alt) Debug', 'rehearsal.task.debug'),
            lens('$(play) Run', 'rehearsal.task.run'),
            lens('$(person) Play as User', 'rehearsal.task.play'),
          ];
        });
      },
    },
  );
}
