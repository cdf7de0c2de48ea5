import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linesOf } from '../support/jsonLines.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Creates cold-start data from the palette, reviews it, and shows it as the trainer trains on it. */
const domain = copyDomain('parcel-desk');
const root = join(domain.folder, '.rehearsal', 'synth');
const minutes = 60_000;
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, { settings: { 'rehearsal.trainer.model': 'tiny' } });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

type Row = { readonly recording: string; readonly accepted: boolean; readonly why: string; readonly outcome: string };

function selection(): readonly Row[] {
  const [id = ''] = readdirSync(root);
  return linesOf<Row>(join(root, id, 'selection.jsonl'));
}

const callStack = '.pane-header[aria-label="Call Stack Section"]';
const activeTab = () =>
  workbench.page
    .locator('.editor-group-container.active .tab.active')
    .textContent()
    .then((text) => text ?? '');

test('without any the spot check says how to begin', async () => {
  await workbench.runCommand('Rehearsal: Spot-Check Cold-Start Trajectories');
  await workbench.notification('There are no cold-start trajectories in this workspace yet.');
});

test('trajectories are synthesized with progress, and lead to the spot check', { timeout: 3 * minutes }, async () => {
  await workbench.runCommand('Rehearsal: Synthesize Cold-Start Trajectories…');
  await workbench.pick('The gold seat');
  await workbench.answer('12');
  await until('the selection', async () => expect(existsSync(root) && selection().length).toBeTruthy(), 2 * minutes);
  await workbench.notification('12 of 12 trajectories to learn from: 9 successes, 3 near-misses.', 'Spot-Check');
  expect(selection().filter(({ accepted }) => accepted).length).toBe(12);
  await workbench.waitForText('.pane-body', '0 of 12 checked. No grade to compare with yet.');
  await workbench.webviewFrame().locator('article').first().waitFor();
  await workbench.screenshot('spot-check');
});

test('the keyboard accepts one and rejects the next, and the selection follows', async () => {
  const first = await activeTab();
  await workbench.press('Control+Enter');
  await workbench.waitForText('.pane-body', '1 of 12 checked.');
  await until('the next one', async () => expect(await activeTab()).not.toBe(first));
  await workbench.webviewFrame().locator('article').first().waitFor();
  const second = (await activeTab()).trim();
  await workbench.press('Control+Backspace');
  await workbench.waitForText('.pane-body', '2 of 12 checked.');
  await workbench.waitForText('.pane-body', /accepted ·[\s\S]*rejected ·/);
  const [rejected, ...more] = selection().filter(({ why }) => why === 'rejected in the spot check');
  expect([more, rejected?.accepted, rejected?.recording.endsWith(second)]).toEqual([[], false, true]);
  await workbench.screenshot('spot-check-decided');
});

test('an edit opens the debugger, and its fork takes the place of its parent', { timeout: 2 * minutes }, async () => {
  await workbench.webviewFrame().locator('article').first().waitFor();
  const parent = (await activeTab()).trim();
  await workbench.runCommand('Rehearsal: Edit Trajectory by Fork');
  await workbench.debug.paused();
  await workbench.debug.show();
  await workbench.waitForText(callStack, 'of the recording');
  await workbench.debug.press('step-into');
  await workbench.waitForText(callStack, "the task's initial state is set up");
  await workbench.screenshot('spot-check-debugging');
  await workbench.runCommand('Rehearsal: Fork from Here');
  await workbench.debug.waitForConsole('--- fork');
  const fork = parent.replace('.traj.jsonl', '.fork-1.traj.jsonl');
  await until('the fork', async () => {
    const folder = readdirSync(root, { recursive: true, encoding: 'utf8' });
    expect(folder.some((file) => file.endsWith(fork))).toBe(true);
  });
  await workbench.debug.press('continue');
  const isWhole = () => {
    const file = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((each) => each.endsWith(fork)) ?? '';
    return readFileSync(join(root, file), 'utf8').includes('"type":"rewarded"');
  };
  await until('its reward', async () => expect(isWhole()).toBe(true), minutes);
  await workbench.press('Shift+F5');
  await workbench.pick(fork.replace('.traj.jsonl', ''));
  await workbench.waitForText('.pane-body', '3 of 12 checked.');
  const [taken] = selection().filter(({ recording }) => recording.endsWith(fork));
  const [left] = selection().filter(({ why }) => why.startsWith('its fork'));
  expect([taken?.accepted, left?.accepted, left?.recording.endsWith(parent)]).toEqual([true, false, true]);
  await workbench.screenshot('spot-check-forked');
});

test('the trainer shows the text that a model is trained on, and what of it trains', {
  timeout: 5 * minutes,
}, async () => {
  await workbench.runCommand('Rehearsal: Spot-Check Cold-Start Trajectories');
  await workbench.webviewFrame().locator('article').first().waitFor();
  await workbench.runCommand('Rehearsal: Preview Training Text');
  const frame = workbench.webviewFrame();
  await frame.getByText(/[\d,]+ of [\d,]+ tokens \(\d+ %\)/).waitFor({ timeout: 4 * minutes });
  const marks = await frame.locator('.text mark').allInnerTexts();
  expect(marks.length).toBeGreaterThan(1);
  for (const mark of marks) expect(mark).toContain('<|im_end|>');
  for (const theme of ['light', 'high contrast', 'dark'] as const) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`training-text-${theme.replace(' ', '-')}`);
  }
});
