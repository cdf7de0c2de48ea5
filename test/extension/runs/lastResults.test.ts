import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { RuleVerdict } from '../../../src/engine/core/domain/rule.ts';
import { openLedger } from '../../../src/engine/shell/records/ledger.ts';
import { openRecording } from '../../../src/engine/shell/records/recording.ts';
import { ruleText } from '../../../src/extension/language/lastResult.ts';
import { LastResults } from '../../../src/extension/runs/lastResults.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { finishedRun, key, receipt, type Trial } from './finishedRun.ts';

vi.mock('vscode', () => ({ EventEmitter: class {} }));

const root = () => temporaryFolder('rehearsal-results');
const domain = '/desk';

const run = (runs: string, name: string, minute: number, trials: readonly Trial[], of = domain, agent = 'gold') =>
  finishedRun(runs, name, minute, trials, of, agent);

const verdict = (rule: string, word: RuleVerdict['verdict']): RuleVerdict => ({
  rule,
  check: 'before',
  gate: true,
  verdict: word,
  reason: 'as it was',
  evidence: [],
});

function record(folder: string, name: string, ...steps: readonly (readonly RuleVerdict[])[]): string {
  const path = join(folder, `${name}.traj.jsonl`);
  const recording = openRecording(path);
  for (const [n, verdicts] of steps.entries())
    recording.append({ n, event: { type: 'rulesChecked', callId: null, verdicts }, state: 's' } as never);
  return path;
}

test('a task has the result of the newest run that finished one of its trials', async () => {
  const runs = root();
  run(runs, 'a', 1, [
    { task: 'lamp', reward: 1 },
    { task: 'chair', reward: 1 },
  ]);
  const newer = run(runs, 'b', 2, [
    { task: 'lamp', reward: 1 },
    { task: 'lamp', trial: 2, reward: 0 },
    { task: 'lamp', trial: 1, reward: 0.5 },
    { task: 'lamp', trial: 3, reward: null },
    { task: 'lamp', trial: 0, reward: 0, fork: true },
  ]);
  run(runs, 'other', 3, [{ task: 'lamp', reward: 0 }], '/elsewhere');
  mkdirSync(join(runs, 'no-run'));
  writeFileSync(join(runs, 'no-run', 'ledger.jsonl'), 'nothing\n');
  const found = await new LastResults().ofTasks(domain, [runs, join(runs, 'not-there')]);
  expect(Object.fromEntries(found)).toMatchObject({
    lamp: {
      run: newer,
      passed: 1,
      scored: 3,
      recording: join(newer, 'lamp.1.traj.jsonl'),
      time: Date.UTC(2026, 0, 1, 0, 2),
    },
    chair: { passed: 1, scored: 1, recording: join(runs, 'a', 'chair.0.traj.jsonl') },
  });
  expect(found.size).toBe(2);
});

test('a task whose trials all broke has no reward, and shows the first', async () => {
  const runs = root();
  const folder = run(runs, 'a', 1, [{ task: 'lamp', reward: null }]);
  expect((await new LastResults().ofTasks(domain, [runs])).get('lamp')).toMatchObject({
    passed: 0,
    scored: 0,
    recording: join(folder, 'lamp.0.traj.jsonl'),
  });
});

test('a ledger that grew is read again, any other is not', async () => {
  const runs = root();
  const folder = run(runs, 'a', 1, [{ task: 'lamp', reward: 1 }]);
  const results = new LastResults();
  const before = (await results.ofTasks(domain, [runs])).get('lamp');
  expect((await results.ofTasks(domain, [runs])).get('lamp')).toBe(before);
  openLedger(join(folder, 'ledger.jsonl'), key).receive(receipt('lamp', 1, 0));
  expect((await results.ofTasks(domain, [runs])).get('lamp')).toMatchObject({ passed: 1, scored: 2 });
});

test('a rule has the verdicts of the newest run, and the first recording that violates it', async () => {
  const runs = root();
  const old = run(runs, 'a', 1, [{ task: 'lamp', reward: 1 }]);
  record(old, 'lamp.0', [verdict('ask', 'violated')]);
  const newer = run(runs, 'b', 2, [
    { task: 'lamp', reward: 1 },
    { task: 'chair', reward: 0 },
    { task: 'stool', reward: 0 },
  ]);
  record(newer, 'lamp.0', [verdict('ask', 'held'), verdict('cap', 'unknown')], [verdict('ask', 'held')]);
  const broken = record(newer, 'chair.0', [verdict('ask', 'held')], [verdict('ask', 'violated')]);
  record(newer, 'stool.0', [verdict('ask', 'violated')]);
  record(newer, 'lamp.0.fork-1', [verdict('ask', 'violated')]);
  const found = await new LastResults().ofRules(domain, [runs]);
  expect(Object.fromEntries(found)).toMatchObject({
    ask: { run: newer, held: 3, violated: 2, unknown: 0, sample: null, recording: broken },
    cap: { held: 0, violated: 0, unknown: 1, recording: join(newer, 'lamp.0.traj.jsonl') },
  });
});

test('a recording that is lost or broken counts for nothing', async () => {
  const runs = root();
  const folder = run(runs, 'a', 1, [
    { task: 'lamp', reward: 1 },
    { task: 'chair', reward: 1 },
  ]);
  writeFileSync(
    join(folder, 'lamp.0.traj.jsonl'),
    '{"n":0,"event":{"type":"rulesChecked","verdicts":7}}\n{"n":1,"event":{"type":"rulesChecked"',
  );
  expect((await new LastResults().ofRules(domain, [runs])).size).toBe(0);
});

test('a run of 2,000 tasks, eight trials each, never keeps the editor waiting', async () => {
  const runs = root();
  const folder = run(runs, 'a', 1, [{ task: 'lamp', reward: 1 }]);
  const line = JSON.stringify({ receipt: receipt('TASK', 0, 1), before: '', signature: '' });
  const lines = Array.from({ length: 16_000 }, (_, index) =>
    line
      .replaceAll('TASK.0', `task-${index >> 3}.${index & 7}`)
      .replace('"TASK"', `"task-${index >> 3}"`)
      .replace('"trial":0', `"trial":${index & 7}`),
  );
  writeFileSync(join(folder, 'ledger.jsonl'), `${lines.join('\n')}\n`);
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  });
  const found = await new LastResults().ofTasks(domain, [runs]);
  clearInterval(others);
  expect([found.size, found.get('task-1999')?.scored]).toEqual([2000, 8]);
  expect(turns, 'others had their turn meanwhile').toBeGreaterThan(2);
});

test('conversations that were imported are results of no task', async () => {
  const runs = root();
  const played = run(runs, 'played', 1, [{ task: 'one', reward: 1 }]);
  run(
    runs,
    'chats',
    2,
    [
      { task: 'one', reward: null },
      { task: 'two', reward: null },
    ],
    domain,
    'recorded',
  );
  const found = await new LastResults().ofTasks(domain, [runs]);
  expect([...found].map(([task, result]) => [task, result.run])).toEqual([['one', played]]);
});

test.each([
  [{ held: 3, violated: 1, unknown: 0 }, '$(error) Last run: violated once, held 3 times'],
  [{ held: 3, violated: 0, unknown: 1 }, '$(pass) Last run: held 3 times, no verdict once'],
  [{ held: 0, violated: 0, unknown: 2 }, '$(question) Last run: no verdict 2 times'],
])('a rule that was never decided is not shown as held: %j', (counts, text) => {
  expect(ruleText({ ...counts, sample: null, run: 'a', time: 0, recording: 'r' })).toBe(text);
});
