import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Alarm,
  type Point,
  type Rollout,
  type Run,
  type RunStatus,
  type ToWebview,
  type ViewId,
  viewIds,
} from '../../src/webview/messages/protocol.ts';
import { inFullSuite, oneOfEachKind } from '../support/suite.ts';
import { twoRecordings, twoRuns } from '../webview/compared.ts';
import { failed } from '../webview/models/recorded.ts';
import { lookedEditors } from './support/editorPages.ts';
import { openRecordingPage } from './support/recordingPage.ts';
import { type Theme, themes } from './support/themes.ts';
import { openViewBrowser, type ViewBrowser, type ViewPage } from './support/viewPage.ts';
import { screenshotFolder } from './support/workbench.ts';

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
    const metrics = {
      ...{ reward: Math.min(1, step / 40), loss: 1 / step, kl: step / 1000, turns: 6, entropy: 1 },
      ...{ all_correct: step / 50, all_wrong: 1 - step / 35, 'calls/look': 2, 'calls/think': 1 / step },
      ...{ rollout_seconds: 20, update_seconds: 10 + (step % 3), tokens_per_second: 300 },
      ...(step % 5 === 0 && { 'evaluate/reward': step / 60, 'evaluate/completion': step / 45 }),
    };
    return { step, time: step * 60_000, metrics };
  });

const snapshot = (shown: Run | null, measured: Point[] = [], status: RunStatus = { type: 'running' }): ToWebview => ({
  type: 'snapshot',
  runs: shown === null ? [] : [grpo, sft],
  run: shown?.id ?? null,
  points: measured,
  status,
  data:
    shown?.kind === 'grpo'
      ? 'Learns from 64 tasks of parcel-desk, with agenda as the user. Evaluated on 32 tasks of parcel-desk, none of which it learns from, with agenda as the user. The same simulator, agenda, plays the user in both.'
      : null,
  problems: [],
  alarms: [],
});

const explosion: Alarm = {
  name: 'kl-explosion',
  step: 21,
  message: 'KL is 0.7; the limit is 0.5',
  evidence: { kl: 0.7, limit: 0.5 },
  recordings: ['trajectories/step-000021/p.0.traj.jsonl'],
  advice: 'The model drifts too far from its reference. Raise beta or lower learning_rate.',
  pauses: true,
};

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

/** Returns the number of pixels of a canvas that have about this colour. */
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

const card = (view: ViewPage, chart: string) => view.page.locator(`section[aria-label="${chart}"]`);
const sliderOf = (view: ViewPage, chart: string) => card(view, chart).getByRole('slider');

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

/**
 * Opens each view with as much content as possible, for pictures and accessibility checks. A new view needs a row here.
 */
const looked: Readonly<Record<ViewId, (theme: Theme) => Promise<ViewPage>>> = {
  trainingDashboard: async (theme) => {
    const view = await opened(theme);
    await view.page.locator('vscode-data-grid-row.opens').first().click();
    await view.send(
      { type: 'rollouts', run: grpo.id, step: 30, purpose: 'training', rollouts: rollouts(30), problem: null },
      {
        type: 'status',
        run: grpo.id,
        status: { type: 'failed', message: 'out of memory' },
        data: null,
        problems: ['a torn line'],
      },
    );
    await view.page.getByText('1 of 3 with reward 1').waitFor();
    await view.send(
      { type: 'alarms', run: grpo.id, alarms: [explosion] },
      { type: 'overlaid', runs: [{ run: sft.id, points: points(1, 12) }] },
    );
    await view.page.getByText('1 alarm', { exact: true }).waitFor();
    const blue = theme.variables['charts-blue'] ?? '';
    await expect.poll(() => inkOf(view.page.locator('canvas').first(), blue)).toBeGreaterThan(500);
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
    await view.page.getByText('Trained: 24 of 62 tokens (39 %)').waitFor();
    expect(await view.page.locator('main').textContent()).toContain('[trained: It is pending. Shall I cancel it?');
    return view;
  },
  ...lookedEditors((view, theme) => browser.open(view, theme)),
};

