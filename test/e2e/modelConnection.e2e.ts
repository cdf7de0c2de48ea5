import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parcelAgent } from '../support/scriptedAgents.ts';
import { serveModel } from '../support/scriptedModel.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const domain = copyDomain('parcel-desk');
let workbench: Workbench;

afterAll(async () => {
  await workbench?.close();
  model.close();
  domain.remove();
});

const key = 'sk-fitting-0123456789';
let turtles = true;
const model = await serveModel((request) => (turtles ? 'I like turtles.' : parcelAgent(request)), { key });

beforeAll(async () => {
  const settings = { 'rehearsal.model.baseUrl': model.url, 'rehearsal.model.name': 'turtle' };
  workbench = await Workbench.open(domain.folder, { settings });
});

/** Stores a key as a person does, in the box that hides its letters; it is never removed. */
async function storeKey(text: string): Promise<void> {
  await workbench.runCommand('Rehearsal: Set Model Key…');
  const input = workbench.page.locator('.quick-input-widget:visible input[type="password"]');
  await input.fill(text);
  await workbench.press('Enter');
  await input.waitFor({ state: 'hidden' });
}

/** Runs Test Connection. Returns its message, and the number of requests that the endpoint received for it. */
async function tested(): Promise<{ readonly said: string; readonly taken: number }> {
  const before = model.requests.length;
  await workbench.clearNotifications();
  await workbench.runCommand('Rehearsal: Test Connection');
  const said = await workbench.notification(/connection|endpoint answers/);
  return { said, taken: model.requests.length - before };
}

test.each([
  ['no key', ''],
  ['another key', 'sk-wrong-9876543210'],
])('with %s Test Connection says that the endpoint refuses it, and shows no key', async (_, text) => {
  await storeKey(text);
  const { said, taken } = await tested();
  expect(said).toMatch(/^The connection does not work\. turtle: .*401/);
  expect([said.includes(key), text !== '' && said.includes(text), taken]).toEqual([false, false, 0]);
});

test('with the key that is stored Test Connection says how the model does, and that it works', async () => {
  await storeKey(key);
  const one = await tested();
  expect(one.said).toMatch(/^The endpoint answers, but the model does not follow its instructions\. turtle: /);
  expect(one.taken).toBeGreaterThan(0);
  turtles = false;
  const { said, taken } = await tested();
  expect(said).toMatch(/^The connection works\. turtle: did the task: \d+ replies, 2 calls, 0 of them with an error/);
  expect(taken).toBeGreaterThan(3);
  await workbench.screenshot('connection');
});

test('the key is in no file of the folder, and a key that is removed is sent no more', async () => {
  const files = readdirSync(domain.folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  expect(texts.some((text) => text.includes(key))).toBe(false);
  await storeKey('');
  expect((await tested()).said).toMatch(/401/);
});

test('the walkthrough leads from a sample to a model that was trained', async () => {
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.answer('Rehearse an agent in five minutes');
  await workbench.waitForText('.gettingStartedContainer', 'Open a sample domain');
  await workbench.waitForText('.gettingStartedContainer', 'Train on the same rollouts');
  await workbench.screenshot('walkthrough');
});
