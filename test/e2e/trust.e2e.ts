import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { hashOf } from '../support/approval.ts';
import { addSpyServer, untrusted } from './support/spyServer.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** A domain that would write a file if any of its code ran: its MCP server is a command that does so. */
const domain = copyDomain('order-desk');
let mark: string;
let workbench: Workbench;

beforeAll(async () => {
  mark = addSpyServer(domain.folder);
  workbench = await Workbench.open(domain.folder, {
    ...untrusted,
  });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

/** Expects that no code of the domain ran, and that nothing was recorded. */
function expectNothingRan(): void {
  expect([existsSync(mark), existsSync(join(domain.folder, '.rehearsal'))]).toEqual([false, false]);
}

test('a restricted workspace is read and checked, and its views say that nothing runs', async () => {
  await workbench.waitForText('.part.statusbar', 'Restricted Mode');
  await workbench.showViews();
  await workbench.waitForText('.pane-body', 'order-desk');
  await workbench.waitForText('.pane-body', 'This workspace is in Restricted Mode: training is not available.');
  await workbench.openFile('tasks/lamp-variant.task.yaml');
  await workbench.waitForText('.codelens-decoration', 'Debug');
  await workbench.runCommand('Rehearsal: Check Domain');
  await workbench.notification(/order-desk: \d+ tasks, no findings/);
  await workbench.screenshot('restricted');
  expectNothingRan();
});

test('a file can be edited there, and what is wrong with it is underlined', async () => {
  const file = join(domain.folder, 'tasks', 'lamp-variant.task.yaml');
  const line = readFileSync(file, 'utf8').split('\n').indexOf('persona: changeable') + 1;
  const squiggle = workbench.page.locator('.editor-group-container.active .squiggly-error');
  await workbench.openFile('tasks/lamp-variant.task.yaml');
  await workbench.replaceLine(line, 'persona: unknown');
  await until('an error below the persona', async () => expect(await squiggle.count()).toBe(1));
  await workbench.screenshot('restricted-edit');
  await workbench.replaceLine(line, 'persona: changeable');
  await until('no error', async () => expect(await squiggle.count()).toBe(0));
  expectNothingRan();
});

test('its forms read and write, and say why they run nothing', async () => {
  const frame = () => workbench.webviewFrame();
  await workbench.openFile('personas/hurried.persona.yaml');
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByText('it needs a trusted workspace').waitFor();
  await frame().locator('vscode-button', { hasText: 'Preview First Messages' }).click({ force: true });
  await frame().getByLabel('Insists on what is forbidden').check();
  await until('the change', async () => {
    await workbench.press('Control+S');
    expect(readFileSync(join(domain.folder, 'personas', 'hurried.persona.yaml'), 'utf8')).toContain('insists: true');
  });
  await workbench.runCommand('Rehearsal: Try Tool…');
  await workbench.pick('cancel_order');
  await frame().getByText('this workspace is not trusted').first().waitFor();
  await workbench.screenshot('restricted-tool');
  await workbench.runCommand('View: Close All Editors');
  expectNothingRan();
});

test.each([
  ['Rehearsal: Run Task', 'Rollouts start only in a trusted workspace'],
  ['Rehearsal: Debug Task', 'Rollouts start only in a trusted workspace'],
  ['Rehearsal: Train with SFT…', 'Training runs start only in a trusted workspace'],
])('%s says why it starts nothing', async (command, message) => {
  await workbench.clearNotifications();
  await workbench.runCommand(command);
  // The message also says what to do, and its button leads there.
  await workbench.notification(message, 'Manage Workspace Trust');
  await workbench.page.locator('.workspace-trust-editor').waitFor();
  await workbench.press('Control+F4');
  await workbench.openFile('tasks/lamp-variant.task.yaml');
  expectNothingRan();
});

test('F5 asks for trust first, and starts nothing when it is refused', async () => {
  await workbench.openFile('tasks/lamp-variant.task.yaml');
  await workbench.press('F5');
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await dialog.waitFor();
  expect(await dialog.textContent()).toMatch(/trust/i);
  await workbench.screenshot('restricted-f5');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await workbench.page.locator('.debug-toolbar').count()).toBe(0);
  expectNothingRan();
});

test('where a person starts it, the same domain leaves its mark only once it is approved', () => {
  const run = (...more: readonly string[]) =>
    spawnSync(process.execPath, [
      inRoot('dist', 'rehearsal.mjs'),
      ...['run', domain.folder, 'lamp-variant', '--out', join(domain.folder, '.rehearsal', 'runs', 'one'), ...more],
    ]).status;
  expect([run(), existsSync(mark)]).toEqual([2, false]);
  expect([run('--approve', hashOf(domain.folder)), existsSync(mark)]).toEqual([2, true]);
});
