import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Task } from '../../src/engine/core/domain/task.ts';
import { recordingsIn } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Changes a task of a list in its editor, undoes it, and plays it with the gold seat. */
const domain = copyDomain('order-desk');
const path = 'tasks/cancellations.task.yaml';
const original = readFileSync(join(domain.folder, path), 'utf8');
const lamp = 'tasks/lamp-variant.task.yaml';
const lampText = readFileSync(join(domain.folder, lamp), 'utf8');
/** Two tasks; the second merges the keys that it does not have. */
const shared = 'tasks/shared.task.yaml';
const sharedText = `- &first
  id: shared-first
  description: The customer wants an order cancelled.
  split: train
  persona: patient
  user:
    goal: You want to cancel order W1014.
    known: { order_id: W1014, email: femi.lindqvist@example.com, reason: ordered by mistake }
  actions:
    - { tool: find_customer_by_email, arguments: { email: femi.lindqvist@example.com } }
    - { tool: get_order, arguments: { order_id: W1014 } }
    - { tool: cancel_order, arguments: { order_id: W1014, reason: ordered by mistake } }
- <<: *first
  id: shared-second
  persona: hurried
`;
let workbench: Workbench;

beforeAll(async () => {
  writeFileSync(join(domain.folder, shared), sharedText);
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const onDisk = (file = path) => readFileSync(join(domain.folder, file), 'utf8');
const frame = () => workbench.webviewFrame();

async function saved(expected: string, file = path): Promise<void> {
  await until('the file', async () => {
    await workbench.press('Control+S');
    expect(onDisk(file)).toBe(expected);
  });
}

test('a task of the list opens as a form, with its gold actions by schema', async () => {
  await workbench.openFile(path);
  // The task at the cursor is shown first.
  await workbench.goToLine(original.split('\n').indexOf('- id: partners-order') + 3);
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await frame().getByLabel('Goal', { exact: true }).waitFor();
  expect(await frame().getByLabel('Id', { exact: true }).inputValue()).toBe('partners-order');
  const areas = frame().locator('textarea');
  const cut = areas.evaluateAll((all) => all.filter((each) => each.scrollHeight > each.clientHeight + 1).length);
  expect(await cut, 'text areas that show a part of their text').toBe(0);
  await frame().getByLabel('Task (3 in this file)').selectOption({ label: 'forgotten-number' });
  await until('the task', async () =>
    expect(await frame().getByLabel('Id', { exact: true }).inputValue()).toBe('forgotten-number'),
  );
  await frame().getByText('4. cancel_order').click();
  await frame().getByLabel('reason', { exact: true }).last().waitFor();
  await workbench.screenshot('task-editor');
});

test('edits change their own bytes and no other, and undo gives the file back', async () => {
  await frame().getByRole('textbox', { name: 'order_id' }).last().fill('W1033');
  await saved(original.replace('order_id: W1032, reason', 'order_id: W1033, reason'));
  await workbench.press('Control+Z');
  await saved(original);
  await frame().getByLabel('Required texts').fill('5 to 7 business days\nsoon');
  const [first = '', second = '', third = ''] = original.split(/(?<=\n)(?=- id)/);
  await saved([first, second.replace('[5 to 7 business days]', '[5 to 7 business days, soon]'), third].join(''));
  await workbench.press('Control+Z');
  await saved(original);
});

test('invalid arguments are reported next to the field', async () => {
  await frame().getByRole('textbox', { name: 'order_id' }).last().fill('');
  await frame().getByText('the argument order_id is missing.').first().waitFor();
  await workbench.screenshot('task-misfit');
  await workbench.press('Control+Z');
  await saved(original);
});

test('a cleared id keeps the form, with the error at its field and in the file what was typed', async () => {
  const id = frame().getByLabel('Id', { exact: true });
  await id.fill('');
  const reason = frame().getByText('a task id is at most 160 letters');
  await frame()
    .getByText(/^Line \d+: the error is shown at its field\.$/)
    .waitFor();
  expect(await reason.count(), 'the error, once').toBe(1);
  expect([await id.inputValue(), await id.getAttribute('aria-invalid')]).toEqual(['', 'true']);
  expect(await frame().getByLabel('Goal', { exact: true }).inputValue()).toContain('order');
  expect(await frame().getByRole('button', { name: 'Play Gold' }).isDisabled()).toBe(true);
  await saved(original.replace('id: forgotten-number', 'id: ""'));
  await workbench.screenshot('task-without-id');
  await id.fill('new-number');
  await until('no error', async () => expect(await reason.count()).toBe(0));
  await saved(original.replace('id: forgotten-number', 'id: "new-number"'));
  await workbench.press('Control+Z', 'Control+Z');
  await saved(original);
});

test('an error that a check finds is at its field, and a fact keeps a value that is not of the chosen kind', async () => {
  const now = frame().getByLabel('Now (optional)');
  await now.fill('tomorrow');
  await frame().getByText('now is "tomorrow", which is not a date and time').waitFor();
  expect(await now.getAttribute('aria-invalid')).toBe('true');
  expect(await frame().getByRole('button', { name: 'Play Gold' }).isDisabled()).toBe(true);
  await workbench.screenshot('task-wrong-date');
  await now.fill('');
  await until('no error', async () => expect(await now.getAttribute('aria-invalid')).toBeNull());
  await saved(original);
  const fact = frame()
    .getByRole('group')
    .filter({ has: frame().getByLabel('Says it as') })
    .first();
  await fact.getByLabel('Kind').selectOption('boolean');
  await fact.getByText('is not true or false').waitFor();
  expect(await fact.getByLabel('Kind').inputValue()).toBe('string');
  await saved(original);
});

test('an action is added, moved up and removed, and nothing else changes', async () => {
  const [first = '', second = '', third = ''] = original.split(/(?<=\n)(?=- id)/);
  const own = ['find_customer_by_name', 'get_customer', 'get_order', 'cancel_order'];
  const savedActions = (tools: readonly string[]) =>
    until('the actions in the file', async () => {
      await workbench.press('Control+S');
      const text = onDisk();
      expect([text.startsWith(first), text.endsWith(third)]).toEqual([true, true]);
      const [task] = parse(text.slice(first.length, -third.length)) as readonly Task[];
      expect(task).toMatchObject({ ...parse(second)[0], actions: tools.map((tool) => ({ tool })) });
    });
  const pressIn = async (action: string, name: string) => {
    const button = frame().getByRole('button', { name });
    await until('the open action', async () => {
      if (!(await button.isVisible())) await frame().getByText(action).click();
      expect(await button.isVisible()).toBe(true);
    });
    await button.click();
  };
  await frame().getByLabel('Another action').selectOption('list_variants');
  await frame().getByRole('button', { name: 'Add Action' }).click();
  await savedActions([...own, 'list_variants']);
  await pressIn('5. list_variants', 'Move up action 5');
  await savedActions([...own.slice(0, 3), 'list_variants', 'cancel_order']);
  await pressIn('4. list_variants', 'Remove action 4');
  await savedActions(own);
  for (const _ of ['the removal', 'the move', 'the addition']) await workbench.press('Control+Z');
  await saved(original);
});

test('the gold seat plays it, and what it changes and the report card are shown', async () => {
  await frame().getByRole('button', { name: 'Play Gold' }).click();
  // A rollout that failed shows its cause in the same place.
  const outcome = frame().locator('[aria-labelledby="gold"]').locator('.called > p, .error-box').first();
  await outcome.waitFor();
  expect(await outcome.textContent()).toMatch(/^✓ Reward 1 /);
  await frame().getByText('orders.W1032.status').waitFor();
  expect(await frame().locator('.changes').textContent()).toContain('"cancelled"');
  await workbench.screenshot('task-gold');
  const earlier = frame().getByText('This result is from an earlier text of the file.');
  expect(await earlier.count()).toBe(0);
  await frame().getByLabel('Required texts').fill('soon');
  await earlier.waitFor();
  await workbench.screenshot('task-gold-earlier');
  await workbench.press('Control+Z');
  await earlier.waitFor({ state: 'detached' });
  await saved(original);
  await frame().getByRole('button', { name: 'Open Recording' }).click();
  await workbench.waitForText('.editor-group-container.active .tab.active', /forgotten-number/);
  // A view takes the focus when it has loaded, which could be in the middle of the next test.
  await frame().getByRole('button', { name: 'Debug This Recording' }).waitFor();
});

test('the keys alone open the form, reach a field and change it, and take that back byte by byte', async () => {
  await workbench.openFile(lamp);
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByLabel('Description', { exact: true }).waitFor();
  const tab = workbench.page.locator('.editor-group-container.active .tab.active', { hasText: 'lamp-variant.task' });
  const hasFocus = async () =>
    (await tab.isVisible()) &&
    (await frame()
      .locator('body')
      .evaluate(() => document.hasFocus()));
  await until('the focus in the form', async () => {
    if (!(await hasFocus())) await workbench.press('Control+2');
    expect(await hasFocus()).toBe(true);
  });
  const atFocus = () =>
    frame()
      .locator('body')
      .evaluate(() => document.querySelector(`label[for="${document.activeElement?.id}"]`)?.textContent?.trim() ?? '');
  const reach = async (label: string, key: 'Tab' | 'Shift+Tab' = 'Tab') => {
    for (let step = 0; step < 40 && (await atFocus()) !== label; step++) await workbench.press(key);
    expect(await atFocus()).toBe(label);
  };
  await reach('Description');
  // Not Control+A: VS Code selects all a second time, a moment later, and replaces the text that was typed in between.
  await workbench.press('Control+End', 'Control+Shift+Home');
  await workbench.page.keyboard.type('Another lamp.');
  await reach('Persona');
  await saved(lampText.replace(/description: .*/, 'description: Another lamp.'), lamp);
  await workbench.press('Control+Z');
  await saved(lampText, lamp);
  await reach('Split');
  await workbench.press('ArrowDown');
  await saved(lampText.replace('split: train', 'split: test'), lamp);
  await workbench.press('Control+Z');
  await saved(lampText, lamp);
  await reach('Description', 'Shift+Tab');
  expect(lampText).toContain(`description: ${await frame().getByLabel('Description', { exact: true }).inputValue()}\n`);
});

test('what is typed while earlier words are on their way into the file is kept', async () => {
  const field = frame().getByLabel('Description', { exact: true });
  const known = await field.inputValue();
  await field.focus();
  await workbench.press('Control+End');
  const words = [' A lamp', ' that is', ' typed', ' with', ' pauses', ' of thought', ' is one', ' lamp.'];
  for (const word of words) {
    await workbench.page.keyboard.type(word, { delay: 25 });
    // Saving sends the typed text; its answer arrives while the next word is typed.
    await workbench.press('Control+S');
  }
  expect(await field.inputValue()).toBe(known + words.join(''));
  await saved(lampText.replace(/(?<=description: .*)$/m, words.join('')), lamp);
});

test('a value behind an anchor is changed where it is, and a warning names its other user', async () => {
  await workbench.runCommand('View: Close All Editors');
  await workbench.openFile(shared);
  await workbench.page.getByRole('button', { name: 'Open in Visual Editor' }).click();
  await frame().getByLabel('Task (2 in this file)').selectOption({ label: 'shared-second' });
  await until('the merged goal', async () =>
    expect(await frame().getByLabel('Goal', { exact: true }).inputValue()).toBe('You want to cancel order W1014.'),
  );
  await frame().getByLabel('Goal', { exact: true }).fill('You want your money back for order W1014.');
  await saved(sharedText.replace('to cancel order W1014.', 'your money back for order W1014.'), shared);
  await workbench.notification(/shared through a YAML anchor. The change also applies to shared-first \(line \d+\)/);
  await workbench.screenshot('shared-value');
});

test('F5 in a form debugs the task that it shows, or the selected configuration of launch.json', async () => {
  const { debug } = workbench;
  const runs = recordingsIn(join(domain.folder, '.rehearsal', 'runs'));
  const debugged = async (id: string) => {
    await workbench.press('F5');
    await debug.paused();
    expect(runs.names()).toEqual([`${id}.0.traj.jsonl`]);
    await debug.press('stop');
    await debug.ended();
    rmSync(join(domain.folder, '.rehearsal'), { recursive: true });
  };
  await debugged('shared-second');
  const configuration = { type: 'rehearsal', request: 'launch', name: 'Lamp', task: 'lamp-variant' };
  mkdirSync(join(domain.folder, '.vscode'));
  writeFileSync(join(domain.folder, '.vscode', 'launch.json'), JSON.stringify({ configurations: [configuration] }));
  await workbench.waitForText('.part.statusbar', 'Lamp (order-desk)');
  await workbench.chooseFile(shared);
  await workbench.press('Enter');
  await debugged('lamp-variant');
});

test('a file that is renamed while its form has unsaved edits keeps them', async () => {
  const { page } = workbench;
  const renamed = 'tasks/renamed-lamp.task.yaml';
  await workbench.runCommand('View: Close All Editors');
  // VS Code opens a file as it was opened last: as a form.
  await workbench.chooseFile(lamp);
  await workbench.press('Enter');
  await until('an unsaved edit', async () => {
    await frame().getByLabel('Description', { exact: true }).fill('A renamed lamp.', { timeout: 5000 });
    await page.locator('.tab.active.dirty').waitFor({ timeout: 5000 });
  });
  // F2 renames the row with the focus, which is another one until VS Code has revealed the file.
  const tree = page.locator('.explorer-folders-view .monaco-list:focus-within');
  await until('the row of the file', async () => {
    await workbench.runCommand('File: Reveal Active File in Explorer View');
    await tree.locator('.monaco-list-row.focused', { hasText: 'lamp-variant.task.yaml' }).waitFor({ timeout: 5000 });
  });
  const name = page.locator('.explorer-folders-view .monaco-inputbox input');
  await until('the box of the name', async () => {
    if (!(await name.isVisible())) await workbench.press('F2');
    await name.fill('renamed-lamp.task.yaml', { timeout: 5000 });
  });
  await name.press('Enter');
  await page.locator('.tab.active', { hasText: 'renamed-lamp.task.yaml' }).waitFor();
  expect(existsSync(join(domain.folder, lamp))).toBe(false);
  // VS Code shows a renamed file as text.
  await saved(lampText.replace(/description: .*/, 'description: A renamed lamp.'), renamed);
});

test('a task with a wrong key keeps its Debug lens, which shows the error', async () => {
  const broken = 'tasks/broken.task.yaml';
  writeFileSync(join(domain.folder, broken), lampText.replace('id: lamp-variant', 'id: broken\ncomunicate: [x]'));
  await workbench.openFile(broken);
  await workbench.page.locator('.codelens-decoration a', { hasText: 'Debug' }).first().click();
  const dialog = workbench.page.locator('.monaco-dialog-box', { hasText: 'The key comunicate is not known here' });
  await dialog.waitFor();
  await workbench.screenshot('task-with-error');
  await dialog.getByRole('button', { name: 'Open broken.task.yaml, Line 5' }).click();
  await workbench.waitForText('.part.statusbar', 'Ln 5, Col 1');
});

test('the form opens from the menus of a task, in Domains and in Testing, also in a file of several tasks', async () => {
  const { page } = workbench;
  const opened = async (id: string) => {
    await until('the form', async () =>
      expect(await frame().getByLabel('Id', { exact: true }).inputValue({ timeout: 5000 })).toBe(id),
    );
    await workbench.runCommand('View: Close All Editors');
  };
  await workbench.runCommand('View: Close All Editors');
  await workbench.showViews();
  const row = page.locator('.pane .monaco-list-row', { hasText: 'partners-order' });
  await workbench.chooseInMenu(row, 'Open in Visual Editor');
  await opened('partners-order');
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  const inTests = (name: string) => page.locator('.test-explorer .monaco-list-row', { hasText: name }).first();
  for (const group of ['order-desk', 'test'])
    await until(`${group} open`, async () => {
      if ((await inTests(group).getAttribute('aria-expanded')) === 'true') return;
      await inTests(group).click({ timeout: 5000 });
      await workbench.press('ArrowRight');
      expect(await inTests(group).getAttribute('aria-expanded')).toBe('true');
    });
  await workbench.chooseInMenu(inTests('partners-order'), 'Open in Visual Editor');
  await opened('partners-order');
});

test('a task with an error keeps its row, which names the error and opens its place', async () => {
  await workbench.showViews();
  const row = workbench.page.locator('.pane .monaco-list-row[aria-label^="broken, error, The key comunicate"]');
  await row.waitFor();
  await workbench.screenshot('task-row-with-error');
  await row.click();
  await workbench.waitForText('.part.statusbar', 'Ln 5, Col 1');
});
