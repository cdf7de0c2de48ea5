import { appendFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { openLedger, receiptsOfRun, signingKey } from '../../../src/engine/shell/records/ledger.ts';
import { pageOf, rolloutRow, runRow, taskRow } from '../../../src/extension/runs/rows.ts';
import {
  readParent,
  readRolloutEnd,
  readRunRollouts,
  readRunSummary,
  readRunTasks,
  runFoldersIn,
} from '../../../src/extension/runs/runFolder.ts';
import { fileOf, rechained } from '../../support/recordLines.ts';
import { started } from '../../support/rolloutEvents.ts';
import { withEmptyScripts } from '../../support/sampleDomains.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const root = join(temporaryFolder('rehearsal-runs'), 'runs');
const gold = join(root, '20260102-030405-order-desk');
const scripted = join(root, '20260101-000000-order-desk');

beforeAll(async () => {
  const options = ['--tasks', 'lamp-variant,wrong-card', '--trials', '2'];
  const domain = withEmptyScripts('wrong-card');
  await rehearsal('eval', domain, ...options, '--agent', 'gold', '--out', gold);
  await rehearsal('eval', domain, ...options, '--agent', 'scripted', '--out', scripted);
});

/** Copies the run, so that a test may change it. */
function copied(name: string): string {
  const folder = join(temporaryFolder('rehearsal-run'), name);
  cpSync(scripted, folder, { recursive: true });
  return folder;
}

const deskOf = async () => loadDomain('domains/order-desk');
const utc = (time: Date) => time.toISOString();

test('runs are sorted newest first, by their names, and a missing root has none', async () => {
  expect(await runFoldersIn([root, join(root, 'none')])).toEqual([gold, scripted]);
  const odd = temporaryFolder('rehearsal-odd');
  for (const name of ['20269999-999999-x', 'baseline']) mkdirSync(join(odd, name));
  expect((await runFoldersIn([odd])).length).toBe(2);
});

test('the row of a run says mean reward, agent, pass^k and time, without reading a recording', async () => {
  const moved = copied('20260101-000000-order-desk');
  for (const name of ['lamp-variant.0', 'lamp-variant.1']) rmSync(join(moved, `${name}.traj.jsonl`));
  expect(runRow(await readRunSummary(moved), utc)).toMatchObject({
    label: 'order-desk',
    description: 'reward 0 · scripted · pass^2 0.00 · 2026-01-01T00:00:00.000Z',
  });
  expect(runRow(await readRunSummary(gold), utc).description).toMatch(/^reward 1 · gold · pass\^2 1\.00 · 20/);
});

test.each([
  ['{', 'run.json:1: is not JSON'],
  ['{}', 'is not a description of a run'],
  [null, 'run.json is missing'],
])('a run with the description %j says what is wrong with it', async (text, problem) => {
  const run = copied('run');
  if (text === null) rmSync(join(run, 'run.json'));
  else writeFileSync(join(run, 'run.json'), text);
  const row = runRow(await readRunSummary(run), utc);
  expect(row).toMatchObject({ label: 'run', description: 'can’t be read', icon: 'warning' });
  expect(row.tooltip).toContain(problem);
});

test('a ledger with a torn line counts the rest', async () => {
  const run = copied('run');
  appendFileSync(join(run, 'ledger.jsonl'), '{"receipt":');
  expect(await readRunSummary(run)).toMatchObject({ finished: 4, problem: null });
});

test('tasks and rollouts of a run, with what is unfinished and forks beside them', async () => {
  const run = copied('run');
  const file = (name: string) => join(run, `${name}.traj.jsonl`);
  cpSync(file('wrong-card.0'), file('wrong-card.0.fork-1'));
  cpSync(file('wrong-card.0'), file('wrong-card.10'));
  renameSync(file('lamp-variant.1'), file('another-task.0'));
  const tasks = await readRunTasks(await readRunSummary(run));
  expect(tasks.map((task) => [task.task, taskRow(task).description, taskRow(task).icon])).toEqual([
    ['lamp-variant', '0 of 2 right', 'error'],
    ['wrong-card', '0 of 2 right · 1 unfinished · 1 fork', 'error'],
    ['another-task', '1 unfinished', 'circle-outline'],
  ]);
  const rollouts = await readRunRollouts(run, 'wrong-card');
  expect(rollouts.map(({ recording, type }) => [basename(recording, '.traj.jsonl'), type])).toEqual([
    ['wrong-card.0', 'finished'],
    ['wrong-card.0.fork-1', 'fork'],
    ['wrong-card.1', 'finished'],
    ['wrong-card.10', 'unfinished'],
  ]);
});

test('a run that was cancelled says how much of it is finished', async () => {
  const run = copied('20260101-000000-order-desk');
  const ledger = join(run, 'ledger.jsonl');
  const lines = readFileSync(ledger, 'utf8').split('\n');
  const description = async (kept: number) => {
    writeFileSync(ledger, `${lines.slice(0, 1 + kept).join('\n')}\n`);
    return runRow(await readRunSummary(run), utc).description;
  };
  expect(await description(3)).toBe(
    'reward 0 · 3 of 4 finished · scripted · pass^2 0.00 (1 of 2 tasks) · 2026-01-01T00:00:00.000Z',
  );
  expect(await description(1)).toBe('reward 0 · 1 of 4 finished · scripted · 2026-01-01T00:00:00.000Z');
  expect(await description(0)).toBe('unfinished · scripted · 2026-01-01T00:00:00.000Z');
});

test('the row of a run shows the folder of its domain where another domain has the same name', async () => {
  const { description } = runRow(await readRunSummary(scripted), utc, 'first/order-desk');
  expect(description).toMatch(/^reward 0 · first\/order-desk · scripted/);
});

test('a rollout without a reward is counted, and pass^k names the tasks that it is over', async () => {
  const summary = await readRunSummary(scripted);
  const lost = { ...summary, scored: 3, passHat: { k: 2, value: 0, tasks: 1 } };
  expect(runRow(lost, utc).description).toBe(
    'reward 0 · 1 not scored · scripted · pass^2 0.00 (1 of 2 tasks) · 2026-01-01T00:00:00.000Z',
  );
});

test('the best fork of a run and of a task shows on their rows', async () => {
  const run = copied('20260101-000000-lamp-variant');
  const ledger = join(run, 'ledger.jsonl');
  const [receipt] = (await receiptsOfRun(run)).trials.filter(({ rollout }) => rollout === 'lamp-variant.0');
  if (!receipt) throw new Error('no receipt');
  // The ledger has only forks, as after leaving a rollout for its fork.
  const started = readFileSync(ledger, 'utf8').split('\n').slice(0, 1);
  writeFileSync(ledger, `${started}\n`);
  for (const [fork, reward] of [0, 1].entries()) {
    const rollout = `lamp-variant.0.fork-${fork + 1}`;
    cpSync(join(run, 'lamp-variant.0.traj.jsonl'), join(run, `${rollout}.traj.jsonl`));
    openLedger(ledger, signingKey(), undefined).receive({
      ...receipt,
      rollout,
      recording: `${rollout}.traj.jsonl`,
      reward,
    });
  }
  const summary = await readRunSummary(run);
  expect(runRow(summary, utc).description).toBe('best fork: reward 1 · scripted · 2026-01-01T00:00:00.000Z');
  const rowsOfTasks = (await readRunTasks(summary)).map((task) => [task.task, taskRow(task).description]);
  expect(rowsOfTasks[0]).toEqual(['lamp-variant', 'best fork: reward 1 · 2 unfinished · 2 forks']);
});

test('the row of a rollout says its reward, who failed and why', async () => {
  const rowOf = async (run: string, task: string) => {
    const [first] = await readRunRollouts(run, task);
    if (!first) throw new Error('no rollout');
    return rolloutRow(first, basename(first.recording, '.traj.jsonl'), await readRolloutEnd(first.recording, deskOf));
  };
  expect(await rowOf(gold, 'lamp-variant')).toMatchObject({
    label: 'lamp-variant.0',
    description: 'reward 1',
    icon: 'pass',
  });
  expect((await rowOf(scripted, 'lamp-variant')).description).toMatch(/^reward 0 · agent failed · rule confirm-before/);
});

test('the row of a rollout quotes the sentence of the policy in place of the expression of a check', async () => {
  const recording = join(temporaryFolder('rehearsal-words'), 'a.0.traj.jsonl');
  const expression = 'not db.orders[args.order_id].items_changed';
  const why = `change_item was called although this does not hold: ${expression}`;
  const reason = `rule change-once violated at step 16: ${why}`;
  const line = {
    n: 0,
    event: { type: 'rewarded', basis: 'evaluate', reward: 0, reason, failedBy: 'agent' },
    state: '0',
  };
  writeFileSync(recording, fileOf(rechained([JSON.stringify(line)])));
  const end = await readRolloutEnd(recording, deskOf);
  expect(end?.reason).toMatch(
    /^rule change-once violated at step 16: change_item was called, which the policy does not allow here: "The items/,
  );
  expect((await readRolloutEnd(recording, async () => undefined))?.reason).toBe(reason);
});

test.each([
  ['handedOff', null],
  ['userStopped', { reward: null, failedBy: null, reason: 'handedOff' }],
])('a rollout without a reward shows in words how it ended: %s', (endReason, end) => {
  const row = rolloutRow({ recording: '', type: 'finished', reward: null, endReason }, 'a.0', end);
  expect(row.description).toBe('no reward · the agent handed the conversation over');
});

test('the end of a recording that is torn, empty or gone is not known', async () => {
  const folder = temporaryFolder('rehearsal-end');
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'a.traj.jsonl'), '{"n":0');
  for (const name of ['a.traj.jsonl', 'none.traj.jsonl', 'sub'])
    expect(await readRolloutEnd(join(folder, name), deskOf)).toBeNull();
  const left = { recording: '', reward: null, endReason: null };
  expect(rolloutRow({ ...left, type: 'unfinished' }, 'a.0', null)).toMatchObject({
    label: 'a.0',
    description: 'unfinished',
  });
  expect(rolloutRow({ ...left, type: 'fork' }, 'a.0.fork-1', null)).toMatchObject({
    label: 'fork 1',
    description: 'unfinished',
    icon: 'repo-forked',
  });
});

