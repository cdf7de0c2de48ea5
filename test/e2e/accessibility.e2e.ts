import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameLocator, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rehearsal } from '../support/terminal.ts';
import { auditCharts } from './support/charts.ts';
import { writeTrainingRun } from './support/dashboard.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Checks the accessible names and roles of views and charts, and that buttons have icons that tell them apart. */
const domain = copyDomain('parcel-desk');
let workbench: Workbench;

beforeAll(async () => {
  const work = join(domain.folder, '.rehearsal');
  const log = join(domain.folder, 'chats.jsonl');
  const [asked, answered] = ['Where is parcel P46?', 'It is on its way.'];
  const messages = [
    { role: 'user', content: asked },
    { role: 'assistant', content: answered },
  ];
  writeFileSync(log, `${JSON.stringify({ id: 'chat-1', messages })}\n`);
  const imported = join(work, 'runs', '20260102-100000-chats');
  for (const command of [
    ['eval', domain.folder, '--agent', 'gold', '--out', join(work, 'runs', '20260101-100000-gold')],
    ['eval', domain.folder, '--agent', 'gold', '--out', join(work, 'runs', '20260101-090000-before')],
    ['synth', domain.folder, '--count', '2', '--near-misses', '0', '--out', join(work, 'synth', 'made')],
    ['import', 'chats', log, '--domain', domain.folder, '--out', imported, '--yes'],
  ]) {
    const { code, err } = await rehearsal(...command);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${err}`);
  }
  writeTrainingRun(domain.folder, domain.folder);
  workbench = await Workbench.open(domain.folder, { viewport: { width: 1440, height: 1600 } });
  await workbench.showViews();
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const pane = (name: string): Locator =>
  workbench.page.locator('.pane').filter({ has: workbench.page.locator(`.pane-header[aria-label^="${name}"]`) });

/** Returns the rows of a view: their visible text, and their accessible name. */
const rowsOf = (name: string) =>
  pane(name)
    .locator('.monaco-list-row')
    .evaluateAll((rows) =>
      rows.map((row) => ({
        seen: row.querySelector('.label-name')?.textContent ?? '',
        state: row.querySelector('.label-description')?.textContent ?? '',
        read: row.getAttribute('aria-label') ?? '',
        place: ['aria-level', 'aria-posinset', 'aria-setsize'].map((each) => Number(row.getAttribute(each))),
      })),
    );

/** Opens a row of a view down to its last level. */
const openRow = async (name: string, first: RegExp): Promise<void> => {
  const rows = (level: number) => pane(name).locator(`.monaco-list-row[aria-level="${level}"]`);
  let row = rows(1).filter({ hasText: first }).first();
  for (let level = 2; (await row.getAttribute('aria-expanded')) === 'false'; level += 1) {
    await row.locator('.monaco-tl-twistie').click();
    row = rows(level).first();
    await row.waitFor();
  }
};

/** Views whose rows are loaded by a command. */
const commands: Readonly<Record<string, string>> = {
  'Spot Check': 'Rehearsal: Spot-Check Cold-Start Trajectories',
  Intents: 'Rehearsal: Show Intents without a Task',
};

test.each(['Domains', 'Runs', 'Training', 'Spot Check', 'Intents', 'Forks'])(
  'each row of %s is read with its name, its state, its level and its position',
  async (name) => {
    if (name === 'Forks') await debugRecording();
    const command = commands[name];
    if (command) await workbench.runCommand(command);
    const header = workbench.page.locator(`.pane-header[aria-label^="${name}"]`);
    if ((await header.getAttribute('aria-expanded')) === 'false') await header.click();
    await until(`rows of ${name}`, async () => expect((await rowsOf(name)).length).toBeGreaterThan(0));
    if (name === 'Runs') await openRow(name, /^gold/);
    if (name === 'Intents') await openRow(name, /conversation/);
    for (const { seen, state, read, place } of await rowsOf(name)) {
      expect(seen).not.toBe('');
      expect(read.startsWith(seen), `"${seen}" is read as "${read}"`).toBe(true);
      for (const part of state.split(' · ').filter((each) => each !== 'shown'))
        expect(read, `"${state}" of "${seen}"`).toContain(part);
      expect(place.every((each) => each > 0)).toBe(true);
    }
    // The buttons of a row are drawn under the pointer, and for the row in focus.
    await pane(name).locator('.monaco-list-row').first().hover();
    const buttons = await pane(name)
      .locator('.pane-header .action-label, .monaco-list-row .action-label')
      .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label') ?? ''));
    for (const button of buttons) expect(button).not.toBe('');
    await workbench.screenshot(`accessible-${name.toLowerCase().replace(' ', '-')}`);
  },
);

/** Shows a recording of the run in the debugger. */
async function debugRecording(): Promise<void> {
  const { debug, page } = workbench;
  await workbench.showViews();
  await pane('Runs').locator('.monaco-list-row[aria-label*=".0, "]').first().click();
  await workbench.webviewFrame().getByRole('button', { name: 'Debug This Recording' }).click();
  await debug.paused();
  await page.locator('.debug-variables').waitFor();
}

test('each chart is read with its name and its values, and one with points also with its position', async () => {
  await workbench.showViews();
  await pane('Training').locator('.monaco-list-row').first().click();
  const dashboard = workbench.webviewFrame();
  await dashboard.locator('section[aria-label="Reward"] canvas').waitFor();
  expect(await chartsIn(dashboard)).toEqual(
    expect.arrayContaining([
      [expect.stringMatching(/^Reward/), 'Optimizer step 2, Reward 0.500'],
      [expect.stringMatching(/^Loss/), expect.stringMatching(/^Optimizer step 2, /)],
    ]),
  );
  await dashboard.locator('section[aria-label="Reward"]').getByRole('slider').focus();
  await workbench.press('Home');
  expect(await chartsIn(dashboard)).toContainEqual([expect.anything(), 'Optimizer step 1, Reward 0.250']);

  await pane('Runs').locator('.monaco-list-row[aria-label*=".0, "]').first().click();
  const recording = workbench.webviewFrame();
  await recording.getByRole('slider').waitFor();
  expect(await chartsIn(recording)).toEqual([['Turn', expect.stringMatching(/^Before the first turn: user /)]]);

  const run = (name: RegExp) => pane('Runs').locator('.monaco-list-row', { hasText: name }).first();
  await run(/^gold/).click();
  await run(/^before/).click({ modifiers: ['Control'] });
  await workbench.chooseInMenu(run(/^before/), 'Compare Runs…');
  const comparison = workbench.webviewFrame();
  await comparison.locator('canvas').waitFor();
  expect(await chartsIn(comparison)).toEqual([[expect.stringMatching(/^pass\^k of the runs\. .*1\.00/), null]]);
});

/** Returns the names and values of the charts of a view, after a check that none lacks anything. */
async function chartsIn(view: FrameLocator): Promise<readonly (readonly [string, string | null])[]> {
  const { charts, problems } = await view.locator('body').evaluate(auditCharts);
  expect(problems).toEqual([]);
  return charts.map(({ name, value }) => [name, value] as const);
}

test('no two buttons in the toolbar of policy.md have one icon', async () => {
  await workbench.openFile('policy.md');
  const icons = () =>
    workbench.page
      .locator('.editor-actions .action-label.codicon')
      .evaluateAll((all) =>
        all.map((each) => [...each.classList].filter((name) => /^codicon-(?!modifier)/.test(name)).join(' ')),
      );
  await until('the form button', async () => expect(await icons()).toContain('codicon-layout'));
  const found = await icons();
  expect(new Set(found).size).toBe(found.length);
  const pictures = await workbench.page
    .locator('.editor-actions .action-label.codicon')
    .evaluateAll((all) => all.map((each) => getComputedStyle(each, '::before').content));
  expect(new Set(pictures).size).toBe(pictures.length);
});
