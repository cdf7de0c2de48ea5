import * as vscode from 'vscode';
import { domainFolderOf, readDomain } from '../workspaceDomains.ts';

/** Debug and Run above every task of a task file. */
export const taskLenses: vscode.CodeLensProvider = {
  provideCodeLenses: async ({ uri }) => {
    const folder = domainFolderOf(uri.fsPath);
    if (!folder) return [];
    const { locations } = await readDomain(folder);
    const inFile = [...locations.tasks].filter(([, { file }]) => file === uri.fsPath);
    return inFile.flatMap(([task, { line }]) => {
      const range = new vscode.Range(line - 1, 0, line - 1, 0);
      const target = { type: 'task', folder, task };
      return [
        new vscode.CodeLens(range, {
          title: '$(debug-alt) Debug',
          command: 'rehearsal.task.debug',
          arguments: [target],
        }),
        new vscode.CodeLens(range, { title: '$(play) Run', command: 'rehearsal.task.run', arguments: [target] }),
      ];
    });
  },
};
