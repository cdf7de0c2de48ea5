import * as vscode from 'vscode';
import type { Context } from '../context.ts';
import { openedComparison } from '../runs/runCommands.ts';
import { type TrainingRun, trainingRuns } from './runsOfWorkspace.ts';

/**
 * Compares evaluations of checkpoints task by task: folders that are named, or those that a person picks.
 * @param target a row of the Training view, which is offered as picked
 * @returns their folders, or undefined where there were too few
 */
export async function compareEvaluations(context: Context, target: unknown): Promise<readonly string[] | undefined> {
  const folders = Array.isArray(target) ? (target as readonly string[]) : await pickEvaluations(target);
  return openedComparison(context, folders, 'evaluations');
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
    placeHolder: 'Two evaluations or more; the others are compared with the oldest',
    matchOnDescription: true,
  });
  return picked?.map(({ folder }) => folder).toReversed();
}

async function tellTooFew(): Promise<void> {
  const evaluate = 'Evaluate a Checkpoint…';
  const text = 'There are fewer than two evaluations in this workspace. Evaluate a checkpoint and its base model.';
  if ((await vscode.window.showInformationMessage(text, evaluate)) === evaluate)
    await vscode.commands.executeCommand('rehearsal.training.evaluate');
}
