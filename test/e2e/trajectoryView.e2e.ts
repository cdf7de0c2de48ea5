import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Numbered } from '../../src/webview/messages/protocol.ts';
import { noFilter } from '../../src/webview/models/filter.ts';
import { inFullSuite } from '../support/suite.ts';
import { failed, numbered } from '../webview/models/recorded.ts';
import { openRecordingPage } from './support/recordingPage.ts';
import { until } from './support/until.ts';
import { openViewBrowser, type ViewBrowser, type ViewPage } from './support/viewPage.ts';

let browser: ViewBrowser;

beforeAll(async () => {
  browser = await openViewBrowser();
});

afterAll(async () => {
  await browser?.close();
});

const newest = async (view: ViewPage) => (await view.posted()).at(-1);
const focused = (view: ViewPage) => view.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
const listed = (view: ViewPage) => view.page.locator('article').evaluateAll((all) => all.map((one) => one.ariaLabel));
const press = async (view: ViewPage, ...keys: readonly string[]) => {
  for (const key of keys) await view.page.keyboard.press(key);
};

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element is not drawn');
  return box;
}

const ofAll = (name: string) => `${name}: all`;

/** Returns events of a user who sends many messages. */
const monologue = (count: number): readonly Numbered[] =>
  Array.from({ length: count }, (_, n) => ({ n, event: { type: 'userReplied', content: `Line ${n}`, stop: null } }));

test('the conversation pairs calls with results, and shows who plays each seat', async () => {
  const view = await openRecordingPage(browser, failed);
  expect(await listed(view)).toEqual([
    'Step 0, User, evidence of confirm',
    'Step 1, Agent calls get_order',
    'Step 5, Agent, evidence of confirm',
    'Step 6, Agent calls cancel, something went wrong',
    'Step 10, Agent calls get_order',
    'Step 12, Agent',
    'Step 14, User, ends: done',
    'Step 15, Rollout ended: the user ended the conversation',
    'Step 16, Verifier database, something went wrong',
    'Step 17, Reward 0, something went wrong',
  ]);
  const call = view.page.getByLabel('Step 6, Agent calls cancel');
  expect(await call.textContent()).toMatch(/✕ violated confirm/);
  for (const text of ['makes the reward 0', 'too late', "Agent's database", 'W1'])
    expect(await call.textContent()).toContain(text);
  await view.close();
});

/** A picture of 40 by 20 pixels, red. */
const red =
  'iVBORw0KGgoAAAANSUhEUgAAACgAAAAUCAIAAABwJOjsAAAAJElEQVR42mO4oKAwIIhh1OJRi0ctHrV41OJRi0ctHrV45FgMAK8AUi4ukJS5AAAAAElFTkSuQmCC';
const script =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"><script>document.title = 1</script></svg>';

test('a picture of a result is drawn, and what could run a script is not', async () => {
  const svg = Buffer.from(script).toString('base64');
  const media = [
    { mimeType: 'image/png', data: red },
    { mimeType: 'image/svg+xml', data: svg },
    { mimeType: 'image/png', data: svg },
    { mimeType: 'text/html', data: svg },
    { mimeType: 'image/png"><img src=x onerror=document.title=1>', data: red },
  ];
  const call = { id: 'c', name: 'look', arguments: {} };
  const events = numbered(
    { type: 'userReplied', content: 'Look.', stop: null },
    { type: 'agentReplied', content: null, toolCalls: [call] },
    { type: 'toolCalled', call },
    { type: 'toolReturned', callId: 'c', content: script, isError: false, media },
  );
  const view = await openRecordingPage(browser, events);
  const title = await view.page.title();
  await expect
    .poll(() => view.page.locator('img').evaluateAll((all: HTMLImageElement[]) => all.map((one) => one.naturalWidth)))
    .toEqual([40, 0]);
  expect(await view.page.locator('img').first().getAttribute('src')).toBe(`data:image/png;base64,${red}`);
  expect(await view.page.getByRole('img', { name: 'A picture of the type image/png' }).count()).toBe(2);
  expect(await view.page.locator('article svg, article object, article iframe, article script').count()).toBe(0);
  expect([await view.page.title(), await view.complaints()]).toEqual([title, []]);
  expect(await view.accessibility()).toEqual([]);
  await view.screenshot('trajectory-media');
  await view.close();
});

