import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Tries a tool of code on a temporary database, and changes a tool that is a file in its editor. */
const domain = copyDomain('order-desk');
const file = 'tools/weather.tool.yaml';
const original = `# What the sky says.
name: weather
description: The weather of a day. # short
behaviour: Answers sunny.
parameters:
  type: object
  properties:
    day: { type: string } # any word
  required: [day]
`;
const database = readFileSync(join(domain.folder, 'database.json'), 'utf8');
let workbench: Workbench;

beforeAll(async () => {
  mkdirSync(join(domain.folder, 'tools'));
  writeFileSync(join(domain.folder, file), original);
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const frame = () => workbench.webviewFrame();
const call = () => frame().getByRole('button', { name: 'Call cancel_order' }).click();

test('a tool of the Domains view opens with its schema and calls from tasks', async () => {
  await workbench.showViews();
  const row = (hasText: string) => workbench.page.locator('.pane-body .monaco-list-row', { hasText });
  await until('the tools', async () => {
    // A list that is being reloaded ignores clicks.
    if ((await row('Tools').getAttribute('aria-expanded', { timeout: 3000 })) === 'false') await row('Tools').click();
    await row('list_variants').waitFor({ timeout: 3000 });
  });
  await until('its row', async () => {
    await row('order-desk').or(row('get_order')).first().hover();
    await workbench.page.mouse.wheel(0, 60);
    await row('cancel_order').waitFor({ timeout: 1000 });
  });
  await row('cancel_order').click();
  await frame().getByRole('heading', { name: 'Tool cancel_order' }).waitFor();
  await frame().getByRole('heading', { name: 'Example calls' }).waitFor();
  await frame().getByLabel('order_id', { exact: true }).waitFor();
  await frame().getByText('mistaken-order').first().waitFor();
  for (const theme of ['light', 'high contrast', 'dark'] as const) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`tool-${theme.replace(' ', '-')}`);
  }
});

test('what does not fit is not called, and what fits shows its result and what it changed', async () => {
  await frame().getByLabel('order_id', { exact: true }).fill('W1014');
  await call();
  await frame().getByText('Not called: one value is not valid.').waitFor();
  await frame().getByText('the argument reason is missing.').waitFor();
  await workbench.screenshot('tool-invalid');
  await frame().getByLabel('reason', { exact: true }).selectOption('no longer needed');
  await call();
  await frame().getByText('✓ Result').waitFor();
  await frame().getByText('orders.W1014.status').waitFor();
  expect(await frame().locator('.changes').textContent()).toContain('"cancelled"');
  await workbench.screenshot('tool-called');
  await frame().getByLabel('order_id', { exact: true }).fill('W0');
  await call();
  await frame().getByText('✕ Error').waitFor();
  expect(readFileSync(join(domain.folder, 'database.json'), 'utf8')).toBe(database);
});

test('a simulated tool is changed by its form, comments kept, and undone', async () => {
  const onDisk = () => readFileSync(join(domain.folder, file), 'utf8');
  const saved = async (expected: string) => {
    await workbench.press('Control+S');
    await until('the file', async () => expect(onDisk()).toBe(expected));
  };
  await workbench.openFile(file);
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await frame().getByRole('heading', { name: 'General' }).waitFor();
  await frame().getByText('domain.yaml names none').waitFor();
  await frame().getByRole('group', { name: 'day' }).getByLabel('Type').selectOption('integer');
  await saved(original.replace('{ type: string } # any', '{ type: integer } # any'));
  await frame().getByRole('group', { name: 'day' }).getByLabel('Type').focus();
  await workbench.press('Control+Z');
  await saved(original);
  await workbench.screenshot('tool-editor');
});
