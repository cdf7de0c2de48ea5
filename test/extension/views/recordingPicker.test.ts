import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { shortTime } from '../../../src/extension/runs/rows.ts';
import { pickRecording } from '../../../src/extension/views/recordingPicker.ts';
import { started } from '../../support/rolloutEvents.ts';
import { temporaryFolder } from '../../support/temporary.ts';

type Item = { readonly label: string; readonly description: string; readonly detail: string; readonly path: string };

const editor = vi.hoisted(() => ({ files: [] as string[], shown: [] as readonly Item[] }));

vi.mock('vscode', () => ({
  workspace: {
    findFiles: async () => editor.files.map((fsPath) => ({ fsPath })),
    asRelativePath: (path: string) => path.split('/').slice(-2).join('/'),
  },
  window: {
    showQuickPick: async (items: readonly Item[]) => {
      editor.shown = items;
      return items[0];
    },
  },
}));

/** Writes a recording; one without a reward was not finished, and one with a parent is its fork. */
function write(runs: string, run: string, name: string, reward?: number, parent?: string): string {
  const path = join(runs, run, `${name}.traj.jsonl`);
  mkdirSync(join(runs, run), { recursive: true });
  const end = { type: 'rewarded', basis: 'evaluate', reward, reason: 'database: it differs' };
  const origin = { recording: `${parent}.traj.jsonl`, event: 1, chain: '', edit: 'an edit' };
  const start = parent === undefined ? { type: 'rolloutStarted' } : { ...started('lamp'), parent: origin };
  const events = [start, ...(reward === undefined ? [] : [end])];
  writeFileSync(path, events.map((event, n) => `${JSON.stringify({ n, event })}\n`).join(''));
  return path;
}

test('recordings are listed as in the Runs view: name, reward and time, the newest run first', async () => {
  const runs = temporaryFolder('rehearsal-picker');
  editor.files = [
    write(runs, '20250101-100000-desk', 'lamp.0', 0),
    write(runs, '20250102-100000-desk', 'lamp.0.fork-1', 1),
    write(runs, '20250102-100000-desk', 'lamp.0'),
  ];
  expect(await pickRecording('Which?')).toBe(editor.files[2]);
  const time = expect.stringMatching(/ · \D*\d+.*$/);
  expect(editor.shown.map(({ label, description }) => [label, description])).toEqual([
    ['lamp.0', time],
    ['lamp.0.fork-1', time],
    ['lamp.0', time],
  ]);
  expect(editor.shown.map(({ description }) => description.split(' · ')[0])).toEqual([
    'unfinished',
    'reward 1',
    'reward 0',
  ]);
  await pickRecording('With which?', editor.files[2]);
  expect(editor.shown).toHaveLength(2);
});

test('the recordings to compare one with begin with its parent, its original, other forks and its task', async () => {
  const runs = temporaryFolder('rehearsal-picker');
  const [early, late] = ['20250101-100000-desk', '20250102-100000-desk'];
  const fork = write(runs, early, 'lamp.0.fork-3', 1, 'lamp.0.fork-2');
  const near = [
    write(runs, early, 'lamp.0.fork-2', 0, 'lamp.0'),
    write(runs, early, 'lamp.0', 0),
    write(runs, early, 'lamp.0.fork-1', 1, 'lamp.0'),
    write(runs, late, 'lamp.0', 1),
    write(runs, early, 'lamp.1', 1),
  ];
  editor.files = [write(runs, late, 'card.0', 1), fork, ...near.toReversed()];
  await pickRecording('With which?', fork);
  expect(editor.shown.map(({ path }) => path)).toEqual([...near, editor.files[0]]);
});

test('a fork has its own time, and not that of the run of its original', async () => {
  const runs = temporaryFolder('rehearsal-picker');
  const fork = write(runs, '20250101-100000-desk', 'lamp.0.fork-1', 1, 'lamp.0');
  editor.files = [fork];
  await pickRecording('Which?');
  expect(editor.shown.map(({ description }) => description)).toEqual([`reward 1 · ${shortTime(statSync(fork).mtime)}`]);
});
