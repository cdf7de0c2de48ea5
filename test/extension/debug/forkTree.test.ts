import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { allNodes, editText, type ForkNode, forkTreeOf, resultText } from '../../../src/extension/debug/forkTree.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const seats = { agent: 'gold', user: 'agenda' };
const started = (parent?: string, event = 7) => ({
  type: 'rolloutStarted',
  seats,
  ...(parent ? { parent: { recording: `${parent}.traj.jsonl`, event, chain: '', edit: `edit of ${parent}` } } : {}),
});

/** Creates a folder with recordings, each of a first event and others. */
function folder(recordings: Readonly<Record<string, readonly object[] | string>>): string {
  const path = temporaryFolder('rehearsal-forks');
  for (const [name, events] of Object.entries(recordings)) {
    const text =
      typeof events === 'string' ? events : events.map((event, n) => `${JSON.stringify({ n, event })}\n`).join('');
    writeFileSync(join(path, `${name}.traj.jsonl`), text);
  }
  return path;
}

const shape = (nodes: readonly ForkNode[]): unknown =>
  nodes.map((node) => [
    `${node.label}: ${resultText(node)}`,
    ...(node.children.length > 0 ? [shape(node.children)] : []),
  ]);
const treeIn = async (path: string, name = 'a.0') => forkTreeOf(join(path, `${name}.traj.jsonl`));

it('forks are below their parents, in the order in which they were made, and other rollouts are left out', async () => {
  const path = folder({
    'a.0': [started(), { type: 'rewarded', reward: 0 }],
    'a.0.fork-10': [started('a.0'), { type: 'rewarded', reward: null }],
    'a.0.fork-2': [started('a.0'), { type: 'userReplied' }],
    'a.0.fork-3': [started('a.0.fork-2'), { type: 'rewarded', reward: 1 }],
    'b.0': [started()],
    'a.01': [started()],
  });
  const expected = [['a.0: reward 0', [['fork 2: unfinished', [['fork 3: reward 1']]], ['fork 10: no reward']]]];
  expect(shape(await treeIn(path))).toEqual(expected);
  expect(shape(await treeIn(path, 'a.0.fork-3')), 'from any of them').toEqual(expected);
  const [, fork] = allNodes(await treeIn(path));
  expect(fork).toMatchObject({ seats, parent: { name: 'a.0.traj.jsonl', event: 7, edit: 'edit of a.0' } });
});

it('a fork whose parent is gone, an incomplete line and a file that is not a recording do no harm', async () => {
  const long = { type: 'rewarded', reward: 1, card: 'x'.repeat(300_000) };
  const path = folder({
    'a.0.fork-1': [started('a.0'), long],
    'a.0.fork-2': `${JSON.stringify({ event: started('a.0.fork-1') })}\n{"n":1,"event":{"type":"rewar`,
    'a.0.fork-3': 'no recording',
    'a.0.fork-4': '',
  });
  expect(shape(await treeIn(path))).toEqual([['fork 1: reward 1', [['fork 2: unfinished']]]]);
});

it('a first line that is longer than a piece is read whole, and a folder that is gone holds nothing', async () => {
  const path = folder({
    'a.0': [
      { ...started(), system: 'y'.repeat(200_000) },
      { type: 'rewarded', reward: 0.5 },
    ],
  });
  expect(shape(await treeIn(path))).toEqual([['a.0: reward 0.5']]);
  expect(await treeIn(join(path, basename(path)))).toEqual([]);
});

it.each([
  ["the agent's message 8 (step 15) was edited", "the agent's message 8 (step 15) was edited"],
  ['nothing was edited, it continues from step 14', 'nothing was edited, it continues from step 14'],
  ['orders.W1.status was edited', 'after step 14: orders.W1.status was edited'],
])('a fork has one number of a step: %s', (edit, expected) => {
  expect(editText({ parent: { name: 'a.0', event: 14, edit } })).toBe(expected);
});
