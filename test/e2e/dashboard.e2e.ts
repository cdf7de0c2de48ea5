import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Tests the dashboard and its tree, with a run folder that this test writes as a trainer would. */
const domain = copyDomain('parcel-desk');
const training = join(domain.folder, '.rehearsal', 'training');
const run = join(training, '20260101-000000-grpo');
const task = 'reschedule-P46';
let workbench: Workbench;

beforeAll(async () => {
  mkdirSync(run, { recursive: true });
  const config = { kind: 'grpo', model: 'tiny', domain: domain.folder, steps: 3 };
  writeFileSync(join(run, 'config.json'), JSON.stringify(config));
  for (const step of [1, 2])
    append('metrics.jsonl', { step, time: step, reward: step / 4, loss: 0.1, kl: 0, turns: 5 });
  append('events.jsonl', { time: 1, type: 'started' });
  playTwice();
  // A live process, as the trainer is for a moment after its last message.
  writeFileSync(join(run, 'pid'), `${process.pid}\n`);
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('the tree and the dashboard show the same state of a run', async () => {
  await workbench.showViews();
  await treeRow().click();
  const status = (type: string) => workbench.webviewFrame().locator(`.status.${type}`).waitFor();
  await status('running');
  expect(await treeRow().textContent()).toContain('grpo, running');
  for (let time = 2; time < 6; time += 1) {
    append('events.jsonl', { time, type: 'finished' });
    await status('finished');
    await until('the tree', async () => expect(await treeRow().textContent()).not.toContain('running'));
    if (time === 2) await workbench.screenshot('dashboard-and-tree');
    append('events.jsonl', { time, type: 'resumed' });
    await status('running');
    await until('the tree', async () => expect(await treeRow().textContent()).toContain('running'));
  }
});

test('an alarm leads to the rollouts of its step, and one of them to the same task at another step', async () => {
  const advice = 'The model makes the same call again and again. Check the loss mask and whether the reward is clear.';
  append('events.jsonl', {
    ...{ time: 7, type: 'alarm', alarm: 'tool-loop', step: 2, message: '50% of the rollouts make one call' },
    ...{ evidence: { looping: 0.5, limit: 0.1 }, recordings: [recordingOf(2)], advice, pauses: true },
  });
  append('events.jsonl', { time: 8, type: 'paused', step: 2, alarm: 'tool-loop', message: '50% of the rollouts' });
  const frame = workbench.webviewFrame();
  await frame.locator('.status.paused').waitFor();
  await frame.getByRole('region', { name: '1 alarm' }).getByText(advice).waitFor();
  await frame.getByRole('button', { name: 'Rollouts of Optimizer Step 2: Tool loop' }).click();
  const rows = frame.locator('[aria-label="Rollouts of optimizer step 2"] vscode-data-grid-row.opens');
  await until('the rollouts of step 2', async () => expect(await rows.count()).toBe(1));
  await workbench.screenshot('dashboard-alarm-real');

  await rows.getByRole('button', { name: /^Compare/ }).click();
  expect(await workbench.picks()).toEqual([expect.stringContaining('optimizer step 1')]);
  await workbench.pick('optimizer step 1');
  const compared = workbench.webviewFrame();
  await compared.getByText('Databases at the end').waitFor();
  await workbench.screenshot('dashboard-compared');
  await workbench.runCommand('View: Close Editor');

  await treeRow().click();
  const again = workbench.webviewFrame();
  await again.getByRole('button', { name: 'Rollouts of Optimizer Step 2: Tool loop' }).waitFor();
  await again.getByRole('button', { name: 'Open the recording' }).click();
  await workbench.webviewFrame().getByRole('button', { name: 'Debug This Recording' }).waitFor();
  await workbench.runCommand('View: Close Editor');
});

test('what was measured is saved as CSV where a person says', async () => {
  await treeRow().click();
  const file = join(domain.folder, 'measured.csv');
  await workbench.webviewFrame().getByRole('button', { name: 'Save as CSV' }).click();
  await workbench.answerPath(file);
  await until('the file', async () => expect(existsSync(file)).toBe(true));
  const [names, ...lines] = readFileSync(file, 'utf8').trim().split('\r\n');
  expect(names).toBe('run,step,time,superseded,kl,loss,reward,turns');
  expect(lines.map((line) => line.split(',').at(-2))).toEqual(['0.25', '0.5']);
});

test('a point of the test split leads to its evaluation, also where a resumed run has yet to do it again', async () => {
  const folder = 'trajectories/evaluate-000002/parcel-desk';
  mkdirSync(join(run, folder), { recursive: true });
  append(`${folder}/rollouts.jsonl`, { task: 'evaluated-task', member: 0, reward: 1, turns: 5, recording: null });
  append('metrics.jsonl', { step: 2, time: 2, attempt: 1, reward: 0.5, loss: 0.1, 'evaluate/reward': 1 });
  await treeRow().click();
  const frame = workbench.webviewFrame();
  const plot = frame.locator('section[aria-label="Test split"] .u-over');
  await plot.click({ position: { x: 5, y: 5 } });
  const rollouts = (title: string) => frame.getByRole('region', { name: title, exact: true });
  await rollouts('Evaluation after optimizer step 2').getByText('evaluated-task').waitFor();

  append('events.jsonl', { time: 9, type: 'resumed', step: 1, attempt: 2 });
  await rollouts('Evaluation after optimizer step 2, superseded').waitFor();
  await frame.getByText('Optimizer step 1 of 3').waitFor();
  await frame.getByText('2, superseded', { exact: true }).waitFor();
  await workbench.screenshot('dashboard-superseded');
});

/** The one of the view of training runs: the view of runs has one of this name, too. */
function treeRow() {
  const { page } = workbench;
  const view = page.locator('.pane', { has: page.locator('.pane-header[aria-label="Training Section"]') });
  return view.locator('.monaco-list-row', { hasText: basename(run) });
}

/** The recording of an optimizer step, relative to the run's folder. */
function recordingOf(step: number): string {
  return `trajectories/step-00000${step}/${task}.0.traj.jsonl`;
}

/** One rollout of one task at each of the two optimizer steps, played by the gold seat. */
function playTwice(): void {
  const played = join(training, '..', 'played');
  const options = ['--agent', 'gold', '--tasks', task, '--trials', '2', '--seed', 's', '--out', played];
  execFileSync(process.execPath, [inRoot('dist', 'rehearsal.mjs'), 'eval', domain.folder, ...options]);
  const recordings = readdirSync(played).filter((name) => name.endsWith('.traj.jsonl'));
  for (const [index, name] of recordings.entries()) {
    const file = join(run, recordingOf(index + 1));
    mkdirSync(dirname(file), { recursive: true });
    cpSync(join(played, name), file);
    const line = { task, member: 0, reward: 1, turns: 5, end_reason: 'userStopped', failure: null };
    append(join(dirname(recordingOf(index + 1)), 'rollouts.jsonl'), { ...line, recording: basename(file) });
  }
}

function append(file: string, line: object): void {
  appendFileSync(join(run, file), `${JSON.stringify(line)}\n`);
}
