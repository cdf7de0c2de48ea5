import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { replaceFile } from '../../engine/shell/files/disk.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { failureMessage, runWithProgress } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { trainingRuns } from '../runs/runsOfWorkspace.ts';
import { showErrorMessage, showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';

/** Asks a run to end after its current optimizer step, with a checkpoint. */
export async function stopTraining(given?: string): Promise<boolean> {
  const running = (await trainingRuns()).filter((run) => run.running);
  const picked =
    given ??
    (running.length === 1
      ? running[0]?.folder
      : await pickRun(running.map(({ id, folder }) => ({ label: id, folder }))));
  if (!picked || !existsSync(picked)) {
    void showInformationMessage('No training is running.');
    return false;
  }
  replaceFile(join(picked, runFiles.stop), '');
  return true;
}

/** Brings the newest checkpoint of a run on another machine into its folder here; returns its folder. */
export async function fetchCheckpoint(context: Context, given?: string): Promise<string | undefined> {
  if (!mayRun('Training runs')) return undefined;
  const elsewhere = (await trainingRuns()).filter(({ folder }) => existsSync(join(folder, runFiles.target)));
  const run = given ?? (await pickRun(elsewhere.map(({ id, folder }) => ({ label: id, folder }))));
  if (!run && elsewhere.length > 0) return undefined;
  if (!run || !existsSync(join(run, runFiles.target))) {
    void showInformationMessage('Only the checkpoints of a run on another machine are fetched.');
    return undefined;
  }
  const title = `Rehearsal: fetching the newest checkpoint of ${basename(run)}`;
  const end = await runWithProgress(context, title, ['train', 'fetch', run]);
  if (end.isCancelled) return undefined;
  if (end.code !== 0) {
    void showErrorMessage(`The checkpoint could not be fetched: ${failureMessage(end, 'the command')}`);
    return undefined;
  }
  void showInformationMessage(`The checkpoint is in ${end.answer['checkpoint']}`);
  return String(end.answer['checkpoint']);
}

/** Shows the trainer's own log if it has started one, else the extension's. */
export async function showRunLog(context: Context, run: string | undefined): Promise<void> {
  const path = run && join(run, runFiles.log);
  if (path && existsSync(path)) await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: true });
  else context.log.show();
}

/** The folder of the run that a person picks; undefined without a run, or if nothing was picked. */
export async function pickRun(
  items: readonly { readonly label: string; readonly folder: string }[],
): Promise<string | undefined> {
  if (items.length === 0) return undefined;
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which run?' }))?.folder;
}
