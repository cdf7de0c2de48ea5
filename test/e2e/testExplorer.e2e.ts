import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { outageTask } from './support/outageTask.ts';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Uses the Test Explorer as a person does: trials, a failing message, coverage, a terminal beside it, saving. */
const domain = copyDomain('order-desk');
const runs = join(domain.folder, '.rehearsal', 'runs');
const file = 'tasks/outage.task.yaml';
writeFileSync(join(domain.folder, file), outageTask);
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, {
    ...pictured,
    settings: { ...pictured.settings, 'rehearsal.tests.trials': 3 },
  });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const row = (label: string): Locator =>
  workbench.page.locator('.test-explorer .monaco-list-row', { hasText: label }).first();
const withIcon = (label: string, state: 'passed' | 'failed' | 'error' | 'unset'): Locator =>
  workbench.page
    .locator('.test-explorer .monaco-list-row', {
      hasText: label,
      has: workbench.page.locator(`.codicon-testing-${state}-icon`),
    })
    .first();
const open = async (label: string): Promise<void> => {
  await row(label).waitFor();
  await until(`${label} open`, async () => {
    if ((await row(label).getAttribute('aria-expanded')) === 'true') return;
    await row(label).click();
    await workbench.press('ArrowRight');
    expect(await row(label).getAttribute('aria-expanded')).toBe('true');
  });
};
const names = () => readdirSync(runs).sort();

test('the tree has the domain, its splits, and their tasks', async () => {
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await open('order-desk');
  await open('test');
  await row('address-in-an-outage').waitFor();
  await workbench.screenshot('tests-tree');
});

test('three trials, of which one fails: pass^k, the rows that differ, and the steps to look at', async () => {
  const { page } = workbench;
  await workbench.chooseInMenu(row('address-in-an-outage'), 'Execute Using Profile...');
  await workbench.pick('Run k Trials');
  await withIcon('address-in-an-outage', 'failed').waitFor();
  await workbench.waitForText('.test-explorer', '2/3 passed, pass^3 0.00');
  await open('address-in-an-outage');
  await withIcon('trial 0', 'passed').waitFor();
  await withIcon('trial 1', 'failed').waitFor();
  await withIcon('trial 2', 'passed').waitFor();
  await workbench.screenshot('tests-trials');
  await workbench.runCommand('Test Results: Focus on Test Results View');
  await page.locator('.part.panel').getByText('The final database is not the expected one').first().click();
  await workbench.waitForText('.part.panel', /address: "32 Church Road, Brightwater"/);
  await workbench.waitForText('.part.panel', /address: "9 Garden Close, Dunmore"/);
  await workbench.waitForText('.part.panel', /Done, W1012 goes to 9 Garden Close/);
  await workbench.screenshot('tests-message');
});

test('the message of an earlier run leaves the text while the task is debugged', async () => {
  const { debug, page } = workbench;
  const message = page.locator('.editor-instance .test-error-content-widget');
  await workbench.openFile(file);
  await message.first().waitFor();
  await debug.start();
  await debug.paused();
  expect(await message.count()).toBe(0);
  await workbench.screenshot('tests-debugged');
  // The session's own result is shown soon after its end.
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await withIcon('address-in-an-outage', 'failed').waitFor();
  await debug.press('stop');
  await debug.ended();
});

test('coverage shows which rules of the policy and which tools were exercised', async () => {
  const { page } = workbench;
  await workbench.chooseInMenu(row('address-in-an-outage'), 'with Coverage');
  await workbench.waitForText('.part.sidebar', /policy\.md[\s\S]*tools\.ts/);
  await workbench.openFile('policy.md');
  await workbench.runCommand('Test: Toggle Inline Coverage');
  await page.locator('.coverage-deco-gutter.coverage-deco-hit').first().waitFor();
  // No task here returns anything, so these rules are red.
  await workbench.goToLine(domain.lineOf('policy.md', '{#return-window}'));
  await page.locator('.coverage-deco-gutter.coverage-deco-miss').first().waitFor();
  await workbench.screenshot('tests-coverage');
});

test('a run made in a terminal shows its outcomes', async () => {
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await withIcon('second-thoughts', 'unset').waitFor();
  const cli = inRoot('dist', 'rehearsal.mjs');
  const out = join(runs, 'terminal');
  const { status } = spawnSync(process.execPath, [
    cli,
    'eval',
    domain.folder,
    '--tasks',
    'second-thoughts',
    '--out',
    out,
  ]);
  expect(status).toBe(0);
  await withIcon('second-thoughts', 'passed').waitFor();
  await workbench.screenshot('tests-terminal');
});

test('while it runs continuously, saving a task runs that task again', async () => {
  await workbench.runCommand('Test: Start Continuous Run');
  const before = names();
  await workbench.openFile(file);
  await workbench.replaceLine(2, 'description: The address service is down now and then.');
  await until('a run of the task', async () => expect(names().length).toBe(before.length + 1));
  const [added = ''] = names().filter((name) => !before.includes(name));
  await until('its recording', async () =>
    expect(readdirSync(join(runs, added)).filter((name) => name.endsWith('.traj.jsonl'))).toEqual([
      'address-in-an-outage.0.traj.jsonl',
    ]),
  );
  await workbench.screenshot('tests-continuous');
});

test('a continuous run follows a task that gets another name, and fails no other', async () => {
  const recorded = () =>
    names().flatMap((name) => readdirSync(join(runs, name)).filter((each) => each.endsWith('.traj.jsonl')));
  const line = domain.lineOf(file, 'id: address-in-an-outage');
  await workbench.replaceLine(line, 'id: renamed-in-an-outage');
  await until('a run of the task', async () => expect(recorded()).toContain('renamed-in-an-outage.0.traj.jsonl'));
  await row('renamed-in-an-outage').waitFor();
  const before = recorded().length;
  await workbench.openFile('policy.md');
  await workbench.replaceLine(1, '# The policy of the order desk');
  await until('a run of all tasks', async () => expect(recorded().length).toBeGreaterThan(before + 40));
  const failed = workbench.page.locator('.test-explorer .codicon-testing-error-icon');
  expect(await failed.count()).toBe(0);
  await workbench.screenshot('tests-continuous-renamed');
});

test('a task file that is broken during a continuous run fails no other test, and its task runs again once it is right', async () => {
  const recorded = () =>
    names().flatMap((name) => readdirSync(join(runs, name)).filter((each) => each.endsWith('.traj.jsonl')));
  const ofTask = () => recorded().filter((name) => name === 'renamed-in-an-outage.0.traj.jsonl').length;
  await workbench.openFile(file);
  await workbench.replaceLine(2, 'description: [');
  await withIcon('renamed-in-an-outage', 'error').waitFor();
  const [before, own] = [recorded().length, ofTask()];
  await workbench.openFile('policy.md');
  await workbench.replaceLine(1, '# The policy of the desk');
  await until('a run of the other tasks', async () => expect(recorded().length).toBeGreaterThan(before + 40));
  const failed = workbench.page.locator('.test-explorer .monaco-list-row', {
    has: workbench.page.locator('.codicon-testing-error-icon'),
    hasNotText: /renamed-in-an-outage|Split:|order-desk/,
  });
  expect(await failed.count()).toBe(0);
  await workbench.screenshot('tests-continuous-broken');
  expect(ofTask()).toBe(own);
  await workbench.openFile(file);
  await workbench.replaceLine(2, 'description: The address service is down now and then.');
  await until('a run of the task', async () => expect(ofTask()).toBe(own + 1));
});
