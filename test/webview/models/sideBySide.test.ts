import { describe, expect, it, test } from 'vitest';
import type { AlignedRow, RecordingsCompared } from '../../../src/webview/messages/compared.ts';
import {
  comparisonRows,
  firstStart,
  headingOf,
  lastNote,
  namesOf,
  partingText,
  rowsPerPage,
  stoppedText,
  verdictPairs,
  windowOf,
} from '../../../src/webview/models/sideBySide.ts';
import { twoRecordings } from '../compared.ts';

const row = (n: number, isAlike: boolean): AlignedRow => {
  const said = { n, what: 'user' as const, text: String(n), isError: false };
  return { first: said, second: said, isAlike };
};
const rows = (alike: number, differing: number) => [
  ...Array.from({ length: alike }, (_, n) => row(n, true)),
  ...Array.from({ length: differing }, (_, n) => row(alike + n, false)),
];

describe('the rows that are shown', () => {
  it('begin a little before the two part', () => {
    expect(firstStart(rows(100, 5))).toBe(97);
    expect(firstStart(rows(1, 5))).toBe(0);
    expect(firstStart(rows(100, 0))).toBe(0);
    expect(firstStart([])).toBe(0);
  });

  it('are a page, whatever is asked for', () => {
    expect(windowOf(rows(100, 100), 97)).toMatchObject({
      start: 97,
      before: 97,
      after: 103 - rowsPerPage,
      parting: 100,
    });
    expect(windowOf(rows(2, 1), 50)).toMatchObject({ start: 2, before: 2, after: 0 });
    expect(windowOf([], 3)).toEqual({ rows: [], start: 0, before: 0, after: 0, parting: -1 });
  });
});

describe('where they part', () => {
  const text = (part: Partial<RecordingsCompared>) => partingText({ ...twoRecordings, ...part });

  it('is the first thing that was said or done otherwise', () => {
    expect(text({})).toBe('They diverge at step 7, where the agent acts differently.');
    const apart = { steps: [7, 9] as [number, number], what: 'agent' as const, texts: ['a', 'b'] as [string, string] };
    expect(partingText({ ...twoRecordings, divergence: apart }, ['A', 'C'])).toContain('step 7 of A and step 9 of C');
    const ended = { steps: [9, null] as [number, null], what: 'end' as const, texts: ['a', 'b'] as [string, string] };
    expect(text({ divergence: ended })).toContain('at step 9 of A and the end of B');
  });

  it('is the fork’s own point where they are related', () => {
    const edit = 'the agent’s message was edited';
    const fork = (edits: [string | null, string | null], origin: string, between: string[] = []) =>
      text({ fork: { event: 6, edits, origin, between: [[], between] }, divergence: null });
    const identical = ' The conversations and calls are identical.';
    expect([
      fork([null, edit], 'broke.1.traj.jsonl'),
      fork([edit, null], 'broke.1.traj.jsonl'),
      fork([edit, edit], 'first.traj.jsonl'),
      fork([null, edit], 'broke.1.traj.jsonl', ['broke.1.fork-1.traj.jsonl']),
    ]).toEqual([
      `B is a fork of A after step 6: ${edit}.${identical}`,
      `A is a fork of B after step 6: ${edit}.${identical}`,
      `A and B are forks of first, and all share the steps up to 6 (A: ${edit}; B: ${edit}).${identical}`,
      `B is a fork of broke.1.fork-1, which is a fork of A. They share the steps up to 6: ${edit}.${identical}`,
    ]);
  });

  it('is nowhere for a recording and itself', () => {
    const [first] = twoRecordings.recordings;
    expect(text({ recordings: [first, first] })).toBe('Both sides show the same recording.');
  });
});

