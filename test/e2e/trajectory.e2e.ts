import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rehearsal } from '../support/terminal.ts';
import { picture, pictured } from './support/picture.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Reads the recording of the sample failure of order-desk, filters it, follows it to its rule, and debugs it. */
const domain = copyDomain('order-desk');
const run = join(domain.folder, 'recorded');
const name = 'lamp-variant.0.traj.jsonl';
const rule = domain.lineOf('policy.md', '- Before any call that changes something');
let workbench: Workbench;

beforeAll(async () => {
  await rehearsal('run', domain.folder, 'lamp-variant', '--out', run);
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const violated = () => workbench.webviewFrame().getByLabel('Step 15, Agent calls change_item');

async function open(file = name): Promise<void> {
  await workbench.chooseFile(file);
  await workbench.press('Enter');
  await workbench.webviewFrame().locator('article').first().waitFor();
}

test('a recording opens as a conversation, and its rule in the policy', async () => {
  await open();
  const frame = workbench.webviewFrame();
  await frame.getByText('16 entries', { exact: true }).waitFor();
  await frame.getByText('Failed by: agent').waitFor();
  await frame.locator('aside').getByRole('button', { name: 'Go to step 16' }).first().click();
  await violated().getByText('called before anything was proposed').waitFor();
  await picture(workbench, 'trajectory');
  await violated().getByRole('button', { name: 'Open rule confirm-before-write' }).click();
  await workbench.waitForText('.editor-group-container.active .tab.active', /policy\s*\.md/);
  await workbench.waitForText('.part.statusbar', `Ln ${rule},`);
  await workbench.runCommand('View: Close Editor');
});

test('the tab keeps its filter and its place while another one is shown', async () => {
  await open();
  const frame = workbench.webviewFrame();
  await frame.locator('article').first().focus();
  await workbench.press('/');
  await workbench.page.keyboard.type('change_item');
  const count = frame.getByRole('status');
  await expect.poll(() => count.textContent()).toMatch(/^[2-9] of \d+ entries$/);
  const kept = await count.textContent();
  // Opening a file begins with Escape, which would clear the search.
  await workbench.press('ArrowDown');
  await workbench.openFile('policy.md');
  await open();
  await expect.poll(() => workbench.webviewFrame().getByRole('status').textContent()).toBe(kept);
  await workbench.webviewFrame().getByRole('button', { name: 'Clear Filters' }).click();
});

test('the section of latency and tokens stays closed in every recording that is opened later', async () => {
  const section = () => workbench.webviewFrame().locator('details.timeline');
  const isOpen = () => section().evaluate((element) => (element as HTMLDetailsElement).open);
  expect(await isOpen()).toBe(true);
  await section().getByRole('heading', { name: 'Latency and tokens' }).click();
  await expect.poll(isOpen).toBe(false);
  await workbench.runCommand('View: Close Editor');
  await open();
  expect(await isOpen()).toBe(false);
  await section().getByRole('heading', { name: 'Latency and tokens' }).click();
  await expect.poll(isOpen).toBe(true);
  await workbench.runCommand('View: Close Editor');
  await open();
  await expect.poll(isOpen).toBe(true);
});

test('it is looked at in every theme', async () => {
  for (const theme of ['light', 'high contrast', 'dark'] as const) {
    await workbench.setTheme(theme);
    await violated().waitFor();
    await workbench.screenshot(`trajectory-${theme.replace(' ', '-')}`);
  }
});

test('the debugger starts where the recording is looked at', async () => {
  await violated().hover();
  await violated().getByRole('button', { name: 'Debug from here, step 15' }).click();
  await workbench.debug.paused();
  // The Run and Debug view comes to the front by itself.
  await workbench.page.locator('.debug-variables').waitFor();
  await workbench.waitForText('.pane-header[aria-label="Call Stack Section"]', 'step 15 of the recording');
  await workbench.waitForText('.debug-call-stack .monaco-list-rows', 'agent calls change_item');
  await workbench.page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  await workbench.debug.press('step-into');
  await workbench.debug.stoppedAt(domain.lineOf('policy.md', '{#confirm-before-write}'));
  await workbench.press('Shift+F5');
  await workbench.debug.ended();
});

test('F5 steps through the recording that is looked at', async () => {
  const { debug } = workbench;
  await open();
  await workbench.press('F5');
  await debug.paused();
  await debug.standsAt('lamp-variant begins');
  await workbench.press('Shift+F5');
  await debug.ended();
});

test('Ctrl+F5 prints the recording that is looked at, without a stop', async () => {
  const { debug } = workbench;
  await open();
  await workbench.press('Control+F5');
  await debug.waitForConsole(/changed +handoffs\.C119/);
  await debug.ended();
});

test('a recording that is written while it is looked at grows, and a torn one says where it broke', async () => {
  const lines = readFileSync(join(run, name), 'utf8').trim().split('\n');
  const path = join(run, 'growing.traj.jsonl');
  writeFileSync(path, `${lines.slice(0, 11).join('\n')}\n`);
  await open('growing.traj.jsonl');
  const frame = workbench.webviewFrame();
  await frame.getByText('No reward: the rollout was stopped before it ended').waitFor();
  appendFileSync(path, `${lines.slice(11).join('\n')}\n`);
  await frame.getByText('16 entries', { exact: true }).waitFor();
  await frame.getByText('Failed by: agent').waitFor();
  appendFileSync(path, '{"n":36,');
  await frame.getByText('growing.traj.jsonl, line 37: has no end').waitFor();
  expect(await frame.locator('article').count()).toBeGreaterThan(3);
});
