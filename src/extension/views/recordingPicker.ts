import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { isForkName, nameOf, originName } from '../../engine/shell/records/recordingName.ts';
import { showInformationMessage } from '../workspace/messages.ts';

type RecordingItem = vscode.QuickPickItem & { readonly path: string };

/** Asks which recording of the workspace is meant, other than one. Rows read as in the Runs view, newest run first. */
export async function pickRecording(placeHolder: string, except?: string): Promise<string | undefined> {
  const files = (await vscode.workspace.findFiles('**/*.traj.jsonl', undefined, 1000))
    .map(({ fsPath }) => fsPath)
    .filter((path) => path !== except);
  if (files.length === 0) {
    const what = except === undefined ? 'No recordings yet' : 'There is no other recording yet';
    void showInformationMessage(`${what}: run a task first.`);
    return undefined;
  }
  const options = { placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(await itemsOf(files), options))?.path;
}

/** Loads the readers of runs at the first call, so that activation does not wait for them. */
async function itemsOf(files: readonly string[]): Promise<readonly RecordingItem[]> {
  const [{ readRolloutEnd, timeOfRun }, { rolloutRow, shortTime }] = await Promise.all([
    import('../runs/runFolder.ts'),
    import('../runs/rows.ts'),
  ]);
  const times = new Map<string, Promise<Date | null>>();
  const items = await Promise.all(
    files.map(async (recording) => {
      const run = dirname(recording);
      const reading = times.get(run) ?? timeOfRun(run);
      times.set(run, reading);
      const [time, end] = await Promise.all([reading, readRolloutEnd(recording, async () => undefined)]);
      const name = nameOf(recording);
      const type = isForkName(recording) ? ('fork' as const) : end ? ('finished' as const) : ('unfinished' as const);
      const { description } = rolloutRow({ recording, type, reward: null, endReason: null }, name, end);
      const label = labelOf(recording);
      const facts = [description, time ? shortTime(time) : ''].filter(Boolean).join(' · ');
      const item = { label, description: facts, detail: vscode.workspace.asRelativePath(recording), path: recording };
      return { item, time: time?.getTime() ?? 0 };
    }),
  );
  return items
    .sort((one, other) => other.time - one.time || byName.compare(nameOf(one.item.path), nameOf(other.item.path)))
    .map(({ item }) => item);
}

const byName = new Intl.Collator('en', { numeric: true });

/** `lamp-variant, trial 0, fork 1`. */
function labelOf(recording: string): string {
  const [, task = basename(recording), trial] = /^(.*)\.(\d+)$/.exec(originName(recording)) ?? [];
  const fork = /\.fork-(\d+)$/.exec(nameOf(recording))?.[1];
  return [task, trial && `trial ${trial}`, fork && `fork ${fork}`].filter(Boolean).join(', ');
}
