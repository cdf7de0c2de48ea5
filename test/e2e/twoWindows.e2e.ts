import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Opens two windows on one folder: two servers, whose extension hosts write runs at the same time. */
const domain = copyDomain('order-desk');
const runs = join(domain.folder, '.rehearsal', 'runs');
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', '{#confirm-before-write}');
const windows: Workbench[] = [];

beforeAll(async () => {
  for (let count = 0; count < 2; count += 1)
    windows.push(await Workbench.open(domain.folder, { ...pictured, env: {} }));
});

afterAll(async () => {
  await Promise.all(windows.map((each) => each.close()));
  domain.remove();
});

const inBoth = <T>(act: (window: Workbench) => Promise<T>): Promise<readonly T[]> => Promise.all(windows.map(act));

test('each window has its own run', async () => {
  await inBoth(async (window) => {
    await window.openFile(task);
    await window.debug.start();
    await window.debug.stoppedAt(rule);
  });
  expect(readdirSync(runs)).toHaveLength(2);
  await inBoth(async ({ debug }) => {
    await debug.press('stop');
    await debug.ended();
  });
});

test('each window has its own fork of one recording', async () => {
  const run = join(runs, readdirSync(runs).sort().at(-1) ?? '');
  const forks = () => readdirSync(run).filter((name) => /\.fork-\d+\.traj\.jsonl$/.test(name));
  await inBoth(async (window) => {
    await window.showViews();
    const view = window.page.locator('.pane', { has: window.page.locator('.pane-header[aria-label^="Runs"]') });
    // The newest run is the first, then its task, and then the recording.
    const rowAt = (index: number) => view.locator(`.monaco-list-row[data-index="${index}"]`);
    for (const index of [0, 1]) {
      if ((await rowAt(index).getAttribute('aria-expanded')) === 'false')
        await rowAt(index).locator('.monaco-tl-twistie').click();
      await view.locator(`.monaco-list-row[data-index="${index + 1}"][aria-level="${index + 2}"]`).waitFor();
    }
    await rowAt(2).click();
    await window.webviewFrame().getByRole('button', { name: 'Debug This Recording' }).click();
    await window.debug.paused();
  });
  await inBoth((window) => window.runCommand('Rehearsal: Fork from Here'));
  await until('both forks', async () => expect(forks()).toHaveLength(2));
  await inBoth(async (window) => {
    await window.debug.waitForConsole(/--- fork: .* It is recorded in lamp-variant\.0\.fork-\d\.traj\.jsonl/);
    await window.press('Shift+F5');
    await window.debug.ended();
  });
  for (const name of forks()) expect(readFileSync(join(run, name), 'utf8')).toMatch(/^\{"n":0,/);
});

test('a task that one window saves is in the form of the other, whose own edits stay', async () => {
  const [first, second] = windows as [Workbench, Workbench];
  const description = (window: Workbench) => window.webviewFrame().getByLabel('Description', { exact: true });
  await inBoth(async (window) => {
    await window.openFile(task);
    await window.runCommand('Rehearsal: Open in Visual Editor');
    await description(window).waitFor();
  });
  await description(first).fill('Another lamp.');
  await until('the saved file', async () => {
    await first.press('Control+S');
    expect(readFileSync(join(domain.folder, task), 'utf8')).toContain('description: Another lamp.');
  });
  await until('the form', async () => expect(await description(second).inputValue()).toBe('Another lamp.'));
  // From here on, both windows have their own edits.
  await description(second).fill('A lamp of the second window.');
  await second.page.locator('.tab.active.dirty').waitFor();
  await description(first).fill('A lamp of the first window.');
  await until('the saved file', async () => {
    await first.press('Control+S');
    expect(readFileSync(join(domain.folder, task), 'utf8')).toContain('A lamp of the first window.');
  });
  await second.press('Control+S');
  await second.notification(/the content of the file is newer/i);
  expect(await description(second).inputValue()).toBe('A lamp of the second window.');
  expect(readFileSync(join(domain.folder, task), 'utf8')).toContain('A lamp of the first window.');
  await second.screenshot('two-windows');
});
