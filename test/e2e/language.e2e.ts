import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Writes a domain as a person does: colours, completion, a hover, a finding with its fix, a rename. */
const domain = copyDomain('order-desk');
const file = 'tasks/cancellations.task.yaml';
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, {
    ...pictured,
    // In a browser VS Code saves automatically, and saved changes cannot be reverted.
    settings: { ...pictured.settings, 'editor.hover.enabled': 'on', 'files.autoSave': 'off' },
  });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

/** Puts the cursor into a word of the open file. */
async function stepTo(path: string, words: string, into = 2): Promise<void> {
  const lines = readFileSync(join(domain.folder, path), 'utf8').split('\n');
  const line = lines.findIndex((each) => each.includes(words));
  await workbench.goToLine(line + 1);
  await workbench.press('Home', 'Home');
  for (let step = (lines[line] ?? '').indexOf(words) + into; step > 0; step--) await workbench.press('ArrowRight');
}

test('names in rules and policy have colours', async () => {
  await workbench.openFile('policy.md');
  await workbench.openFile('rules.yaml');
  await workbench.page.locator('.view-line', { hasText: 'find_customer_by_email' }).first().waitFor();
  await until('names have colours', async () => {
    const colours = await workbench.page
      .locator('.view-line span span')
      .evaluateAll((all) =>
        all.filter(({ textContent }) => textContent === 'get_order').map((each) => getComputedStyle(each).color),
      );
    const plain = await workbench.page
      .locator('.view-line span span')
      .evaluateAll((all) =>
        all.filter(({ textContent }) => textContent === 'before').map((each) => getComputedStyle(each).color),
      );
    expect(colours[0]).toBeDefined();
    expect(colours[0]).not.toBe(plain[0]);
  });
  await workbench.screenshot('language-rules');
});

test('a value of a gold action is completed from what the user knows and from the database', async () => {
  const { page } = workbench;
  await workbench.openFile(file);
  await workbench.waitForText('.codelens-decoration', 'Play as User');
  const line = domain.lineOf(file, 'tool: cancel_order');
  await workbench.replaceLine(line, '    - { tool: cancel_order, arguments: { order_id: W10 } }', { save: false });
  await workbench.press('ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'Control+Space');
  const rows = page.locator('.suggest-widget .monaco-list-row');
  await rows.filter({ hasText: 'W1014' }).first().waitFor();
  expect(await rows.first().textContent()).toContain('W1014');
  await workbench.screenshot('language-completion');
  await workbench.press('Escape', 'Escape');
  await workbench.runCommand('File: Revert File');
  await page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
});

test('a tool tells its arguments', async () => {
  await workbench.openFile(file);
  await stepTo(file, 'tool: cancel_order', 8);
  await workbench.press('Control+KeyK', 'Control+KeyI');
  await workbench.waitForText('.monaco-hover', /cancel_order[\s\S]*reason/);
  await workbench.screenshot('language-hover');
  await workbench.press('Escape');
});

test('a finding has its fix in the light bulb', async () => {
  const { page } = workbench;
  const original = readFileSync(join(domain.folder, file), 'utf8');
  const line = original.split('\n').findIndex((each) => each.includes('persona: patient'));
  await workbench.replaceLine(line + 1, '  persona: pateint', { save: false });
  await page.locator('.squiggly-error').first().waitFor();
  await stepTo(file, 'persona: patient', 12);
  const fix = page.locator('.action-widget .monaco-list-row', { hasText: 'Change pateint to patient' });
  await until('the fix', async () => {
    await workbench.press('Control+Period');
    await fix.waitFor({ timeout: 5000 });
    await workbench.screenshot('language-fix');
    // A list that is redrawn while it is clicked closes without an effect.
    await fix.click({ timeout: 3000 });
    await page.locator('.view-line', { hasText: 'pateint' }).waitFor({ state: 'detached', timeout: 3000 });
  });
  await page.locator('.squiggly-error').first().waitFor({ state: 'hidden' });
  await workbench.save();
  expect(readFileSync(join(domain.folder, file), 'utf8'), 'the fix gave the file back').toBe(original);
});

test('a rename changes every file and says what it does not follow', async () => {
  const { page } = workbench;
  const before = readFileSync(join(domain.folder, 'rules.yaml'), 'utf8');
  await workbench.openFile('rules.yaml');
  await stepTo('rules.yaml', 'orders[args.order_id].status', 24);
  await workbench.press('F2');
  await page.locator('.rename-box input').fill('stage');
  await workbench.press('Enter');
  await workbench.notification(/What tools return is not followed/);
  await workbench.screenshot('language-rename');
  await workbench.runCommand('File: Save All Files');
  await until('the rename is on the disk', async () => {
    const after = readFileSync(join(domain.folder, 'rules.yaml'), 'utf8');
    expect(after).toContain('orders[args.order_id].stage');
    expect(after).not.toContain('].status');
    expect(after.split('\n')).toHaveLength(before.split('\n').length);
    expect(readFileSync(join(domain.folder, 'database.json'), 'utf8')).toContain('"stage":"pending"');
  });
});