test('one that was stopped says so at its name, below its last message and in the numbers', () => {
  const [whole, other] = twoRecordings.recordings;
  const measure = { ...other.measure, reward: null, reason: '', endReason: 'cancelled', failedBy: null };
  const stopped = { ...other, measure, stoppedCalls: ['cancel_order'] };
  const text = (...recordings: RecordingsCompared['recordings']) => stoppedText({ recordings }, ['A', 'B']);
  expect([text(whole, other), text(whole, stopped), text(stopped, stopped)]).toEqual([
    null,
    'B was stopped before it ended, so it has no reward.',
    'A was stopped before it ended, so it has no reward. B was stopped before it ended, so it has no reward.',
  ]);
  const running = { ...stopped, isRunning: true };
  expect(text(stopped, running)).toBe(
    'A was stopped before it ended, so it has no reward. B is still running, so it has no reward yet.',
  );
  expect(lastNote(running)).toBe('The rollout is still running.');
  const open = comparisonRows({ ...twoRecordings, recordings: [whole, running] });
  expect(Object.fromEntries(open.map(({ label, cells }) => [label, cells[1]]))).toMatchObject({
    'How it ended': 'it is still running',
    'Tool calls': 'get_order 2 (1 failed), cancel_order (not run yet)',
  });
  expect([lastNote(whole), lastNote(stopped)]).toEqual([null, 'The recording ends here, before the call ran.']);
  const facts = comparisonRows({ ...twoRecordings, recordings: [whole, stopped] });
  expect(Object.fromEntries(facts.map(({ label, cells }) => [label, cells[1]]))).toMatchObject({
    Why: 'the rollout has not ended',
    'How it ended': 'the rollout was stopped before it ended',
    'Tool calls': 'get_order 2 (1 failed), cancel_order (stopped before it ran)',
  });
});

test('the numbers of both', () => {
  const facts = Object.fromEntries(comparisonRows(twoRecordings).map(({ label, cells }) => [label, cells]));
  expect(facts).toMatchObject({
    Reward: ['1', '0'],
    Why: ['the database held', 'the orders differ'],
    'Who failed': ['none', 'agent'],
    'Tool calls': ['get_order 2 (1 failed)', 'get_order 2 (1 failed)'],
    'Waiting time': ['1.5 s', '1.5 s'],
    Tokens: ['1,234', '1,234'],
  });
});

test('verdicts are side by side, those that differ first', () => {
  expect(verdictPairs(twoRecordings).map(({ name, cells }) => [name, ...cells.map((cell) => cell?.verdict)])).toEqual([
    ['database', 'held', 'violated'],
    ['communicate', 'held', 'held'],
  ]);
  const [first, second] = twoRecordings.recordings;
  const more = { ...second, verdicts: [{ name: 'rule x', verdict: 'violated' as const, detail: 'd', step: 4 }] };
  expect(verdictPairs({ ...twoRecordings, recordings: [first, more] })[0]).toBeDefined();
  expect(
    verdictPairs({ ...twoRecordings, recordings: [first, more] }).find(({ name }) => name === 'rule x')?.cells,
  ).toEqual([null, { verdict: 'violated', detail: 'step 4: d' }]);
});

test.each([
  [
    ['/run/a.0.traj.jsonl', '/run/a.1.traj.jsonl'],
    ['a.0', 'a.1'],
  ],
  [
    ['/run/step-000001/a.0.traj.jsonl', '/run/step-000004/a.0.traj.jsonl'],
    ['step-000001/a.0', 'step-000004/a.0'],
  ],
  [
    ['/run/a.0.traj.jsonl', '/run/a.0.traj.jsonl'],
    ['a.0', 'a.0'],
  ],
] as const)('recordings of one name are distinguished by their folders: %j', (paths, names) => {
  expect(namesOf(paths)).toEqual(names);
});

test('the heading over two recordings names their tasks', () => {
  const [first, second] = twoRecordings.recordings;
  const of = (one: string, other: string) =>
    headingOf({
      ...twoRecordings,
      recordings: [
        { ...first, started: { ...first.started, task: one } },
        { ...second, started: { ...second.started, task: other } },
      ],
    });
  expect([of('lamp', 'lamp'), of('lamp', 'desk')]).toEqual(['Two recordings of lamp', 'Two recordings: lamp and desk']);
});
