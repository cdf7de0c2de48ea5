import { join } from 'node:path';
import * as vscode from 'vscode';
import { workFolders } from '../../engine/shell/workFolders.ts';
import type { Run } from '../../webview/protocol.ts';

/** A training run of the workspace: what its configuration says, where it lies, and whether it is under way. */
export type TrainingRun = Run & { readonly folder: string; readonly running: boolean };

/** Where the training runs of a workspace live. */
export function trainingRoot(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder && join(folder.uri.fsPath, workFolders.training);
}

/**
 * Training runs of the workspace, newest first. A run lives on when the editor closes, so this reads the disk. The
 * reader is loaded at the first call, so that activation does not wait for it.
 */
export async function trainingRuns(): Promise<readonly TrainingRun[]> {
  const root = trainingRoot();
  if (!root) return [];
  const { isRunning, listRuns } = await import('./runReader.ts');
  return (await listRuns(root)).map((run) => {
    const folder = join(root, run.id);
    return { ...run, folder, running: isRunning(folder) };
  });
}
