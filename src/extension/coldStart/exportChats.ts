import { join } from 'node:path';
import * as vscode from 'vscode';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { pickSynthesis } from '../runs/synthFolders.ts';
import { showInformationMessage } from '../workspace/messages.ts';

/**
 * Writes what is accepted of a synthesis as chat JSONL, where a person says.
 * @returns the file, or undefined where none was written
 */
export async function exportSynthesis(context: Context, target: unknown): Promise<string | undefined> {
  const folder = typeof target === 'string' ? target : await pickSynthesis();
  if (!folder) return undefined;
  const file = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.file(join(folder, 'chat.jsonl')),
    filters: { 'Chat JSONL': ['jsonl'] },
    title: 'Export Cold-Start Trajectories',
  });
  if (!file) return undefined;
  const args = ['synth', 'export', folder, '--out', file.fsPath];
  const end = await runOrTell(context, 'Rehearsal: exporting cold-start trajectories', args);
  if (!end) return undefined;
  void showInformationMessage(`Exported ${String(end.answer['exported'])} trajectories to ${file.fsPath}.`);
  return file.fsPath;
}
