import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pictured } from './support/picture.ts';
import { recordingsIn } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Goes from a fresh clone to reward 1, and through the outputs of a run, with the keyboard alone. */
const domain = copyDomain('order-desk');
const recordings = recordingsIn(join(domain.folder, '.rehearsal', 'runs'));
const rule = domain.lineOf('policy.md', '{#confirm-before-write}');
const asking = 'I can change the desk lamp in W1138 to white. Shall I do that?';
let workbench: Workbench;

type Counting = { presses: number };

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, pictured);
  await workbench.page.evaluate(() => {
    const counting = window as unknown as Counting;
    counting.presses = 0;
    document.addEventListener('mousedown', () => (counting.presses += 1), true);
  });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

/** Returns the text of the element that has the focus; in a list, of its row. */
const focused = () =>
  workbench.page.evaluate(() => {
    const own = document.activeElement;
    const row = own?.matches('.monaco-list') ? own.querySelector('.monaco-list-row.focused') : own;
    return `${row?.getAttribute('aria-label') ?? ''} ${row?.textContent ?? ''}`;
  });

/** Presses a key until the element with the focus has this text. */
const reach = async (key: string, label: RegExp, limit?: number): Promise<void> => {
  for (let before = await focused(); !label.test(before); before = await focused()) {
    await workbench.press(key);
    const isMoved = async () => expect(await focused()).not.toBe(before);
    await until(`another focus than "${before}"`, isMoved, limit);
  }
};

/** Reaches a row of a view. A debug session that has ended can take the focus once more, so the view is entered again. */
const reachIn = (view: string, label: RegExp): Promise<void> =>
  until(`${label} in ${view}`, async () => {
    await enter(view);
    await reach('ArrowDown', label, 5000);
  });

/** Runs a command of the palette with the keyboard. */
const run = async (title: string): Promise<void> => {
  const { page } = workbench;
  const focused = page.locator('.quick-input-widget .monaco-list-row.focused', { hasText: title });
  // VS Code computes the list once, so the palette is reopened until it has the command.
  await until(title, async () => {
    await workbench.press('Escape', 'F1');
    await page.locator('.quick-input-widget input.input').fill(`>${title}`, { timeout: 5000 });
    await focused.waitFor({ timeout: 5000 });
  });
  await workbench.press('Enter');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
};

/** Moves into a view once it has rows: VS Code leaves the focus where it is if a list is empty. */
const enter = async (view: string): Promise<void> => {
  const pane = workbench.page.locator('.pane', {
    has: workbench.page.locator(`.pane-header[aria-label^="${view}"]`),
  });
  await run(`Focus on ${view} View`);
  await pane.locator('.monaco-list-row').first().waitFor();
  // A debug session that ends, or a view that loads, can take the focus.
  await until(`the focus in ${view}`, async () => {
    await run(`Focus on ${view} View`);
    await pane.locator('.monaco-list:focus').waitFor({ timeout: 5000 });
  });
};

test('a task of the Domains view is opened, debugged, answered differently and rewarded', async () => {
  const { debug, page } = workbench;
  await enter('Domains');
  await page.locator('.monaco-list-row', { hasText: 'mistaken-order' }).waitFor();
  await reach('ArrowDown', /mistaken-order/);
  await workbench.press('Enter');
  await page.locator('.tab.active', { hasText: 'cancellations.task.yaml' }).waitFor();
  // The row with the focus is debugged, and not the task that is open.
  await enter('Domains');
  await reach('ArrowDown', /lamp-variant/);
  await debug.start();
  await debug.stoppedAt(rule);
  await run('Rehearsal: Edit What the Agent Says…');
  // The palette is the same widget, and is empty before it closes.
  await page.locator('.quick-input-widget', { hasText: "Your message replaces the agent's call" }).waitFor();
  expect(await page.locator('.quick-input-box input').inputValue()).toBe('');
  await workbench.answer(asking);
  await debug.waitForConsole('--- fork:');
  // F5 does nothing before VS Code has shown where the fork stops.
  await debug.standsAt('agent: I can change the desk lamp');
  await workbench.press('Alt+F11');
  await until('the step before', async () => expect((await debug.callStack())[0]).not.toContain('agent: I can change'));
  await workbench.press('F5');
  await debug.standsAt('reward 1');
  await debug.waitForConsole(/REWARD 1\b/);
  await workbench.screenshot('keyboard-reward');
  await workbench.press('F5');
  await debug.ended();
  expect(recordings.events('lamp-variant.0.fork-1.traj.jsonl').find(({ type }) => type === 'rewarded')?.reward).toBe(1);
  expect(await page.evaluate(() => (window as unknown as Counting).presses)).toBe(0);
});

test('the rows of the Runs view are opened and debugged', async () => {
  const { debug, page } = workbench;
  const row = (level: number) =>
    page
      .locator('.pane', { has: page.locator('.pane-header[aria-label^="Runs"]') })
      .locator(`.monaco-list-row[aria-level="${level}"]`);
  // The debug session that has ended can take the focus once more.
  await until('the task of the run', async () => {
    await reachIn('Runs', /best fork: reward 1/);
    await workbench.press('ArrowRight');
    await row(2).first().waitFor({ timeout: 5000 });
  });
  await reach('ArrowDown', /1 fork/);
  await workbench.press('ArrowRight');
  await row(3).first().waitFor();
  await reach('ArrowDown', /^fork 1/);
  await workbench.press('Enter');
  await page.locator('.tab.active', { hasText: 'fork-1.traj.jsonl' }).waitFor();
  await workbench.webviewFrame().getByRole('button', { name: 'Debug This Recording' }).waitFor();
  await chooseInMenu(/^fork 1/, 'Debug Recording');
  await debug.paused();
  await workbench.press('Shift+F5');
  await debug.ended();
  await run('View: Close All Editors');
  await reachIn('Runs', /^fork 1/);
  await debug.start();
  await debug.paused();
  await workbench.press('Shift+F5');
  await debug.ended();
  await reachIn('Forks', /^fork 1/);
  await debug.start();
  await debug.paused();
  await workbench.press('Shift+F5');
  await debug.ended();
  expect(await page.evaluate(() => (window as unknown as Counting).presses)).toBe(0);
});

test('two recordings are compared', async () => {
  const { page } = workbench;
  await run('View: Close All Editors');
  await run('Rehearsal: Compare Recordings…');
  await workbench.answer('lamp-variant.0.fork-1');
  await workbench.answer('lamp-variant.0.traj');
  await page.locator('.tab.active', { hasText: 'lamp-variant.0 ↔ lamp-variant.0.fork-1' }).waitFor();
  await workbench.webviewFrame().getByText('Two recordings of lamp-variant').waitFor();
  expect(await page.evaluate(() => (window as unknown as Counting).presses)).toBe(0);
});

/** Chooses an item of the context menu of a row of the Runs view. */
async function chooseInMenu(row: RegExp, item: string): Promise<void> {
  const menu = workbench.page.locator('.monaco-menu');
  const chosen = menu.locator('.action-item.focused', { hasText: item });
  // A view that loads takes the focus.
  await until(`the menu of ${row}`, async () => {
    await reachIn('Runs', row);
    await workbench.press('Shift+F10');
    await menu.waitFor({ timeout: 5000 });
  });
  await until(item, async () => {
    await workbench.press('ArrowDown');
    await chosen.waitFor({ timeout: 500 });
  });
  await workbench.press('Enter');
}