/** Each view in every theme. The first theme differs from view to view. */
const inThemes = viewIds.flatMap((id, at) => {
  const all = Object.entries(themes);
  const first = at % all.length;
  return [...all.slice(first), ...all.slice(0, first)].map(([name, theme]) => ({ id, name, theme }));
});
test.each(oneOfEachKind(inThemes, ({ id }) => id))(
  '$id in the $name theme breaks neither its policy nor a rule of accessibility',
  async (each) => {
    const view = await looked[each.id](each.theme);
    await view.screenshot(`view-${each.id}-${each.name}`);
    expect(await view.accessibility()).toEqual([]);
    expect(await view.complaints()).toEqual([]);
    await view.close();
  },
);

const forms = (['taskEditor', 'policyEditor', 'personaEditor', 'toolEditor'] as const).flatMap((id) =>
  (['highContrast', 'dark', 'light', 'highContrastLight'] as const).map((name) => ({ id, name })),
);
test.each(oneOfEachKind(forms, ({ id }) => id))(
  'Tab reaches each control of $id in the $name theme, and its ring is seen',
  async ({ id, name }) => {
    const view = await looked[id](themes[name]);
    await view.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const rings = new Map<string, number>();
    for (let step = 0; step < 200; step += 1) {
      await view.page.keyboard.press('Tab');
      const ring = await view.page.evaluate(focusRing);
      if (ring === null) continue;
      if (rings.has(ring.control)) break;
      rings.set(ring.control, ring.contrast);
    }
    await view.screenshot(`focus-${id}-${name}`);
    expect(rings.size).toBeGreaterThan(5);
    expect([...rings].filter(([, contrast]) => contrast < 3)).toEqual([]);
    await view.close();
  },
);

/**
 * Runs in the page: returns the control that has the focus, with its place, and the contrast of its ring with the page,
 * 0 for none. Returns null if the focus left the page.
 */
function focusRing(): { control: string; contrast: number } | null {
  let at = document.activeElement;
  if (at === null || at === document.body) return null;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const { left, top } = at.getBoundingClientRect();
  const host = document.activeElement;
  const text = (host?.getAttribute('aria-label') ?? host?.textContent ?? '').trim().slice(0, 40);
  const control = `${host?.tagName.toLowerCase()} ${text} at ${Math.round(left)}, ${Math.round(top + window.scrollY)}`;
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(at);
  if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) === 0) return { control, contrast: 0 };
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ring = luminance(outlineColor);
  const page = luminance(getComputedStyle(document.body).backgroundColor);
  return { control, contrast: (Math.max(ring, page) + 0.05) / (Math.min(ring, page) + 0.05) };
}

test('a field with a wrong value has the border of an error', async () => {
  const view = await looked.toolEditor(themes.dark);
  const field = view.page.getByLabel('amount (optional)');
  const border = await field.evaluate((element) => getComputedStyle(element).borderColor);
  expect(border).toBe('rgb(190, 17, 0)');
  await view.close();
});

inFullSuite.each(viewIds)('%s at 200 % has every control in the window, and none over another one', async (id) => {
  const view = await looked[id](themes.light);
  await view.page.setViewportSize({ width: 600, height: 500 });
  await view.screenshot(`zoomed-${id}`);
  expect(await view.page.evaluate(misplacedControls)).toEqual([]);
  await view.close();
});

/**
 * Runs in the page: describes content wider than the window, controls that are clipped or overlap, and broken words.
 */
