import * as vscode from 'vscode';
import type { Context } from '../commandLine/context.ts';
import { trialsInSettings } from './settings.ts';

const memory = 'rehearsal.tests.lastTrials';
const usualTrials = 4;

/** Returns how many trials of each task: as the settings say, else as a person answers; undefined when they don't. */
export async function askTrials(
  { extension }: Pick<Context, 'extension'>,
  token?: vscode.CancellationToken,
): Promise<number | undefined> {
  const known = trialsInSettings();
  if (known !== undefined) return known;
  const last = extension.workspaceState.get<number>(memory) ?? usualTrials;
  const answer = await vscode.window.showInputBox(
    {
      title: 'Trials of each task',
      value: String(last),
      prompt: 'Each trial has its own random streams. Set rehearsal.tests.trials to skip this question.',
      validateInput: (text) => (isTrials(text) ? undefined : 'Type a whole number from 1 to 1000.'),
    },
    token,
  );
  if (answer === undefined || !isTrials(answer)) return undefined;
  await extension.workspaceState.update(memory, Number(answer));
  return Number(answer);
}

function isTrials(text: string): boolean {
  return /^[1-9][0-9]{0,3}$/.test(text.trim()) && Number(text) <= 1000;
}
