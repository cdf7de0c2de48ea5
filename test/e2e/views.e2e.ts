import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Point,
  type Rollout,
  type Run,
  type RunStatus,
  type ToWebview,
  type ViewId,
  viewIds,
} from '../../src/webview/protocol.ts';
import { twoRecordings, twoRuns } from '../webview/compared.ts';
import { failed } from '../webview/models/recorded.ts';
import { lookedEditors } from './support/editorPages.ts';
import { openRecordingPage } from './support/recordingPage.ts';
import { type Theme, themes } from './support/themes.ts';
import { openViewBrowser, type ViewBrowser, type ViewPage } from './support/viewPage.ts';

let browser: ViewBrowser;

beforeAll(async () => {
  browser = await openViewBrowser();
});

afterAll(async () => {
  await browser?.close();
});

const run = (id: string, kind: Run['kind']): Run => ({
  id,
  kind,
  model: 'tiny',
  domain: 'parcel-desk',
  plannedSteps: 40,
});
const grpo = run('20261121-100000-grpo', 'grpo');
const sft = run('20261120-100000-sft', 'sft');

const points = (from: number, to: number): Point[] =>
  Array.from({ length: to - from + 1 }, (_, index) => {
    const step = from + index;
    const metrics = { reward: Math.min(1, step / 40), loss: 1 / step, kl: step / 1000, turns: 6, entropy: 1 };
    return { step, time: step * 60_000, metrics };
  });

const snapshot = (shown: Run | null, measured: Point[] = [], status: RunStatus = { type: 'running' }): ToWebview => ({
  type: 'snapshot',
  runs: shown === null ? [] : [grpo, sft],
  run: shown?.id ?? null,
  points: measured,
  status,
  problems: [],
});

const rollouts = (step: number): Rollout[] =>
  [1, 0, null].map((reward, member) => ({
    file: `trajectories/step-${step}/p.${member}.traj.jsonl`,
    task: 'p',
    member,
    reward,
    turns: 5,
    endReason: 'userStopped',
    failure: null,
  }));

/** Number of pixels of a canvas that are drawn in about this colour. */
function inkOf(canvas: Locator, color: string): Promise<number> {
  return canvas.evaluate((element, wanted) => {
    const { width, height } = element as HTMLCanvasElement;
    const data = (element as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
    const channels = [1, 3, 5].map((at) => Number.parseInt(wanted.slice(at, at + 2), 16));
    let ink = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (channels.every((channel, offset) => Math.abs((data[at + offset] ?? 0) - channel) < 8)) ink += 1;
    }
    return ink;
  }, color);
}

async function opened(theme = themes.dark, shown: Run | null = grpo, measured = points(1, 30)): Promise<ViewPage> {
  const view = await browser.open('trainingDashboard', theme);
  await view.send(snapshot(shown, measured));
  await view.page
    .locator(shown === null ? '.empty' : 'canvas')
    .first()
    .waitFor();
  return view;
}

const newest = async (view: ViewPage) => (await view.posted()).at(-1);
const focused = (view: ViewPage) => view.page.evaluate(() => document.activeElement?.textContent ?? '');

/** What each view shows while it is looked at: as much of it as there is. A new view needs a row here. */
const looked: Readonly<Record<ViewId, (theme: Theme) => Promise<ViewPage>>> = {
  trainingDashboard: async (theme) => {
    const view = await opened(theme);
    await view.page.locator('vscode-data-grid-row.opens').first().click();
    await view.send(
      { type: 'rollouts', run: grpo.id, step: 30, rollouts: rollouts(30), problem: null },
      { type: 'status', run: grpo.id, status: { type: 'failed', message: 'out of memory' }, problems: ['a torn line'] },
    );
    await view.page.getByText('1 of 3 with reward 1').waitFor();
    const green = theme.variables['charts-green'] ?? '';
    expect(await inkOf(view.page.locator('canvas').first(), green)).toBeGreaterThan(500);
    return view;
  },
  trajectory: async (theme) => {
    const view = await openRecordingPage(browser, failed, { theme, problem: 'a.traj.jsonl, line 19: is not JSON' });
    await view.page.getByRole('button', { name: 'Details of step 6', exact: true }).click();
    await view.page.getByText('As a table').click();
    await view.page.getByText('Before the first turn', { exact: true }).waitFor();
    return view;
  },
  comparison: async (theme) => {
    const view = await browser.open('comparison', theme);
    await view.send({ type: 'runsCompared', comparison: twoRuns });
    await view.page.locator('vscode-data-grid-row.opens').first().click();
    await view.send({ type: 'recordingsCompared', comparison: twoRecordings });
    await view.page.getByText('Databases at the end').waitFor();
    return view;
  },
  trainingText: async (theme) => {
    const view = await browser.open('trainingText', theme);
    const pieces = [
      {
        text: '<|im_start|>system\nYou work at a desk.<|im_end|>\n<|im_start|>assistant\n',
        tokens: 20,
        trained: false,
      },
      { text: '<tool_call>get_order(order_id="W1014")</tool_call><|im_end|>', tokens: 14, trained: true },
      {
        text: '\n<|im_start|>tool\n{"status":"pending"}<|im_end|>\n<|im_start|>assistant\n',
        tokens: 18,
        trained: false,
      },
      { text: 'It is pending. Shall I cancel it?<|im_end|>', tokens: 10, trained: true },
    ];
    await view.send({ type: 'trainingText', name: 'a.traj.jsonl', model: 'smollm2', dialect: 'compact', pieces });
    await view.page.getByText('24 of 62 tokens train (39 %)').waitFor();
    expect(await view.page.locator('main').textContent()).toContain('[trains: It is pending. Shall I cancel it?');
    return view;
  },
  ...lookedEditors((view, theme) => browser.open(view, theme)),
};

