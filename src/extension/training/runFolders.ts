import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { trainerOf } from './trainerProcess.ts';

export type TrainingRun = {
  readonly id: string;
  readonly folder: string;
  readonly kind: string;
  readonly running: boolean;
};

/** Where the training runs of a workspace live. */
export function trainingRoot(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder && join(folder.uri.fsPath, '.rehearsal', 'training');
}

/** Training runs of the workspace, newest first. A run lives on when the editor closes, so this reads the disk. */
export function trainingRuns(): readonly TrainingRun[] {
  const root = trainingRoot();
  if (!root || !existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      id: name,
      folder: join(root, name),
      kind: kindOf(join(root, name)),
      running: trainerOf(join(root, name))?.isRunning ?? false,
    }))
    .sort((a, b) => b.id.localeCompare(a.id));
}

function kindOf(folder: string): string {
  try {
    return (JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { kind?: string }).kind ?? 'training';
  } catch {
    return 'preparing';
  }
}
