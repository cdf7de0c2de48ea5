import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import type { Alarm } from '../../webview/messages/protocol.ts';
import { runQuietly } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { beginRunning } from '../commandLine/running.ts';
import { trainingRuns } from '../runs/runsOfWorkspace.ts';
import { showWarningMessage } from '../workspace/messages.ts';
import { stopTraining } from './runOperations.ts';
import { isOnNamedTarget } from './targets.ts';

/** Training runs that are shown as running. */
const shown = new Set<string>();

/** Shows a run as running until it reports its end, or its trainer is gone. */
export function showTraining(folder: string): void {
  if (shown.has(folder)) return;
  shown.add(folder);
  const stop = () => stopTraining(folder);
  const open = () => vscode.commands.executeCommand('rehearsal.training.dashboard', folder);
  const handle = beginRunning({ type: 'training', title: basename(folder) }, { stop, open });
  const end = () => {
    shown.delete(folder);
    handle.end();
  };
  const onAlarm = (alarm: Alarm) => void tellAlarm(folder, alarm);
  void import('./runningTraining.ts').then(({ watchTraining }) => watchTraining(folder, { ...handle, end, onAlarm }));
}

async function tellAlarm(folder: string, { step, message, pauses }: Alarm): Promise<void> {
  const paused = pauses ? ' The run is paused.' : '';
  const said = `${basename(folder)}, optimizer step ${step}: ${message}.${paused}`;
  const chosen = await showWarningMessage(said, 'Open Dashboard');
  if (chosen) await vscode.commands.executeCommand('rehearsal.training.dashboard', folder);
}

/**
 * A training outlives the window that started it: what still runs is shown again. One on a target of the settings that
 * is no longer followed is followed again.
 */
export async function showLeftRunning(context: Context): Promise<void> {
  for (const { folder, running } of await trainingRuns()) {
    if (running) showTraining(folder);
    else if (vscode.workspace.isTrusted && (await isOnNamedTarget(folder))) await reconnect(context, folder);
  }
}

/** Follows a run again if the process that followed it is gone and left its `pid` file behind. */
async function reconnect(context: Context, folder: string): Promise<void> {
  if (!existsSync(join(folder, runFiles.pid))) return;
  const args = ['train', 'follow', folder, '--detach', '--json'];
  const { code } = await runQuietly(context, args);
  if (code === 0) showTraining(folder);
}