describe.each(Object.entries(themes))('in the %s theme', (name, theme) => {
  test.each(viewIds)('%s breaks neither its policy nor a rule of accessibility', async (id) => {
    const view = await looked[id](theme);
    await view.screenshot(`view-${id}-${name}`);
    expect(await view.accessibility()).toEqual([]);
    expect(await view.complaints()).toEqual([]);
    await view.close();
  });
});

test('without a run the dashboard offers to train', async () => {
  const view = await opened(themes.light, null);
  expect(await view.accessibility()).toEqual([]);
  await view.page.getByRole('button', { name: 'Train with GRPO…' }).click();
  expect(await newest(view)).toEqual({ type: 'train', kind: 'grpo' });
  await view.close();
});

test('arrow keys and Enter open a step from the curve, and a rollout from its list', async () => {
  const view = await opened();
  const slider = view.page.getByRole('slider');
  await slider.focus();
  for (const key of ['Home', 'ArrowRight', 'PageUp', 'ArrowLeft', 'Enter']) await view.page.keyboard.press(key);
  expect(await slider.getAttribute('aria-valuetext')).toBe('Optimizer step 11, Reward 0.275');
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 11 });
  await view.send({ type: 'rollouts', run: grpo.id, step: 11, rollouts: rollouts(11), problem: null });
  await view.page.getByText('p · 1', { exact: true }).waitFor();
  for (const key of ['Tab', 'ArrowDown', 'ArrowDown', 'Enter']) await view.page.keyboard.press(key);
  const file = 'trajectories/step-11/p.1.traj.jsonl';
  expect(await newest(view)).toEqual({ type: 'openRollout', run: grpo.id, file });
  await view.close();
});

test('a click on the curve opens the step under the pointer', async () => {
  const view = await opened();
  const box = await view.page.locator('.chart-card .u-over').first().boundingBox();
  if (!box) throw new Error('the chart is not drawn');
  await view.page.mouse.click(box.x + box.width - 1, box.y + 20);
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 30 });
  await view.close();
});

test('new points reach curve and table, and leave the focus where it is', async () => {
  const view = await opened(themes.dark, grpo, points(1, 5));
  const rows = view.page.locator('[aria-label="Metrics of every optimizer step"] vscode-data-grid-row.opens');
  await rows.nth(1).locator('vscode-data-grid-cell').first().click();
  await view.send({ type: 'appended', run: grpo.id, points: points(6, 7) });
  await view.page.getByText('Optimizer step 7 of 40').waitFor();
  expect(await rows.evaluateAll((all) => all.map((row) => row.firstElementChild?.textContent))).toEqual([
    '7',
    '6',
    '5',
    '4',
    '3',
    '2',
    '1',
  ]);
  expect(await focused(view)).toBe('4');
  await view.close();
});

test('curves follow a change of the theme', async () => {
  const view = await opened();
  const canvas = view.page.locator('canvas').first();
  await view.setTheme(themes.light);
  const green = themes.light.variables['charts-green'] ?? '';
  await expect.poll(() => inkOf(canvas, green)).toBeGreaterThan(500);
  await view.close();
});

test('another run is chosen in the picker, and a running one is stopped', async () => {
  const view = await opened();
  await view.page.getByRole('button', { name: 'Stop Training' }).click();
  expect(await newest(view)).toEqual({ type: 'stop', run: grpo.id });
  await view.page.locator('vscode-dropdown[aria-label="Training run"]').click();
  await view.page.locator('vscode-option', { hasText: 'SFT' }).click();
  expect(await newest(view)).toEqual({ type: 'selectRun', run: sft.id });
  await view.send(snapshot(sft, [{ step: 1, time: null, metrics: { loss: 2 } }], { type: 'stopped' }));
  await view.page.locator('.status.stopped').waitFor();
  expect(await view.page.locator('.chart-card h2').allTextContents()).toEqual(['Loss']);
  expect(await view.page.getByRole('button', { name: 'Stop Training' }).count()).toBe(0);
  await view.close();
});

test('a page that is loaded again asks for the run and the step that it showed', async () => {
  const view = await browser.open('trainingDashboard', themes.dark, { run: grpo.id, step: 2, smoothing: 20 });
  expect(await view.posted()).toEqual([{ type: 'ready', run: grpo.id }]);
  await view.send(snapshot(grpo, points(1, 3)));
  await view.page.getByText('Rollouts of optimizer step 2').waitFor();
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 2 });
  await view.close();
});
