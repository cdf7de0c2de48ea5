import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Changes a persona in its visual editor, undoes it, and opens it as text again. */
const domain = copyDomain('order-desk');
const path = 'personas/hurried.persona.yaml';
const original = readFileSync(join(domain.folder, path), 'utf8');
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const onDisk = () => readFileSync(join(domain.folder, path), 'utf8');
const frame = () => workbench.webviewFrame();

async function saved(expected: string): Promise<void> {
  await workbench.press('Control+S');
  await until('the file', async () => expect(onDisk()).toBe(expected));
}

test('the button in the title shows the persona as a form', async () => {
  await workbench.openFile(path);
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await frame().getByRole('heading', { name: 'Character' }).waitFor();
  expect(await frame().getByLabel('Id', { exact: true }).inputValue()).toBe('hurried');
  expect(await frame().getByLabel('Leaves out key information').isChecked()).toBe(true);
  expect(await workbench.page.locator('.tab').count()).toBe(1);
  await workbench.screenshot('persona-editor');
});

test('an edit changes its own bytes and no other, and undo gives the file back', async () => {
  await frame().getByLabel('Insists on what is forbidden').check();
  await saved(`${original}  insists: true\n`);
  await workbench.press('Control+Z');
  await until('undone', async () =>
    expect(await frame().getByLabel('Insists on what is forbidden').isChecked()).toBe(false),
  );
  await saved(original);
  await frame().getByLabel('Description').fill('Types on the way to the train.');
  await saved(original.replace(/^description: .*$/m, 'description: Types on the way to the train.'));
  await workbench.press('Control+Z');
  await saved(original);
  expect(await frame().getByLabel('Description').inputValue()).toContain('Leaves things out');
});

test('the prompt follows the form', async () => {
  await frame().getByText('The exact prompt of the first message').click();
  const prompt = frame().locator('details pre');
  expect(await prompt.textContent()).toContain('leave out numbers, names and other details');
  await frame().getByLabel('Leaves out key information').uncheck();
  await until('the prompt', async () => expect(await prompt.textContent()).not.toContain('leave out numbers'));
  await workbench.press('Control+Z');
  await saved(original);
});

test('its first messages are previewed without a model', async () => {
  await frame().getByRole('button', { name: 'Preview First Messages' }).click();
  await frame().getByRole('list', { name: 'Preview' }).getByText('Need a different address for my order.').waitFor();
  expect(await frame().getByText('with the agenda user and the gold seat').count()).toBe(1);
  await workbench.screenshot('persona-editor-preview');
});

test('once the task was played, the agent says in the preview what it said then', async () => {
  const task = await frame().getByLabel('Task').inputValue();
  const out = join(domain.folder, '.rehearsal', 'runs', '20260101-000000-gold');
  // Another seed has other words than a preview with the gold seat.
  const words = ['eval', domain.folder, '--agent', 'gold', '--tasks', task, '--seed', 'other', '--out', out];
  execFileSync(process.execPath, [inRoot('dist', 'rehearsal.mjs'), ...words], { stdio: 'ignore' });
  const said = readRecording(join(out, `${task}.0.traj.jsonl`)).lines.flatMap(({ event }) =>
    event.type === 'agentReplied' && event.content ? [event.content] : [],
  );
  const agent = frame().getByRole('list', { name: 'Preview' }).locator('li.agent');
  const shown = async () => (await agent.allTextContents()).map((text) => text.replace(/^Agent/, ''));
  expect(said).not.toContain((await shown())[0]);
  await frame().getByRole('button', { name: 'Preview First Messages' }).click();
  await frame().getByText(`${task}, with the agenda user and the agent's recorded messages`).waitFor();
  const now = await shown();
  expect(now).toEqual(said.slice(0, now.length));
  expect(await frame().getByRole('list', { name: 'Preview' }).locator('li.user').count()).toBe(3);
  await workbench.screenshot('persona-editor-recorded');
});

test('the text is one click away, and errors in it are reported without a write', async () => {
  await frame().getByRole('button', { name: 'Open as Text' }).click();
  await workbench.waitForText('.editor-instance .view-lines', 'id: hurried');
  expect(await workbench.page.locator('.tab').count()).toBe(1);
  await workbench.replaceLine(4, 'patience: many');
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await frame()
    .getByText(/Line 4: .*patience/)
    .waitFor();
  await workbench.screenshot('persona-editor-broken');
  expect(onDisk()).toContain('patience: many');
  await frame().getByRole('button', { name: 'Show Line 4 in the Text' }).click();
  await workbench.waitForText('.part.statusbar', 'Ln 4,');
  await workbench.page.locator('.view-line', { hasText: 'patience: many' }).click();
  await workbench.replaceLine(4, 'patience: 3: 4');
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await frame()
    .getByText(/This is not YAML/)
    .waitFor();
  expect(onDisk()).toContain('patience: 3: 4');
});
