import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { pickCheckpoint } from './checkpoints.ts';
import { pythonOption } from './learning.ts';

/**
 * Writes a checkpoint as a whole model, any adapter merged in, where a person says.
 * @param of the folder of the run whose checkpoints are offered
 * @returns the folder of the model, or undefined where none was written
 */
export async function exportCheckpoint(context: Context, of: string | undefined): Promise<string | undefined> {
  if (!mayRun('Exports')) return undefined;
  const model = await pickCheckpoint('Which checkpoint is exported?', of);
  if (!model) return undefined;
  const folder = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.file(join(dirname(dirname(model)), `${basename(model)}-merged`)),
    title: 'Export Merged Weights: a new folder',
    saveLabel: 'Export',
  });
  if (!folder) return undefined;
  const args = ['export-model', model, '--out', folder.fsPath, ...pythonOption()];
  const end = await runOrTell(context, 'Rehearsal: exporting the merged weights', args);
  if (!end) return undefined;
  const megabytes = (Number(end.answer['bytes']) / 1e6).toFixed(1);
  void showInformationMessage(`Exported ${megabytes} MB of weights to ${folder.fsPath}.`);
  return folder.fsPath;
}