test.each([
  { width: 270, height: 800 },
  { width: 374, height: 800 },
  { width: 374, height: 440 },
  { width: 540, height: 580 },
  { width: 920, height: 590 },
  { width: 1200, height: 300 },
])('in a window of $width x $height the list can be read up to its last entry', async ({ width, height }) => {
  const view = await openRecordingPage(browser, failed, { size: { width, height } });
  const { page } = view;
  const scroller = await boxOf(page.locator('.scroller'));
  expect(scroller.height).toBeGreaterThanOrEqual(240);
  const card = await boxOf(page.locator('aside'));
  // The page has no empty space below its last part, and scrolls to it.
  const end = Math.floor(Math.max(scroller.y + scroller.height, card.y + card.height));
  expect(Math.abs(end - (await page.evaluate(() => document.documentElement.scrollHeight)))).toBeLessThanOrEqual(1);
  const chart = await page.getByRole('slider', { name: 'Turn' }).isVisible();
  expect([await page.getByText('input tokens').isVisible(), chart]).toEqual([height >= 600, height >= 600]);
  await page.locator('article').first().focus();
  await press(view, 'End');
  const last = page.getByLabel('Step 17, Reward 0');
  await last.scrollIntoViewIfNeeded();
  const shown = await boxOf(last);
  const list = await boxOf(page.locator('.scroller'));
  // The page scrolls by whole pixels.
  expect(shown.y + shown.height).toBeLessThanOrEqual(Math.min(height, list.y + list.height) + 1);
  // The wheel over the list, which is at its end, moves the page to the end of the report card.
  await page.mouse.move(list.x + list.width / 2, list.y + list.height / 2);
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 2000);
      return page.evaluate(() => Math.ceil(window.scrollY + window.innerHeight));
    })
    .toBeGreaterThanOrEqual(end);
  await view.close();
});

test('in a narrow window the conversation has the height that a short report card leaves', async () => {
  const view = await openRecordingPage(browser, failed.slice(0, 13), { size: { width: 600, height: 900 } });
  const { page } = view;
  const card = await boxOf(page.locator('.report-card'));
  expect(card.y + card.height).toBeGreaterThan(900 - 40);
  // The line about the turn does not become a column that moves the chart down.
  expect((await boxOf(page.locator('.reading'))).height).toBeLessThan(25);
  await view.screenshot('trajectory-narrow');
  await view.close();
});

test('the name of a call that did not run stays beside its arguments', async () => {
  const call = { id: 'z', name: 'change_item', arguments: { order: 'W1' } };
  const events = numbered({ type: 'agentReplied', content: null, toolCalls: [call] });
  const view = await openRecordingPage(browser, events, { size: { width: 450, height: 800 } });
  const label = view.page.getByText('Calls change_item', { exact: true });
  const code = await boxOf(view.page.locator('.code pre'));
  const right = await label.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect().right;
  });
  expect(code.x - right).toBeGreaterThanOrEqual(4);
  await view.close();
});

test('links lead to rule, tool, task and evidence, and the debugger starts at a step', async () => {
  const view = await openRecordingPage(browser, failed);
  const call = view.page.getByLabel('Step 6, Agent calls cancel');
  await call.getByRole('button', { name: 'Open rule confirm' }).click();
  expect(await newest(view)).toEqual({ type: 'openPlace', kind: 'rule', name: 'confirm' });
  await call.getByRole('button', { name: 'Open tool cancel' }).click();
  expect(await newest(view)).toEqual({ type: 'openPlace', kind: 'tool', name: 'cancel' });
  await call.hover();
  await call.getByRole('button', { name: 'Debug from here, step 6', exact: true }).click();
  expect(await newest(view)).toEqual({ type: 'debugRecording', step: 6 });
  await call.getByRole('button', { name: 'Details of step 6', exact: true }).click();
  await call.getByRole('button', { name: 'Debug from here, step 8' }).click();
  expect(await newest(view)).toEqual({ type: 'debugRecording', step: 8 });
  await view.page.getByRole('button', { name: 'Debug This Recording' }).click();
  expect(await newest(view)).toEqual({ type: 'debugRecording' });
  await view.page.locator('aside').getByRole('button', { name: 'Go to step 5' }).click();
  await expect.poll(() => focused(view)).toBe('Step 5, Agent, evidence of confirm');
  await view.close();
});

test('filters and search narrow the list, say how much is left, and are taken back', async () => {
  const view = await openRecordingPage(browser, failed);
  const count = view.page.getByRole('status');
  expect(await count.textContent()).toBe('10 entries');
  const texts = await view.page.locator('vscode-dropdown .selected-value').allTextContents();
  expect(texts.map((text) => text.trim())).toEqual(['Speaker', 'Who failed', 'Reason', 'Tool', 'Rule'].map(ofAll));
  await view.page.getByRole('textbox', { name: 'Search all entries' }).waitFor();
  await view.page.locator('vscode-dropdown[aria-label="Reason"]').click();
  await view.page.locator('vscode-option:visible', { hasText: 'Tool error (1)' }).click();
  await expect.poll(() => listed(view)).toEqual(['Step 6, Agent calls cancel, something went wrong']);
  expect(await count.textContent()).toBe('1 of 10 entries');
  await press(view, '/');
  await view.page.keyboard.type('elephant');
  await view.page.getByText('Nothing in this recording matches the filters.').waitFor();
  expect(await count.textContent()).toBe('0 of 10 entries');
  expect(await view.accessibility()).toEqual([]);
  await view.page.getByRole('button', { name: 'Show Everything' }).press('Enter');
  await expect.poll(() => listed(view)).toHaveLength(10);
  await view.page.locator('vscode-text-field:focus').waitFor();
  await view.page.keyboard.type('return');
  await view.page.getByRole('button', { name: 'Clear Filters' }).press('Enter');
  await expect.poll(() => listed(view)).toHaveLength(10);
  await view.page.locator('vscode-text-field:focus').waitFor();
  await view.page.keyboard.type('pending');
  await expect.poll(() => listed(view)).toEqual(['Step 1, Agent calls get_order']);
  await press(view, 'ArrowDown');
  await expect.poll(() => focused(view)).toBe('Step 1, Agent calls get_order');
  await view.close();
});