function misplacedControls(): string[] {
  type Box = {
    readonly name: string;
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
    readonly of: Element;
  };
  const scrolls = (element: Element) => /auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX);
  /** Returns the part of an element that its ancestors do not clip. */
  const seen = (element: Element): Box => {
    let { left, top, right, bottom } = element.getBoundingClientRect();
    for (let around = element.parentElement; around && around !== document.body; around = around.parentElement) {
      if (!scrolls(around)) continue;
      const clip = around.getBoundingClientRect();
      [left, top] = [Math.max(left, clip.left), Math.max(top, clip.top)];
      [right, bottom] = [Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
    }
    const name = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40);
    return { name: `${element.tagName.toLowerCase()} ${name}`, left, top, right, bottom, of: element };
  };
  const controls =
    'button, a[href], input, select, textarea, summary, [role="button"], [role="slider"], vscode-button, vscode-dropdown, vscode-checkbox';
  const boxes = [...document.querySelectorAll(controls)]
    .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map(seen)
    .filter(({ left, top, right, bottom }) => right - left > 1 && bottom - top > 1);
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = scrollWidth > clientWidth + 1 ? [`the page is ${scrollWidth} wide, and the window ${clientWidth}`] : [];
  const cut = boxes
    .filter(({ left, right }) => left < -1 || right > clientWidth + 1)
    .map(({ name }) => `${name} is cut off`);
  const over = boxes.flatMap((one, at) =>
    boxes.slice(at + 1).flatMap((other) => {
      const isNested = one.of.contains(other.of) || other.of.contains(one.of);
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      return !isNested && width > 2 && height > 2 ? [`${one.name} and ${other.name} overlap`] : [];
    }),
  );
  const headers = [...document.querySelectorAll('[role="columnheader"]')];
  const broken = headers.filter((header) => {
    const range = document.createRange();
    range.selectNodeContents(header);
    const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    return lines > (header.textContent ?? '').trim().split(/\s+/).length;
  });
  return [...wide, ...cut, ...over, ...broken.map(({ textContent }) => `${textContent} is broken within a word`)];
}

test('without a run the dashboard offers to train', async () => {
  const view = await opened(themes.light, null);
  expect(await view.accessibility()).toEqual([]);
  await view.page.getByRole('button', { name: 'Train with GRPO…' }).click();
  expect(await newest(view)).toEqual({ type: 'train', kind: 'grpo' });
  await view.close();
});

test('arrow keys and Enter open a step from the curve, and a rollout from its list', async () => {
  const view = await opened();
  const slider = sliderOf(view, 'Reward');
  await slider.focus();
  for (const key of ['Home', 'ArrowRight', 'PageUp', 'ArrowLeft', 'Enter']) await view.page.keyboard.press(key);
  expect(await slider.getAttribute('aria-valuetext')).toBe('Optimizer step 11, Reward 0.275');
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 11, purpose: 'training' });
  await view.send({
    type: 'rollouts',
    run: grpo.id,
    step: 11,
    purpose: 'training',
    rollouts: rollouts(11),
    problem: null,
  });
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
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 30, purpose: 'training' });
  await view.close();
});

