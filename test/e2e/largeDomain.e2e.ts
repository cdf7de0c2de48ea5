import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyLargeDomain } from '../support/largeDomain.ts';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** A domain with 2,000 more tasks and a database of 40 MB. */
const domain = copyDomain('order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', '{#confirm-before-write}');
let workbench: Workbench;

beforeAll(async () => {
  copyLargeDomain(domain.folder);
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('F5 stops on the rule, and VARIABLES has the database', async () => {
  const { debug } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await debug.show();
  await debug.expand('Database', 'orders');
  await workbench.screenshot('large-debugged');
  await debug.press('stop');
  await debug.ended();
});

test('the form opens, and an edit is in the text', async () => {
  const frame = () => workbench.webviewFrame();
  await workbench.openFile(task);
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByLabel('Description', { exact: true }).fill('A lamp of a large shop.');
  await until('the file', async () => {
    await workbench.press('Control+S');
    expect(readFileSync(join(domain.folder, task), 'utf8')).toContain('A lamp of a large shop.');
  });
});

test('a keystroke has its finding, and the Testing view lists the tasks in pages', async () => {
  const { page } = workbench;
  const many = 'tasks/many-1.task.yaml';
  const finding = page.locator('.editor-group-container.active .squiggly-error');
  await workbench.openFile(many);
  await workbench.goToLine(domain.lineOf(many, 'persona: forgetful'));
  await workbench.press('End');
  await page.keyboard.type('x');
  await finding.first().waitFor();
  await workbench.screenshot('large-finding');
  await workbench.press('Backspace');
  await finding.first().waitFor({ state: 'hidden' });
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  const row = (label: string) => page.locator('.test-explorer .monaco-list-row', { hasText: label }).first();
  for (const [group, first] of [
    ['order-desk', 'train'],
    ['train', 'many-1'],
    ['many-1', 'many-1-0'],
  ] as const)
    await until(first, async () => {
      if ((await row(group).getAttribute('aria-expanded')) !== 'true') {
        await row(group).click({ timeout: 5000 });
        await workbench.press('ArrowRight');
      }
      await row(first).waitFor({ timeout: 5000 });
    });
  // The task was read while its text had the error.
  const error = page.locator('.test-explorer').getByText('There is no persona');
  await until('no error on the task', async () => expect(await error.count()).toBe(0));
  await workbench.screenshot('large-tests');
});
