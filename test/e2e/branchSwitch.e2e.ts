import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FrameLocator, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { writeTrainingRun } from './support/dashboard.ts';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { Workbench } from './support/workbench.ts';

/** Switches between branches whose domains and runs differ, while every view is open. */
const root = mkdtempSync(join(tmpdir(), 'rehearsal-branches-'));
const desk = join(root, 'order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const recording = 'lamp-variant.0.traj.jsonl';
let workbench: Workbench;

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root, stdio: 'pipe' });

beforeAll(async () => {
  const isKept = (path: string) => !path.includes('.rehearsal');
  for (const name of ['order-desk', 'parcel-desk'])
    cpSync(inRoot('domains', name), join(root, name), { recursive: true, filter: isKept });
  const out = join(root, '.rehearsal', 'runs', '20260101-100000-gold');
  const args = ['eval', desk, '--agent', 'gold', '--tasks', 'lamp-variant', '--out', out];
  execFileSync(process.execPath, [inRoot('dist', 'rehearsal.mjs'), ...args]);
  writeTrainingRun(root, desk);
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '--all', '--force');
  git('commit', '--quiet', '--message', 'Add two domains');
  git('switch', '--quiet', '--create', 'without');
  for (const path of ['.rehearsal', 'parcel-desk', join('order-desk', task)])
    rmSync(join(root, path), { recursive: true });
  const tools = join(desk, 'tools.ts');
  writeFileSync(tools, readFileSync(tools, 'utf8').replaceAll('cancel_order', 'call_off_order'));
  git('add', '--all', '--force');
  git('commit', '--quiet', '--message', 'Remove a domain, a task and all runs');
  git('switch', '--quiet', 'main');
  workbench = await Workbench.open(root, pictured);
});

afterAll(async () => {
  await workbench?.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

const pane = (name: string): Locator =>
  workbench.page.locator('.pane').filter({ has: workbench.page.locator(`.pane-header[aria-label^="${name}"]`) });
const rows = async (of: Locator): Promise<string[]> =>
  (await of.locator('.monaco-list-row[aria-level="1"]').allInnerTexts()).map((text) => text.trim());
const tests = () => workbench.page.locator('.test-explorer');
const frame = (): FrameLocator => workbench.webviewFrame();
/** Shows an open tab, by a part of its name, and waits for something in its page. */
const showTab = (name: string, inPage: (page: FrameLocator) => Locator): Promise<void> =>
  until(`${name}`, async () => {
    await workbench.page.locator('.tab', { hasText: name }).last().click({ timeout: 5000 });
    await inPage(frame()).first().waitFor({ state: 'attached', timeout: 5000 });
  });
const rewards = (page: FrameLocator) => page.getByText('Optimizer step 2 of 3');
const closed = async (): Promise<void> => {
  const open = pane('Domains').locator('.monaco-list-row[aria-level="1"][aria-expanded="true"]');
  await until('the domains alone', async () => {
    if ((await open.count()) > 0) await open.first().locator('.monaco-tl-twistie').click({ timeout: 5000 });
    expect(await open.count()).toBe(0);
  });
};

test('every view shows what the first branch has', async () => {
  await workbench.openFile('order-desk/tasks/cancellations.task.yaml');
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByText('cancel_order').first().waitFor({ state: 'attached' });
  await workbench.openFile(`order-desk/${task}`);
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByLabel('Description', { exact: true }).waitFor();
  await workbench.showViews();
  await pane('Training').locator('.monaco-list-row', { hasText: 'grpo' }).click();
  await rewards(frame()).waitFor();
  for (const level of [1, 2]) {
    await pane('Runs').locator(`.monaco-list-row[aria-level="${level}"]`).first().click();
    await workbench.press('ArrowRight');
    await pane('Runs')
      .locator(`.monaco-list-row[aria-level="${level + 1}"]`)
      .waitFor();
  }
  await pane('Runs').locator('.monaco-list-row[aria-level="3"]').click();
  await frame().getByRole('button', { name: 'Debug This Recording' }).waitFor();
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await until('the domains', async () => expect((await rows(tests())).length).toBe(2));
  await workbench.showViews();
  await closed();
  expect(await rows(pane('Domains'))).toEqual(['order-desk', 'parcel-desk']);
});

test('after a switch no view shows what the branch does not have', async () => {
  git('switch', '--quiet', 'without');
  await until('one domain and no run', async () => {
    expect(await rows(pane('Domains'))).toEqual(['order-desk']);
    expect(await rows(pane('Runs'))).toEqual([]);
    expect(await rows(pane('Training'))).toEqual([]);
  });
  // A recording that was read stays open, as a text does.
  await frame().getByRole('button', { name: 'Debug This Recording' }).waitFor();
  await showTab('Training', (page) => page.getByRole('button', { name: 'Train with GRPO…' }));
  await workbench.screenshot('branch-dashboard');
  await showTab('cancellations.task.yaml', (page) => page.getByText('there is no tool cancel_order'));
  await workbench.screenshot('branch-form');
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await until('one domain', async () => expect((await rows(tests())).length).toBe(1));
});

test('after the switch back every view shows it again', async () => {
  git('switch', '--quiet', 'main');
  await until('both domains', async () => expect((await rows(tests())).length).toBe(2));
  await workbench.showViews();
  await closed();
  await until('both domains and the runs', async () => {
    expect(await rows(pane('Domains'))).toEqual(['order-desk', 'parcel-desk']);
    expect((await rows(pane('Runs'))).length).toBe(2);
    expect((await rows(pane('Training'))).length).toBe(1);
  });
  await showTab(recording, (page) => page.getByRole('button', { name: 'Debug This Recording' }));
  await showTab('Training', rewards);
  await showTab('lamp-variant.task.yaml', (page) => page.getByLabel('Description', { exact: true }));
  await showTab('cancellations.task.yaml', (page) => page.getByText('cancel_order'));
  const unknown = frame().getByText('there is no tool cancel_order');
  await until('the known tool', async () => expect(await unknown.count()).toBe(0));
  await workbench.screenshot('branch-back');
});