inFullSuite('a click where only another run has points opens that run’s', async () => {
  const view = await opened(themes.dark, grpo, points(1, 5));
  await view.send({ type: 'overlaid', runs: [{ run: sft.id, points: points(6, 12) }] });
  await card(view, 'Reward').locator('.legend').waitFor();
  const box = await card(view, 'Reward').locator('.u-over').boundingBox();
  if (!box) throw new Error('the chart is not drawn');
  await view.page.mouse.click(box.x + box.width - 1, box.y + 20);
  expect(await newest(view)).toEqual({ type: 'openStep', run: sft.id, step: 12, purpose: 'training' });
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

test('an alarm names its numbers and its advice, and opens the rollouts of its step', async () => {
  const view = await opened();
  const kl = card(view, 'KL').locator('canvas');
  const warning = '#cca700';
  expect(await inkOf(kl, warning)).toBe(0);
  const message = 'KL is 0.7; the limit is 0.5';
  await view.send(
    { type: 'alarms', run: grpo.id, alarms: [explosion] },
    { type: 'status', run: grpo.id, status: { type: 'paused', message }, data: null, problems: [] },
  );
  await view.page.getByText('An alarm paused this run: KL is 0.7; the limit is 0.5.').waitFor();
  const alarms = view.page.getByRole('region', { name: '1 alarm' });
  expect((await alarms.textContent())?.replaceAll(/\s+/g, ' ')).toContain(
    'KL explosion from optimizer step 21 on; it paused the runKL is 0.7; the limit is 0.5.The model drifts too far',
  );
  expect(await inkOf(kl, warning)).toBeGreaterThan(50);
  expect(await inkOf(card(view, 'Turns').locator('canvas'), warning)).toBe(0);
  await view.screenshot('dashboard-alarm');
  await view.page.getByRole('button', { name: 'Resume Training' }).click();
  expect(await newest(view)).toEqual({ type: 'resume', run: grpo.id });
  await alarms.getByRole('button', { name: 'Rollouts of Optimizer Step 21: KL explosion' }).click();
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 21, purpose: 'training' });
  await alarms.getByRole('button', { name: 'Open the recording p.0' }).click();
  const file = 'trajectories/step-000021/p.0.traj.jsonl';
  expect(await newest(view)).toEqual({ type: 'openRollout', run: grpo.id, file });
  await view.close();
});

test('runs are laid over each other, in the charts and in the table', async () => {
  const view = await opened();
  await view.page.getByText('Overlay other runs').click();
  await view.page.getByRole('checkbox', { name: /sft/i }).check();
  expect(await newest(view)).toEqual({ type: 'overlay', runs: [sft.id] });
  await view.send({ type: 'overlaid', runs: [{ run: sft.id, points: points(1, 12) }] });
  const names = card(view, 'Reward').locator('.legend li');
  await expect
    .poll(async () => (await names.allInnerTexts()).map((text) => text.trim()))
    .toEqual([`${grpo.id} 0.750`, `${sft.id} 0.300`]);
  const { 'charts-blue': blue = '', 'charts-green': green = '' } = themes.dark.variables;
  const canvas = card(view, 'Reward').locator('canvas');
  expect(await Promise.all([inkOf(canvas, blue), inkOf(canvas, green)])).toEqual([
    expect.toSatisfy((ink: number) => ink > 300),
    expect.toSatisfy((ink: number) => ink > 50),
  ]);
  await view.screenshot('dashboard-overlay');
  await view.page.locator('vscode-dropdown[aria-label="Run of the table"]').click();
  await view.page.locator('vscode-dropdown[aria-label="Run of the table"] vscode-option').nth(1).click();
  const rows = view.page.locator('[aria-label="Metrics of every optimizer step"] vscode-data-grid-row');
  await expect.poll(() => rows.count()).toBe(13);
  expect(await view.kept()).toMatchObject({ run: grpo.id, overlays: [sft.id] });
  await view.close();
});

test('charts are zoomed by a drag and by keys, and all of them at once', async () => {
  const view = await opened();
  const box = await card(view, 'Reward').locator('.u-over').boundingBox();
  if (!box) throw new Error('the chart is not drawn');
  const before = await view.posted();
  await view.page.mouse.move(box.x + box.width / 2, box.y + 40);
  await view.page.mouse.down();
  await view.page.mouse.move(box.x + box.width - 4, box.y + 40, { steps: 6 });
  await view.page.mouse.up();
  await view.page.getByRole('button', { name: 'Reset Zoom' }).waitFor();
  // The left edge is now in the middle of the run: a click there opens that step, and the drag itself opened none.
  expect(await view.posted()).toEqual(before);
  await view.page.mouse.click(box.x + 2, box.y + 60);
  const message = await newest(view);
  expect(message).toMatchObject({ type: 'openStep' });
  expect(message?.type === 'openStep' && message.step > 10).toBe(true);
  await view.screenshot('dashboard-zoomed');
  await view.page.getByRole('button', { name: 'Reset Zoom' }).click();
  await sliderOf(view, 'KL').focus();
  await view.page.keyboard.press('+');
  await view.page.getByRole('button', { name: 'Reset Zoom' }).waitFor();
  await view.page.keyboard.press('0');
  await view.page.getByRole('button', { name: 'Reset Zoom' }).waitFor({ state: 'detached' });
  await view.close();
});

