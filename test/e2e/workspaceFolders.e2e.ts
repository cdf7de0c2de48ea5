import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { writeTrainingRun } from './support/dashboard.ts';
import { pictured } from './support/picture.ts';
import { recordingsIn } from './support/runs.ts';
import { until } from './support/until.ts';
import { Workbench } from './support/workbench.ts';

/** A window whose second folder is inside its first one, and whose third is removed during the test. */
const parent = mkdtempSync(join(tmpdir(), 'rehearsal-workspace-'));
const outer = join(parent, 'outer');
const other = join(parent, 'other');
const task = 'tasks/lamp-variant.task.yaml';
const form = join(other, 'order-desk', task);
const recordings = recordingsIn(join(other, '.rehearsal', 'runs'));
let training = '';
let workbench: Workbench;

beforeAll(async () => {
  const isKept = (path: string) => !path.includes('.rehearsal');
  cpSync(inRoot('domains', 'parcel-desk'), join(outer, 'parcel-desk'), { recursive: true, filter: isKept });
  cpSync(inRoot('domains', 'order-desk'), join(other, 'order-desk'), { recursive: true, filter: isKept });
  // A mistake, for Problems.
  writeFileSync(join(other, 'order-desk', 'tasks', 'broken.task.yaml'), 'id: broken\n');
  training = writeTrainingRun(other, join(other, 'order-desk'));
  const workspace = join(parent, 'nested.code-workspace');
  const folders = ['outer', 'outer/parcel-desk', 'other'].map((path) => ({ path }));
  writeFileSync(workspace, JSON.stringify({ folders }));
  workbench = await Workbench.open(workspace, pictured);
});

afterAll(async () => {
  await workbench?.close();
  rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
});

const pane = (name: string): Locator =>
  workbench.page.locator('.pane').filter({ has: workbench.page.locator(`.pane-header[aria-label^="${name}"]`) });
/** The names of the domains in the Domains view. */
const domains = async (): Promise<string[]> => {
  const names = await pane('Domains').locator('.monaco-list-row[aria-level="1"]').allInnerTexts();
  return names.map((name) => name.trim());
};
/** The names of the domains in the Test Explorer. */
const tested = async (): Promise<string[]> => {
  const rows = workbench.page.locator('.test-explorer .monaco-list-row[aria-level="1"]');
  return (await rows.allInnerTexts()).map((name) => name.trim());
};
const collapseDomains = async (): Promise<void> => {
  await until('the domains alone', async () => {
    const open = pane('Domains').locator('.monaco-list-row[aria-level="1"][aria-expanded="true"]');
    if ((await open.count()) > 0) await open.first().locator('.monaco-tl-twistie').click({ timeout: 5000 });
    expect(await open.count()).toBe(0);
    expect((await domains()).length).toBeGreaterThan(0);
  });
};

test('a domain in two folders of the window is listed once, and each of its tasks', async () => {
  await workbench.showViews();
  await collapseDomains();
  expect((await domains()).toSorted()).toEqual(['order-desk', 'parcel-desk']);
  await workbench.runCommand('Debug: Select and Start Debugging');
  await workbench.pick('Rehearsal...');
  const input = workbench.page.locator('.quick-input-widget input[placeholder="Select Launch Configuration"]');
  await input.fill('reschedule-P46');
  await until('the task', async () =>
    expect(await workbench.picks()).toEqual([expect.stringMatching(/^\s*Rehearse reschedule-P46\s*parcel-desk\s*$/)]),
  );
  await workbench.screenshot('nested-tasks');
  await workbench.press('Escape');
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await until('the domains', async () => expect((await tested()).toSorted()).toEqual(['order-desk', 'parcel-desk']));
});

test('a folder that is removed leaves the views, and its paused run and its form remain usable', async () => {
  const { debug, page } = workbench;
  const frame = () => workbench.webviewFrame();
  await workbench.showViews();
  await pane('Training').locator('.monaco-list-row', { hasText: 'grpo' }).click();
  await frame().locator('.status').waitFor();
  await workbench.openFile(`order-desk/${task}`);
  await debug.start();
  await debug.paused();
  await workbench.openFile(`order-desk/${task}`);
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByLabel('Description', { exact: true }).waitFor();
  await workbench.runCommand('Problems: Focus on Problems View');
  await workbench.waitForText('.markers-panel', /broken\.task\.yaml/);
  await workbench.runCommand('Workspaces: Remove Folder from Workspace...');
  await workbench.pick('other');
  await workbench.showViews();
  await until('the domain that is left', async () => {
    expect(await domains()).toEqual(['parcel-desk']);
    expect(await pane('Runs').getByText('lamp-variant').count()).toBe(0);
  });
  await workbench.runCommand('Problems: Focus on Problems View');
  await until('no finding', async () =>
    expect(await page.locator('.markers-panel').getByText('broken').count()).toBe(0),
  );
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await until('the domain that is left', async () => expect(await tested()).toEqual(['parcel-desk']));
  await workbench.screenshot('removed-folder');
  await debug.press('stop');
  await debug.ended();
  expect(recordings.names()).toEqual(['lamp-variant.0.traj.jsonl']);
  await until('the form', async () => {
    await page.locator('.tab', { hasText: 'lamp-variant.task.yaml' }).last().click();
    await frame().getByLabel('Description', { exact: true }).fill('A changed task.', { timeout: 5000 });
  });
  await until('the saved file', async () => {
    await workbench.press('Control+S');
    expect(readFileSync(form, 'utf8')).toContain('A changed task.');
  });
});

test('the dashboard still shows the run of the folder that was removed, and stops it', async () => {
  await workbench.page.locator('.tab', { hasText: 'Training' }).click();
  await workbench.webviewFrame().getByRole('button', { name: 'Stop Training' }).click();
  await until('the wish to stop', async () => expect(existsSync(join(training, 'stop'))).toBe(true));
});

test('a folder that is added comes into the views', async () => {
  await workbench.runCommand('Workspaces: Add Folder to Workspace...');
  await workbench.answerPath(other);
  await workbench.showViews();
  await until('both domains', async () => {
    await collapseDomains();
    expect((await domains()).toSorted()).toEqual(['order-desk', 'parcel-desk']);
  });
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await until('both domains', async () => expect((await tested()).toSorted()).toEqual(['order-desk', 'parcel-desk']));
  await workbench.runCommand('Problems: Focus on Problems View');
  await workbench.waitForText('.markers-panel', /broken\.task\.yaml/);
});
