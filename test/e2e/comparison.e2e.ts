import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunsCompared } from '../../src/webview/messages/compared.ts';
import type { ToWebview } from '../../src/webview/messages/protocol.ts';
import { inFullSuite } from '../support/suite.ts';
import { twoRecordings, twoRuns } from '../webview/compared.ts';
import { themes } from './support/themes.ts';
import { openViewBrowser, type ViewBrowser, type ViewPage } from './support/viewPage.ts';

/** Tests the comparison page in a browser; the test plays the extension. */
let browser: ViewBrowser;

beforeAll(async () => {
  browser = await openViewBrowser();
});

afterAll(async () => {
  await browser?.close();
});

const runsShown: ToWebview = { type: 'runsCompared', comparison: twoRuns };
const recordingsShown: ToWebview = { type: 'recordingsCompared', comparison: twoRecordings };

async function opened(theme = themes.dark, ...messages: readonly ToWebview[]): Promise<ViewPage> {
  const view = await browser.open('comparison', theme);
  await view.send(...(messages.length > 0 ? messages : [runsShown]));
  return view;
}

const newest = async (view: ViewPage) => (await view.posted()).at(-1);
const taskRow = (view: ViewPage, name: string) =>
  view.page.locator('vscode-data-grid-row.opens').filter({ has: view.page.getByText(name, { exact: true }) });

test('flips come first, and one opens the trial whose reward differs', async () => {
  const view = await opened();
  const kinds = await view.page.locator('.kind').allInnerTexts();
  await view.page.getByText('This does not show that the runs are equal.').waitFor();
  expect(kinds.map((text) => text.replace(/\s+/g, ' '))).toEqual([
    '✓→✕ passed → failed',
    '✕→✓ failed → passed',
    '= same reward',
    '– only in one run',
  ]);
  await taskRow(view, 'broke').locator('vscode-data-grid-cell').first().focus();
  await view.page.keyboard.press('Enter');
  const recordings = ['/runs/before/broke.1.traj.jsonl', '/runs/after/broke.1.traj.jsonl'];
  expect(await newest(view)).toEqual({ type: 'compareRecordings', recordings });
  await view.send(recordingsShown);
  const parting = view.page.locator('tr.parts');
  const cells = await parting.locator('td').allInnerTexts();
  expect(cells.map((text) => text.split(/\s*\n\s*/))).toEqual([
    expect.anything(),
    ['7 Agent', 'Shall I cancel it?'],
    ['7 Agent', 'cancel_order({"id":"W1"})'],
  ]);
  await view.page.getByRole('button', { name: 'Debug recording B' }).click();
  expect(await newest(view)).toEqual({ type: 'openCompared', recording: recordings[1], debug: true, step: 7 });
  await view.page.getByRole('button', { name: 'Open recording A' }).click();
  expect(await newest(view)).toEqual({ type: 'openCompared', recording: recordings[0], debug: false });
  await view.page.getByRole('button', { name: 'Close the side-by-side view' }).click();
  await view.page.locator('.side-by-side').waitFor({ state: 'detached' });
  await view.close();
});

test.each([600, 300])('both recordings are in view in a window that is %i wide', async (width) => {
  const [first, second] = twoRecordings.recordings;
  const long = 'The agent called the tool before it had asked the user whether the order may be changed. '.repeat(3);
  const measure = { ...second.measure, reward: null, reason: long, endReason: 'cancelled' };
  const verdicts = second.verdicts.map((verdict) => ({ ...verdict, detail: long }));
  const stopped = { ...second, measure, verdicts, stoppedCalls: ['cancel_order'] };
  const comparison = { ...twoRecordings, recordings: [first, stopped] as typeof twoRecordings.recordings };
  const view = await browser.open('comparison', themes.light, undefined, { width, height: 900 });
  await view.send({ type: 'recordingsCompared', comparison });
  await view.page.getByText('B was stopped before it ended').waitFor();
  await view.screenshot(`comparison-${width}`);
  const wide = await view.page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.table-scroll')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(({ className, scrollWidth, clientWidth }) => `${className}: ${scrollWidth} > ${clientWidth}`),
  );
  expect(wide).toEqual([]);
  await view.close();
});

inFullSuite('a page that is loaded again asks for the rollouts that it showed', async () => {
  const view = await browser.open('comparison', themes.dark, { sources: ['/a', '/b'], task: 'broke', trial: 0 });
  await view.send(runsShown);
  await view.page.locator('.chosen').waitFor();
  const recordings = ['/runs/before/broke.0.traj.jsonl', '/runs/after/broke.0.traj.jsonl'];
  expect(await newest(view)).toEqual({ type: 'compareRecordings', recordings });
  await view.close();
});

test('tasks are filtered', async () => {
  const view = await opened();
  await view.page.locator('vscode-dropdown[aria-label="Which tasks"]').click();
  await view.page.locator('vscode-option', { hasText: 'Flips' }).click();
  await view.page.getByText('2 of 4').waitFor();
  expect(await view.page.locator('.kind').count()).toBe(2);
  await view.close();
});

inFullSuite('two recordings alone have the same side-by-side part', async () => {
  const view = await opened(themes.light, recordingsShown);
  await view.page.getByText('where the agent acts differently').waitFor();
  expect(await view.accessibility()).toEqual([]);
  await view.close();
});

inFullSuite('what is under way can be cancelled, and what failed says why and can be tried again', async () => {
  const view = await opened(themes.dark, {
    type: 'comparing',
    what: 'runs',
    sources: ['/runs/before', '/runs/after'],
    note: '2/8 pairs of rollouts',
  });
  await view.page.getByText('Comparing before, after: 2/8 pairs of rollouts').waitFor();
  await view.page.getByRole('button', { name: 'Cancel' }).click();
  expect(await newest(view)).toEqual({ type: 'stopComparing' });
  await view.send({ type: 'comparisonFailed', what: 'runs', problem: '/runs/after/run.json:1: is not JSON' });
  await view.page.getByRole('alert').getByText('run.json:1: is not JSON').waitFor();
  expect(await view.accessibility()).toEqual([]);
  await view.page.getByRole('button', { name: 'Compare Again' }).click();
  expect(await newest(view)).toEqual({ type: 'compareAgain' });
  await view.close();
});

test('thousands of tasks come a page at a time', async () => {
  const [pair] = twoRuns.pairs;
  const [run] = twoRuns.runs;
  if (!pair || !run) throw new Error('no runs');
  const names = Array.from({ length: 2000 }, (_, at) => `task-${at}`);
  const comparison: RunsCompared = {
    runs: [run, run],
    tasks: names.map((task) => ({ task, trials: [[], []] })),
    pairs: [
      {
        ...pair,
        tasks: names.map((task) => ({ task, rewards: [1, 0], trials: [1, 1], difference: -1, flip: 'broke' })),
      },
    ],
  };
  const view = await opened(themes.dark, { type: 'runsCompared', comparison });
  await view.page.getByText('2000 of 2000').waitFor();
  expect(await view.page.locator('.kind').count()).toBe(50);
  await view.page.getByRole('button', { name: 'Later' }).click();
  await view.page.getByText('task-50', { exact: true }).waitFor();
  await view.close();
});