inFullSuite('a logarithmic scale leaves shares as they are, and says which values it shows', async () => {
  const view = await opened(themes.dark, grpo, [
    ...points(1, 10),
    { step: 11, time: null, metrics: { loss: -1, kl: 1 } },
  ]);
  const pixels = (chart: string) =>
    card(view, chart)
      .locator('canvas')
      .evaluate((each) => (each as HTMLCanvasElement).toDataURL());
  const [kl, reward] = [await pixels('KL'), await pixels('Reward')];
  await view.page.getByLabel('Log scale').click();
  await expect.poll(() => pixels('KL')).not.toBe(kl);
  // All charts are drawn in one turn of the page, and the answer to a question comes after it.
  expect(await pixels('Reward')).toBe(reward);
  expect(await card(view, 'Loss').getByText('A logarithmic scale shows only values above 0').count()).toBe(1);
  expect(await card(view, 'Reward').getByText('A logarithmic scale shows only values above 0').count()).toBe(0);
  await view.screenshot('dashboard-log');
  await view.close();
});

inFullSuite('a chart is saved as a picture, and everything that was measured as CSV', async () => {
  const view = await opened();
  await view.page.getByRole('button', { name: 'Save Reward as PNG' }).click();
  const picture = await newest(view);
  expect(picture).toMatchObject({ type: 'export', name: `${grpo.id}-Reward`, format: 'png' });
  const png = Buffer.from(picture?.type === 'export' ? picture.content : '', 'base64');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  expect([width > 400, height > 240]).toEqual([true, true]);
  writeFileSync(join(screenshotFolder(), 'dashboard-picture.png'), png);
  await view.page.getByRole('button', { name: 'Save as CSV' }).click();
  const table = await newest(view);
  expect(table).toMatchObject({ type: 'export', name: `${grpo.id}-metrics`, format: 'csv' });
  const lines = table?.type === 'export' ? table.content.trim().split('\r\n') : [];
  expect([lines.length, lines[1]?.split(',').slice(0, 2)]).toEqual([31, [grpo.id, '1']]);
  await view.close();
});

test('a rollout is compared with the same task at another step, by its own button of the row', async () => {
  const view = await opened();
  await sliderOf(view, 'Loss').focus();
  await view.page.keyboard.press('Enter');
  await view.send({
    type: 'rollouts',
    run: grpo.id,
    step: 30,
    purpose: 'training',
    rollouts: rollouts(30),
    problem: null,
  });
  await view.page.getByRole('button', { name: 'Compare p, member 1, with another optimizer step' }).click();
  const file = 'trajectories/step-30/p.1.traj.jsonl';
  expect(await newest(view)).toEqual({ type: 'compareStep', run: grpo.id, file });
  await view.close();
});

inFullSuite('another run is chosen in the picker, and a running one is stopped', async () => {
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

inFullSuite('a page that is loaded again asks for the run and the step that it showed', async () => {
  const view = await browser.open('trainingDashboard', themes.dark, {
    run: grpo.id,
    opened: { run: grpo.id, step: 2, purpose: 'training' },
    smoothing: 20,
  });
  expect(await view.posted()).toEqual([{ type: 'ready', run: grpo.id }]);
  await view.send(snapshot(grpo, points(1, 3)));
  await view.page.getByText('Rollouts of optimizer step 2').waitFor();
  expect(await newest(view)).toEqual({ type: 'openStep', run: grpo.id, step: 2, purpose: 'training' });
  await view.close();
});
