import * as vscode from 'vscode';
import type { Context } from '../commandLine/context.ts';
import { type TrainingRun, trainingRuns } from '../runs/runsOfWorkspace.ts';
import { showInformationMessage } from '../workspace/messages.ts';

/**
 * Compares evaluations of checkpoints task by task: folders that are named, or those that a person picks.
 * @param target a row of the Training view, which is offered as picked
 * @returns their folders, or undefined where there were too few
 */
export async function compareEvaluations(context: Context, target: unknown): Promise<readonly string[] | undefined> {
  const folders = Array.isArray(target) ? (target as readonly string[]) : await pickEvaluations(target);
  if (!folders) return undefined;
  if (folders.length < 2) {
    void showInformationMessage('Select two evaluations or more to compare them.');
    return undefined;
  }
  const { openComparison } = await import('../panels/comparisonPanel.ts');
  openComparison(context, folders);
  return folders;
}

async function pickEvaluations(target: unknown): Promise<readonly string[] | undefined> {
  const of = (target as Partial<TrainingRun> | undefined)?.folder;
  const evaluations = (await trainingRuns()).filter(({ kind, running }) => kind === 'evaluate' && !running);
  if (evaluations.length < 2) {
    void tellTooFew();
    return undefined;
  }
  const items = evaluations.map(({ id, folder, model, domain }) => ({
    label: id,
    description: [model, domain && `on ${domain}`].filter(Boolean).join(' '),
    folder,
    picked: folder === of,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: 'Compare checkpoints by task',
    placeHolder: 'Two or more; the others are compared with the oldest',
    matchOnDescription: true,
  });
  return picked?.map(({ folder }) => folder).toReversed();
}

async function tellTooFew(): Promise<void> {
  const evaluate = 'Evaluate a Checkpoint…';
  const text = 'There are fewer than two evaluations in this workspace. Evaluate a checkpoint and its base model.';
  if ((await showInformationMessage(text, evaluate)) === evaluate)
    await vscode.commands.executeCommand('rehearsal.training.evaluate');
}
