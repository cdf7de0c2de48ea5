import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { pictured } from './support/picture.ts';
import { Workbench } from './support/workbench.ts';

/** Two folders in one window, each with a domain in a folder of the same name. */
const parent = mkdtempSync(join(tmpdir(), 'rehearsal-folders-'));
const [first, second, chosen, outside] = ['first', 'second', 'chosen', 'outside'].map((name) => join(parent, name)) as [
  string,
  string,
  string,
  string,
];
const task = 'tasks/lamp-variant.task.yaml';
const runs = join(second, '.rehearsal', 'runs');
let workbench: Workbench;
let rule = 0;

beforeAll(async () => {
  const isKept = (path: string) => !path.includes('.rehearsal');
  cpSync(inRoot('domains', 'parcel-desk'), join(first, 'order-desk'), { recursive: true, filter: isKept });
  cpSync(inRoot('domains', 'order-desk'), join(second, 'order-desk'), { recursive: true, filter: isKept });
  cpSync(inRoot('domains', 'order-desk'), outside, { recursive: true, filter: isKept });
  mkdirSync(chosen);
  const policy = readFileSync(join(second, 'order-desk', 'policy.md'), 'utf8').split('\n');
  rule = 1 + policy.findIndex((line) => line.includes('{#confirm-before-write}'));
  const workspace = join(parent, 'both.code-workspace');
  writeFileSync(workspace, JSON.stringify({ folders: [{ path: 'first' }, { path: 'second' }] }));
  workbench = await Workbench.open(workspace, pictured);
});

afterAll(async () => {
  await workbench?.close();
  rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
});

test('domains with the same name show their folders', async () => {
  await workbench.showViews();
  const { page } = workbench;
  const domains = page.locator('.pane').filter({ has: page.locator('.pane-header[aria-label^="Domains"]') });
  const row = (text: string) => domains.locator('.monaco-list-row', { hasText: text });
  // The tasks of the first domain fill the view.
  await row('first/order-desk').locator('.monaco-tl-twistie').click();
  await row('second/order-desk').waitFor();
  await workbench.screenshot('folders-domains');
});

test('F5 writes the run into the folder that has the domain, and its result shows above the task', async () => {
  await workbench.openFile(task);
  await debugToTheEnd();
  expect([readdirSync(runs).length, existsSync(join(first, '.rehearsal'))]).toEqual([1, false]);
  await workbench.openFile(task);
  await workbench.waitForText('.codelens-decoration', '0/1 passed');
  await workbench.screenshot('folders-result');
  await workbench.showViews();
  const view = workbench.page.locator('.pane', { has: workbench.page.locator('.pane-header[aria-label^="Runs"]') });
  await view.locator('.monaco-list-row', { hasText: 'second/order-desk' }).waitFor();
});

test('F5 on a file outside of the folders writes the run next to its domain, and its result shows above the task', async () => {
  const { page } = workbench;
  const before = readdirSync(runs).length;
  await workbench.runCommand('View: Close All Editors');
  await workbench.runCommand('File: Open File...');
  await workbench.answerPath(join(outside, task));
  await page.locator('.tab.active', { hasText: 'lamp-variant.task.yaml' }).waitFor();
  await page.locator('.editor-group-container.active .monaco-editor.focused .view-line').first().waitFor();
  await debugToTheEnd();
  expect(readdirSync(join(outside, '.rehearsal', 'runs'))).toHaveLength(1);
  expect([readdirSync(runs).length, existsSync(join(first, '.rehearsal'))]).toEqual([before, false]);
  await page.locator('.tab', { hasText: 'lamp-variant.task.yaml' }).click();
  await workbench.waitForText('.codelens-decoration', '0/1 passed');
  await workbench.screenshot('folders-outside');
  await workbench.runCommand('View: Close All Editors');
});

/** Debugs the task of the active editor, from F5 over each stop to the end of the session. */
async function debugToTheEnd(): Promise<void> {
  const { debug } = workbench;
  await debug.start();
  await debug.stoppedAt(rule);
  for (const [stop, below] of [
    ['before change_item: confirm-before-write', 'turn 6'],
    ['before transfer_to_human: hand-off', 'turn 7'],
    ['reward 0', ''],
  ] as const) {
    await debug.press('continue');
    await debug.standsAt(stop, below);
  }
  await debug.press('continue');
  await debug.ended();
}

test('the Training view and the dashboard show runs of every folder', async () => {
  const names = [first, second].map((folder, at) => {
    const name = `2026010${1 + at}-000000-grpo`;
    const run = join(folder, '.rehearsal', 'training', name);
    mkdirSync(run, { recursive: true });
    const config = { kind: 'grpo', model: 'tiny', domain: join(folder, 'order-desk'), steps: 3 };
    writeFileSync(join(run, 'config.json'), JSON.stringify(config));
    writeFileSync(join(run, 'metrics.jsonl'), `${JSON.stringify({ step: 1, time: 1, reward: at, loss: 0.1 })}\n`);
    return name;
  });
  await workbench.showViews();
  const { page } = workbench;
  const view = page.locator('.pane', { has: page.locator('.pane-header[aria-label="Training Section"]') });
  for (const name of names) {
    await view.locator('.monaco-list-row', { hasText: name }).click();
    const dashboard = workbench.webviewFrame();
    const other = names.filter((each) => each !== name).join();
    await dashboard.locator('.run-picker li', { hasText: other }).waitFor({ state: 'attached' });
  }
  await workbench.screenshot('folders-training');
});

test('where runs cannot be written, the person chooses another folder', async () => {
  const { debug } = workbench;
  rmSync(join(second, '.rehearsal'), { recursive: true });
  // The path is a file instead of a folder, so that even root cannot write to it.
  writeFileSync(join(second, '.rehearsal'), '');
  await workbench.openFile(task);
  await workbench.press('F5');
  await workbench.notification(`${runs} cannot be written, so nothing was run`, 'Choose Folder…');
  await workbench.answerPath(chosen);
  await workbench.notification(`Runs are now written to ${join(chosen, '.rehearsal')}. Start the run again.`);
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  expect(readdirSync(join(chosen, '.rehearsal', 'runs'))).toHaveLength(1);
  await debug.press('stop');
  await debug.ended();
});
