import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameLocator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linesOf } from '../support/jsonLines.ts';
import { clickPoint, stepsInTable } from './support/dashboard.ts';
import { pictured } from './support/picture.ts';
import { newestRun } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const domain = copyDomain('parcel-desk');
const training = join(domain.folder, '.rehearsal', 'training');
const minutes = 60_000;
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('without a run the dashboard and the view say how to begin', async () => {
  await workbench.runCommand('Rehearsal: Open Training Dashboard');
  await workbench.webviewFrame().getByText('No training run yet').waitFor();
  await workbench.showViews();
  await workbench.waitForText('.pane-body', 'No training runs yet');
  await workbench.screenshot('dashboard-empty');
});

test('GRPO from the palette: every optimizer step is a point on the canvas and a row of the table', {
  timeout: 8 * minutes,
}, async () => {
  await train('GRPO', 'tiny', 50);
  const frame = workbench.webviewFrame();
  await until('two optimizer steps', async () => expect(await stepsInTable(frame)).toContain('2'), 7 * minutes);
  for (const metric of ['Reward', 'Turns']) {
    const drawn = await drawnAt(frame, metric, [1, 2]);
    expect(drawn, `${metric}: pixels of its own colour around the points of steps 1 and 2`).toEqual([true, true]);
  }
  await workbench.screenshot('dashboard-grpo');
});

test('Stop Training ends the run after its step and keeps a checkpoint', { timeout: 8 * minutes }, async () => {
  const frame = workbench.webviewFrame();
  await workbench.runCommand('Rehearsal: Stop Training');
  await frame.locator('.status.stopped').waitFor({ timeout: 3 * minutes });
  const run = newestRun(training);
  await until('the trainer is gone', async () => expect(existsSync(join(run, 'pid'))).toBe(false), minutes);
  const steps = linesOf<{ step: number }>(join(run, 'metrics.jsonl')).map(({ step }) => step);
  expect(steps).toEqual(steps.map((_, index) => index + 1));
  expect(await stepsInTable(frame)).toEqual(steps.map(String).toReversed());
  expect(readdirSync(join(run, 'checkpoints'))).toContain(`checkpoint-${steps.length}`);
  await workbench.screenshot('dashboard-stopped');
});

test('a point opens the rollouts behind it, and a rollout its recording', async () => {
  const frame = workbench.webviewFrame();
  const last = (await stepsInTable(frame)).length;
  await clickPoint(frame, 'Reward', last);
  await frame.getByText(`Rollouts of optimizer step ${last}`, { exact: true }).waitFor();
  const rows = frame.locator(`[aria-label="Rollouts of optimizer step ${last}"] vscode-data-grid-row.opens`);
  const recordings = readdirSync(join(newestRun(training), 'trajectories', `step-00000${last}`)).filter((name) =>
    name.endsWith('.traj.jsonl'),
  );
  await until('one row for each recording', async () => expect(await rows.count()).toBe(recordings.length));
  await workbench.screenshot('dashboard-rollouts');
  await rows.first().click();
  const recording = workbench.webviewFrame();
  await recording.getByRole('button', { name: 'Debug This Recording' }).waitFor();
  const steps = recording.locator('article');
  await until('the steps of the recording', async () => expect(await steps.count()).toBeGreaterThan(3));
  await workbench.screenshot('recording');
  await recording.getByRole('button', { name: 'Debug This Recording' }).click();
  await workbench.debug.paused();
  await workbench.debug.show();
  await workbench.waitForText('.debug-call-stack .monaco-list-rows', 'begins');
  // For a recording the toolbar has Disconnect in place of Stop; the key is the same.
  await workbench.press('Shift+F5');
  await workbench.debug.ended();
});

test('SFT from the palette: the gold seat plays, the model learns from it and is saved whole', {
  timeout: 8 * minutes,
}, async () => {
  await workbench.runCommand('View: Close All Editors');
  await train('SFT', 'tiny', 3);
  const frame = workbench.webviewFrame();
  await frame.locator('.status.finished').waitFor({ timeout: 7 * minutes });
  await until('three rows', async () => expect(await stepsInTable(frame)).toEqual(['3', '2', '1']));
  const run = newestRun(training);
  const metrics = linesOf<{ step: number; loss: number; grad_norm: number }>(join(run, 'metrics.jsonl'));
  expect(metrics.map(({ step }) => step)).toEqual([1, 2, 3]);
  expect(metrics.filter(({ loss, grad_norm }) => !(loss > 0 && grad_norm > 0))).toEqual([]);
  const data = linesOf<{ type: string; recordings?: number }>(join(run, 'events.jsonl')).find(
    (event) => event.recordings,
  );
  const played = readdirSync(join(run, 'gold')).filter((name) => name.endsWith('.traj.jsonl'));
  expect([data?.recordings, played.length]).toEqual([256, 256]);
  expect(readdirSync(join(run, 'checkpoints', 'final'))).toContain('model.safetensors');
  expect(readFileSync(join(domain.folder, '.rehearsal', '.gitignore'), 'utf8')).toBe('*\n');
  await workbench.screenshot('dashboard-sft');
});

test("the checkpoint takes the agent's seat of a debugged task", { timeout: 10 * minutes }, async () => {
  await workbench.openFile('tasks/test.task.yaml');
  await workbench.runCommand('Rehearsal: Debug Task with a Checkpoint…');
  await workbench.pick('what the run ended with');
  await workbench.waitForText('.repl', `agent checkpoint:${newestRun(training)}/checkpoints/final`, 4 * minutes);
  await workbench.waitForText('.repl', /\nagent\s+\S/, 4 * minutes);
  await workbench.screenshot('checkpoint-debugged');
  await workbench.press('Shift+F5');
  await workbench.debug.ended();
});

/** Starts training from the palette, answering its questions as a person does. */
async function train(kind: 'SFT' | 'GRPO', model: string, steps: number): Promise<void> {
  await workbench.runCommand(`Rehearsal: Train with ${kind}…`);
  await workbench.pick(model);
  await workbench.answer(String(steps));
  await workbench.confirm(`Start ${kind}?`, 'Start');
  await workbench.waitForText('.tabs-container', 'Training');
}

/**
 * Whether the canvas has pixels of the series' own colour near each step's point: a saturated colour that neither
 * the background nor the grey grid has, on any height of a strip around the step.
 */
async function drawnAt(frame: FrameLocator, metric: string, steps: readonly number[]): Promise<boolean[]> {
  const card = frame.locator(`section[aria-label="${metric}"]`);
  return card.evaluate((element, wanted) => {
    const canvas = element.querySelector('canvas');
    const plot = element.querySelector('.u-over');
    const context = canvas?.getContext('2d');
    if (!canvas || !plot || !context) return [];
    const scale = canvas.width / canvas.getBoundingClientRect().width;
    const left = plot.getBoundingClientRect().left - canvas.getBoundingClientRect().left;
    const width = plot.getBoundingClientRect().width;
    return wanted.map((step) => {
      const centre = (left + (step === 1 ? 0 : width)) * scale;
      const { data } = context.getImageData(Math.max(0, centre - 4 * scale), 0, 8 * scale, canvas.height);
      for (let at = 0; at < data.length; at += 4) {
        const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(at, at + 4);
        if (alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) return true;
      }
      return false;
    });
  }, steps);
}
