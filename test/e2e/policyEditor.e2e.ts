import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rehearsal } from '../support/terminal.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Shows the rules of a policy as cards with the last run's results; rules are reworded, added, moved and removed. */
const domain = copyDomain('order-desk');
const original = readFileSync(join(domain.folder, 'policy.md'), 'utf8');
let workbench: Workbench;

beforeAll(async () => {
  const out = join(domain.folder, '.rehearsal', 'runs', 'first');
  await rehearsal('eval', domain.folder, '--tasks', 'lamp-variant', '--agent', 'scripted', '--out', out);
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const onDisk = () => readFileSync(join(domain.folder, 'policy.md'), 'utf8');
const frame = () => workbench.webviewFrame();
const rule = () => frame().getByRole('article', { name: 'Rule confirm-before-write' });

/** Whether an element of the form is completely in the visible part of the page. */
const isInView = (element: Locator) =>
  element.evaluate((each) => {
    const { top, bottom } = each.getBoundingClientRect();
    return top >= 0 && bottom <= (each.ownerDocument.defaultView?.innerHeight ?? 0);
  });

async function saved(expected: string): Promise<void> {
  await workbench.press('Control+S');
  await until('the file', async () => expect(onDisk()).toBe(expected));
}

test('a rule shows its check, the tasks that exercise it and its violations', async () => {
  await workbench.openFile('policy.md');
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await rule().waitFor();
  await rule().getByText('confirmed').waitFor();
  expect(await rule().textContent()).toContain('a violation makes the reward 0');
  expect(
    await rule()
      .getByRole('button', { name: /^Open task/ })
      .count(),
  ).toBeGreaterThan(3);
  expect(await rule().textContent()).toMatch(/Last run: violated (?:once|\d+ times), held/);
  await rule().scrollIntoViewIfNeeded();
  await workbench.screenshot('policy-editor');
});

test('its words change, its mark and every other byte stay, and undo gives them back', async () => {
  const words = rule().getByRole('textbox', { name: 'Text' });
  const old = await words.inputValue();
  await words.fill(`${old} Always.`);
  await until('the change', async () => {
    await workbench.press('Control+S');
    expect(onDisk()).toBe(original.replace('wait again. {#confirm', 'wait again. Always. {#confirm'));
  });
  await workbench.press('Control+Z');
  await until('the words as they were', async () => expect(await words.inputValue()).toBe(old));
  await saved(original);
});

test('words that would make two rules of it are refused, and nothing is written', async () => {
  const words = rule().getByRole('textbox', { name: 'Text' });
  const old = await words.inputValue();
  await words.fill('One.\n\n- Two.');
  await rule().getByText('Not written to the file: that would no longer be one rule').waitFor();
  await workbench.screenshot('policy-refused');
  await words.press('Escape');
  await until('the words as they were', async () => expect(await words.inputValue()).toBe(old));
  expect(onDisk()).toBe(original);
});

test('a rule is added, moved up and removed, and what is refused says why', async () => {
  const section = frame().getByRole('region').filter({ has: rule() });
  await section.getByRole('button', { name: /^Add Rule to/ }).click();
  const form = section.getByRole('group', { name: /^New rule of/ });
  const words = form.getByRole('textbox', { name: 'What the agent has to do' });
  await until('the cursor in the first field', async () => {
    expect(await words.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
  });
  await until('the form in view', async () => expect(await isInView(form)).toBe(true));
  await words.press('Escape');
  await form.waitFor({ state: 'detached' });
  const opener = section.locator('vscode-button[aria-label^="Add Rule to"]:focus');
  await opener.waitFor();
  await opener.press('Enter');
  await words.fill('Thank the customer at the end.');
  await form.getByRole('textbox', { name: 'Id' }).fill('confirm-before-write');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await form.getByText('Not written to the file: another rule has the id').waitFor();
  await workbench.screenshot('policy-new-rule');
  await form.getByRole('textbox', { name: 'Id' }).fill('thank');
  await form.getByRole('textbox', { name: 'Id' }).press('Enter');
  const added = frame().getByRole('article', { name: 'Rule thank' });
  await until('the new rule in view', async () => expect(await isInView(added)).toBe(true));
  await added.getByRole('button', { name: 'Move up rule thank' }).click();
  const item = '- Thank the customer at the end. {#thank}\n';
  await until('the rule, one place up', async () => {
    await workbench.press('Control+S');
    const lines = onDisk().split('\n');
    expect(onDisk().replace(item, '')).toBe(original);
    expect(lines[lines.indexOf(item.trim()) + 1]).toMatch(/^- /);
  });
  await workbench.screenshot('policy-moved-rule');
  await added.getByRole('button', { name: 'Remove rule thank' }).click();
  await saved(original);
});

test('its check opens beside it', async () => {
  await rule()
    .getByRole('button', { name: /^Open check confirmed at rules.yaml/ })
    .click();
  await workbench.waitForText('.editor-group-container.active .tab.active', /rules\s*\.yaml/);
  await workbench.waitForText('.part.statusbar', `Ln ${domain.lineOf('rules.yaml', '- rule: confirm-before-write')},`);
});