test.each([
  ['a.0.traj.jsonl', 'reward 1'],
  ['a.0.fork-1.traj.jsonl', 'reward 1 · of fork 1'],
])('the row of a fork of %s is "%s"', async (parent, description) => {
  const recording = join(temporaryFolder('rehearsal-fork-row'), 'a.0.fork-2.traj.jsonl');
  const start = { ...started('a'), parent: { recording: parent, event: 1, chain: '', edit: 'an edit' } };
  writeFileSync(recording, `${JSON.stringify({ n: 0, event: start })}\n`);
  const of = { recording, type: 'fork', reward: 1, endReason: 'userStopped' } as const;
  expect(rolloutRow(of, 'a.0.fork-2', null, await readParent(recording))).toMatchObject({
    label: 'fork 2',
    description,
  });
});

test('thousands of rows come a page at a time', () => {
  const all = Array.from({ length: 250 }, (_, at) => at);
  expect(pageOf(all, 100)).toEqual({ rows: all.slice(0, 100), left: 150 });
  expect(pageOf(all, 300)).toEqual({ rows: all, left: 0 });
});

test.each([
  ['human', "reward 0 · the person in the user's seat ended the conversation, and the work was not done"],
  ['agenda', 'reward 0 · agent failed · database: it differs'],
])('the row of a rollout whose user is %s shows what kept the reward from 1', async (user, description) => {
  const recording = join(temporaryFolder('rehearsal-left'), 'a.0.traj.jsonl');
  const whole = readFileSync(join(scripted, 'lamp-variant.0.traj.jsonl'), 'utf8').split('\n')[0] ?? '';
  const started = (JSON.parse(whole) as { readonly event: { readonly seats: object } }).event;
  const events = [
    { ...started, seats: { ...started.seats, user } },
    { type: 'rolloutEnded', reason: 'userStopped' },
    { type: 'rewarded', basis: 'evaluate', reward: 0, reason: 'database: it differs', failedBy: 'agent' },
  ];
  writeFileSync(recording, events.map((event, n) => `${JSON.stringify({ n, event })}\n`).join(''));
  const end = await readRolloutEnd(recording, deskOf);
  const of = { recording, type: 'finished', reward: null, endReason: null } as const;
  expect(rolloutRow(of, 'a.0', end).description).toBe(description);
});
