import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { animate, type Frame } from '../../scripts/animatedPicture.ts';
import { inRoot } from '../../scripts/repository.ts';
import { arrangeDebugView, pictured } from './support/picture.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Follows the five minutes of the README step by step. With REHEARSAL_PICTURES=1 they become its picture. */
const domain = copyDomain('order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', '{#confirm-before-write}');
const question = 'I can change the lamp to white. Shall I do that?';
const frames: Frame[] = [];
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

/** Adds a frame of the window to the film. */
async function film(milliseconds: number): Promise<void> {
  await workbench.page.mouse.move(2, 2);
  frames.push({ png: await workbench.page.screenshot(), milliseconds });
}

test('the task fails', async () => {
  await workbench.openFile(task);
  await workbench.page.locator('.codelens-decoration a', { hasText: 'Run' }).first().click();
  await workbench.waitForText('.codelens-decoration', '0/1 passed');
  await film(2500);
});

test('Debug stops before the call that breaks a rule', async () => {
  const { debug, page } = workbench;
  await page.locator('.codelens-decoration a', { hasText: 'Debug' }).first().click();
  await debug.stoppedAt(rule);
  await debug.show();
  await arrangeDebugView(workbench);
  await debug.waitForConsole('confirm-before-write (makes the reward 0)');
  await film(3500);
});

test('an edit makes a fork, which ends with reward 1', async () => {
  const { debug, page } = workbench;
  await page.locator('.codelens-decoration a', { hasText: 'Edit What the Agent Says' }).click();
  await page.locator('.quick-input-box input').fill(question);
  await film(3000);
  await workbench.press('Enter');
  await debug.waitForConsole('--- fork:');
  await workbench.waitForText('.debug-call-stack .monaco-list-rows', 'agent: I can change the lamp');
  await film(2500);
  await debug.press('continue');
  await workbench.waitForText('.pane.expanded:has(.debug-call-stack)', 'reward 1');
  await debug.waitForConsole(/REWARD 1\b/);
  await film(4000);
});

test('the frames are one picture', () => {
  expect(frames).toHaveLength(5);
  const name = process.env['REHEARSAL_PICTURES'] ? inRoot('docs', 'pictures') : inRoot('dist', 'test', 'screenshots');
  const picture = animate(frames);
  writeFileSync(join(name, 'story.png'), picture);
  expect(readFileSync(join(name, 'story.png')).subarray(37, 41).toString('latin1')).toBe('acTL');
});
