import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { trainingRuns } from '../runs/runsOfWorkspace.ts';
import { showInformationMessage } from '../workspace/messages.ts';

/** Trained weights of the workspace, as a row of a list that a person chooses from. */
export type CheckpointItem = vscode.QuickPickItem & { readonly model: string };

/**
 * Every checkpoint of every training run: the newest run first, and of a run the one that it ended with, then the newest.
 * @param of the folder of the only run that counts
 */
export async function checkpointItems(of?: string): Promise<readonly CheckpointItem[]> {
  const { checkpointsOf } = await import('../../engine/shell/records/trainingRun.ts');
  const runs = (await trainingRuns()).filter(({ folder }) => of === undefined || folder === of);
  return runs.flatMap(({ id, folder }) =>
    checkpointsOf(folder)
      .map((name) => ({ label: id, description: describe(name), model: join(folder, runFiles.checkpoints, name) }))
      .filter(({ model }) => ['config.json', 'adapter_config.json'].some((file) => existsSync(join(model, file))))
      .toReversed(),
  );
}

/** The seat of the checkpoint that a person chooses; undefined without a checkpoint, or if nothing was chosen. */
export async function pickCheckpointSeat(): Promise<string | undefined> {
  const model = await pickCheckpoint("Which checkpoint takes the agent's seat?");
  return model && `checkpoint:${model}`;
}

/**
 * The folder of the checkpoint that a person chooses; undefined without a checkpoint, or if nothing was chosen.
 * @param of the folder of the only run that counts
 */
export async function pickCheckpoint(placeHolder: string, of?: string): Promise<string | undefined> {
  const items = await checkpointItems(of);
  if (items.length === 0) {
    void tellNone(of);
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.model;
}

async function tellNone(of: string | undefined): Promise<void> {
  if (of !== undefined) {
    void showInformationMessage(
      `${basename(of)} has no checkpoint here. Training leaves one when it ends or is stopped; one on another machine is fetched.`,
    );
    return;
  }
  const train = 'Train with SFT…';
  const text = 'There is no checkpoint yet. A training run leaves one when it ends or is stopped.';
  if ((await showInformationMessage(text, train)) === train)
    await vscode.commands.executeCommand('rehearsal.training.sft');
}

const describe = (name: string) =>
  name === 'final' ? 'what the run ended with' : `optimizer step ${/\d+$/.exec(name)?.[0] ?? name}`;
