import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { workFolder, workFolders } from '../../engine/shell/files/workFolders.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { failureMessage, runWithProgress } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import { activeFile } from '../workspace/activeFile.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { pythonOption } from './learning.ts';

const ending = '.experiment.yaml';

/**
 * Runs or continues an experiment: the given one, the open one, or the one that the user picks. Opens its table at the
 * end.
 * @returns the file of the table, or undefined if the experiment did not finish
 */
export async function runExperiment(context: Context, given: unknown): Promise<string | undefined> {
  if (!mayRun('Experiments')) return undefined;
  const file = typeof given === 'string' ? given : await pickExperiment();
  const place =
    file && (vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) ?? vscode.workspace.workspaceFolders?.[0]);
  if (!file || !place) return undefined;
  await vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file)?.save();
  const name = basename(file, ending);
  const cwd = place.uri.fsPath;
  const title = `Rehearsal: running the experiment ${name}`;
  const end = await runWithProgress(context, title, ['experiment', file, ...pythonOption()], { cwd });
  if (end.code === 0) {
    const table = join(cwd, workFolders.experiments, name, runFiles.resultText);
    await vscode.window.showTextDocument(vscode.Uri.file(table), { preview: false });
    return table;
  }
  if (end.isCancelled || end.isStopped)
    void showInformationMessage(`The experiment ${name} was stopped. Run it again to resume it.`);
  else void tell(context, 'error', failureMessage(end, 'The experiment'));
  return undefined;
}

async function pickExperiment(): Promise<string | undefined> {
  const open = activeFile();
  if (open?.endsWith(ending)) return open;
  const files = await vscode.workspace.findFiles(`**/*${ending}`, `**/{node_modules,${workFolder}}/**`, 200);
  if (files.length === 0) {
    void showInformationMessage(
      `There is no experiment in this workspace. Describe the variants to train in a file NAME${ending}. ` +
        'The page experiments of the documentation shows an example.',
    );
    return undefined;
  }
  const items = files.map(({ fsPath }) => ({ label: vscode.workspace.asRelativePath(fsPath), file: fsPath }));
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which experiment?' }))?.file;
}
