import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { runFiles } from '../../engine/shell/runFiles.ts';
import { trainingRuns } from './runsOfWorkspace.ts';

/** Trained weights of the workspace, as a row of a list that a person chooses from. */
export type CheckpointItem = vscode.QuickPickItem & { readonly model: string };

/** Every checkpoint of every training run: the newest run first, and of a run the one that it ended with, then the newest. */
export async function checkpointItems(): Promise<readonly CheckpointItem[]> {
  const { checkpointsOf } = await import('../../engine/shell/trainingRun.ts');
  return (await trainingRuns()).flatMap(({ id, folder }) =>
    checkpointsOf(folder)
      .map((name) => ({ label: id, description: describe(name), model: join(folder, runFiles.checkpoints, name) }))
      .filter(({ model }) => ['config.json', 'adapter_config.json'].some((file) => existsSync(join(model, file))))
      .toReversed(),
  );
}

/** The seat of the checkpoint that a person chooses; undefined where there is none, or nothing was chosen. */
export async function pickCheckpointSeat(): Promise<string | undefined> {
  const items = await checkpointItems();
  if (items.length === 0) {
    const train = 'Train with SFT…';
    const text = 'There is no checkpoint yet. A training run leaves one when it ends or is stopped.';
    if ((await vscode.window.showInformationMessage(text, train)) === train)
      await vscode.commands.executeCommand('rehearsal.training.sft');
    return undefined;
  }
  const placeHolder = "Which checkpoint takes the agent's seat?";
  const chosen = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  return chosen && `checkpoint:${chosen.model}`;
}

const describe = (name: string) =>
  name === 'final' ? 'what the run ended with' : `optimizer step ${/\d+$/.exec(name)?.[0] ?? name}`;
