import * as vscode from 'vscode';
import type { Grouping } from '../../language/service/domainRow.ts';

/** Prefix of the settings of the Test Explorer. */
export const settingsPrefix = 'rehearsal.tests';

const settings = () => vscode.workspace.getConfiguration(settingsPrefix);

/** Returns what tasks are under. */
export function grouping(): Grouping {
  return settings().get<string>('groupBy') === 'persona' ? 'persona' : 'split';
}

/** Trials of each task that the settings name; undefined where they leave it to be asked. */
export function trialsInSettings(): number | undefined {
  const trials = settings().get<number>('trials') ?? 0;
  return Number.isInteger(trials) && trials > 0 ? trials : undefined;
}

/** Lets tasks are under the other of the two, in this workspace. */
export async function toggleGrouping(): Promise<Grouping> {
  const other = grouping() === 'split' ? 'persona' : 'split';
  await settings().update('groupBy', other, vscode.ConfigurationTarget.Workspace);
  return other;
}
