import { afterAll, expect, test } from 'vitest';
import { modelServer } from '../support/modelServer.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const domain = copyDomain('parcel-desk');
let workbench: Workbench | undefined;

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('Test Connection says how the endpoint and its model do, and what is missing', async () => {
  const { url, requests } = await modelServer(() => 'I like turtles.');
  const settings = { 'rehearsal.model.baseUrl': url, 'rehearsal.model.name': 'turtle' };
  workbench = await Workbench.open(domain.folder, { settings });
  await workbench.runCommand('Rehearsal: Test Connection');
  await workbench.notification(/The endpoint answers, but the model does not do what it is asked\. turtle: /);
  expect(requests.length).toBeGreaterThan(0);
  await workbench.screenshot('connection');
  await workbench.runCommand('Notifications: Clear All Notifications');
});

test('the walkthrough leads from a sample to a model that was trained', async () => {
  if (!workbench) throw new Error('the test before did not begin');
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.answer('Rehearse an agent in five minutes');
  await workbench.waitForText('.gettingStartedContainer', 'Open a sample domain');
  await workbench.waitForText('.gettingStartedContainer', 'Train on the same rollouts');
  await workbench.screenshot('walkthrough');
});