inFullSuite('a tab that is shown again has its filters, its place and its open details', async () => {
  const view = await openRecordingPage(browser, failed);
  await view.page.locator('article').first().focus();
  await press(view, 'ArrowDown', 'Enter', 'Control+f');
  await view.page.keyboard.type('get_order');
  await view.page.getByText('3 of 10 entries').waitFor();
  const state = { filter: { ...noFilter, text: 'get_order' }, current: 1, open: [1] };
  await until('its state', async () => expect(await view.kept()).toEqual(state));
  await view.close();
  const again = await openRecordingPage(browser, failed, { state });
  await again.page.getByText('3 of 10 entries').waitFor();
  await again.page.getByRole('button', { name: 'Fewer details of step 1' }).waitFor();
  expect(await again.page.locator('article[tabindex="0"]').getAttribute('aria-label')).toContain('Step 1,');
  await again.close();
});

inFullSuite('a recording that grows keeps the place and the focus', async () => {
  const view = await openRecordingPage(browser, failed.slice(0, 13));
  await view.page.locator('article').first().focus();
  await press(view, 'ArrowDown');
  await view.send(
    { type: 'recordingGrew', total: failed.length, problem: null },
    { type: 'recordingRead', events: failed.slice(13) as Numbered[] },
  );
  await view.page.getByText('10 entries', { exact: true }).waitFor();
  expect(await focused(view)).toBe('Step 1, Agent calls get_order');
  await view.page.getByText('Failed by: agent').waitFor();
  await view.close();
});

test('the timeline is walked with the keys, and leads to a turn', async () => {
  const view = await openRecordingPage(browser, failed);
  const slider = view.page.getByRole('slider', { name: 'Turn' });
  await slider.focus();
  await press(view, 'End', 'ArrowLeft');
  expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Turn 2: agent 900 ms, tools .* tokens in, 40 out/);
  await press(view, 'Enter');
  await expect.poll(() => focused(view)).toBe('Step 5, Agent, evidence of confirm');
  const box = await boxOf(slider);
  await view.page.mouse.click(box.x + box.width - 4, box.y + 20);
  await expect.poll(() => focused(view)).toBe('Step 12, Agent');
  await view.close();
});

test('of 10,000 events only what is on the screen is in the document, and the keys reach every one', async () => {
  const view = await openRecordingPage(browser, monologue(10_000));
  await view.page.getByText('10000 entries').waitFor();
  const rows = () => view.page.locator('article').count();
  expect(await rows()).toBeLessThan(60);
  const last = view.page.getByLabel('Step 9999, User');
  await view.page.locator('article').first().focus();
  await press(view, 'End');
  await expect.poll(() => focused(view)).toBe('Step 9999, User');
  expect([await last.getAttribute('aria-posinset'), await last.getAttribute('aria-setsize')]).toEqual([
    '10000',
    '10000',
  ]);
  expect(await last.isVisible()).toBe(true);
  await press(view, 'ArrowUp', 'ArrowUp', 'ArrowDown');
  await expect.poll(() => focused(view)).toBe('Step 9998, User');
  await press(view, 'Home', 'PageDown');
  await expect.poll(() => focused(view)).toMatch(/^Step ([5-9]|1\d), User$/);
  expect(await rows()).toBeLessThan(60);
  await view.close();
});

inFullSuite(
  'the focus stays with its entry while the list is scrolled far away, and the keys continue from there',
  async () => {
    const view = await openRecordingPage(browser, monologue(10_000));
    await view.page.getByText('10000 entries').waitFor();
    await view.page.locator('article').first().focus();
    await press(view, 'ArrowDown', 'ArrowDown');
    const scroller = view.page.locator('.scroller');
    for (const share of [0.5, 0.2, 0.9]) {
      await scroller.evaluate((element, at) => {
        element.scrollTop = element.scrollHeight * at;
      }, share);
      await expect
        .poll(() => scroller.evaluate((element) => element.querySelector('.row:nth-child(2)')?.getAttribute('data-n')))
        .not.toBe('1');
      expect(await focused(view)).toBe('Step 2, User');
    }
    await press(view, 'ArrowDown');
    await expect.poll(() => focused(view)).toBe('Step 3, User');
    expect(await view.page.getByLabel('Step 3, User').isVisible()).toBe(true);
    expect(await view.complaints()).toEqual([]);
    await view.close();
  },
);
