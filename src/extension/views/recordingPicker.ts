import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { isForkName, nameOf, originName } from '../../engine/shell/records/recordingName.ts';
import { showInformationMessage } from '../workspace/messages.ts';

type RecordingItem = vscode.QuickPickItem & { readonly path: string };

/**
 * Asks which recording of the workspace is meant. Rows read as in the Runs view, newest run first.
 * @param other is left out; those that it is most likely compared with are first
 */
export async function pickRecording(placeHolder: string, other?: string): Promise<string | undefined> {
  const files = (await vscode.workspace.findFiles('**/*.traj.jsonl', undefined, 1000))
    .map(({ fsPath }) => fsPath)
    .filter((path) => path !== other);
  if (files.length === 0) {
    const what = other === undefined ? 'No recordings yet' : 'There is no other recording yet';
    void showInformationMessage(`${what}: run a task first.`);
    return undefined;
  }
  const options = { placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(await itemsOf(files, other), options))?.path;
}

/** Loads the readers of runs at the first call, so that activation does not wait for them. */
async function itemsOf(files: readonly string[], other: string | undefined): Promise<readonly RecordingItem[]> {
  const [{ readParent, readRolloutEnd, timeOfRun }, { rolloutRow, shortTime }] = await Promise.all([
    import('../runs/runFolder.ts'),
    import('../runs/rows.ts'),
  ]);
  const parent = other === undefined ? null : await readParent(other);
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
      const shown = type === 'fork' ? (await stat(recording)).mtime : time;
      const facts = [description, shown ? shortTime(shown) : ''].filter(Boolean).join(' · ');
      const item = {
        label: name,
        description: facts,
        detail: vscode.workspace.asRelativePath(recording),
        path: recording,
      };
      return { item, rank: rankOf(recording, other, parent), time: time?.getTime() ?? 0 };
    }),
  );
  return items
    .sort((a, b) => a.rank - b.rank || b.time - a.time || byName.compare(nameOf(a.item.path), nameOf(b.item.path)))
    .map(({ item }) => item);
}

const byName = new Intl.Collator('en', { numeric: true });

/** Ranks the parent of a fork first, then its original, then other forks of that, then recordings of the same task. */
function rankOf(recording: string, other: string | undefined, parent: string | null): number {
  if (other === undefined) return 0;
  const isRelated = dirname(recording) === dirname(other) && originName(recording) === originName(other);
  if (isRelated) return basename(recording) === parent ? 0 : isForkName(recording) ? 2 : 1;
  return taskOf(recording) === taskOf(other) ? 3 : 4;
}

const taskOf = (recording: string) => originName(recording).replace(/\.\d+$/, '');
