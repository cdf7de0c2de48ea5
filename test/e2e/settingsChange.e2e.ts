import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Changes settings while a run of the Test Explorer waits for its model. */
const domain = copyDomain('order-desk');
const runs = join(domain.folder, '.rehearsal', 'runs');
let workbench: Workbench;
let model: Server;
/** Answers the waiting requests, and later ones. */
let release: () => void = () => undefined;
let waiting = 0;

beforeAll(async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const message = { role: 'assistant', content: 'I cannot help you with that. ###STOP###' };
  const body = {
    ...{ id: 'c', object: 'chat.completion', created: 0, model: 'm' },
    choices: [{ index: 0, finish_reason: 'stop', message }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  };
  model = createServer((request, response) => {
    request.resume();
    waiting += 1;
    void released.then(() => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
  });
  await new Promise<void>((listening) => model.listen(0, '127.0.0.1', listening));
  const { port } = model.address() as AddressInfo;
  appendFileSync(join(domain.folder, 'domain.yaml'), `\nagent: openai:m@http://127.0.0.1:${port}/v1\n`);
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  release();
  await workbench?.close();
  model?.closeAllConnections();
  model?.close();
  domain.remove();
});

const row = (label: string): Locator =>
  workbench.page.locator('.test-explorer .monaco-list-row', { hasText: label }).first();

test('a run keeps the settings that it began with, and its results are in the tree of the new ones', async () => {
  const { page } = workbench;
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  await row('order-desk').waitFor();
  await until('the splits', async () => {
    if (!(await row('train').isVisible())) {
      await row('order-desk').click();
      await workbench.press('ArrowRight');
    }
    await row('train').waitFor({ timeout: 2000 });
  });
  await workbench.chooseInMenu(row('train'), 'Run Test');
  await workbench.confirm(/Approve what "order-desk" does/, 'Approve');
  await until('a request to the model', async () => expect(waiting).toBeGreaterThan(0));
  mkdirSync(join(domain.folder, '.vscode'));
  const settings = {
    'rehearsal.tests.groupBy': 'persona',
    'rehearsal.tests.trials': 3,
    'rehearsal.model.price': '1000/2000',
  };
  writeFileSync(join(domain.folder, '.vscode', 'settings.json'), JSON.stringify(settings));
  await until('the personas', async () => expect(await row('train').isVisible()).toBe(false));
  await workbench.screenshot('settings-changed');
  release();
  await page.locator('.test-explorer .codicon-testing-failed-icon').first().waitFor();
  await until('the end of the run', async () =>
    expect(await page.locator('.part.statusbar', { hasText: 'testing' }).count()).toBe(0),
  );
  await workbench.screenshot('settings-results');
  const [run = '', ...others] = readdirSync(runs);
  expect(others).toEqual([]);
  const trials = readdirSync(join(runs, run)).filter((name) => name.endsWith('.traj.jsonl'));
  expect(trials.filter((name) => !name.endsWith('.0.traj.jsonl'))).toEqual([]);
  expect(await page.locator('.test-explorer .codicon-testing-error-icon').count()).toBe(0);
  expect(await workbench.notifications()).toEqual([]);
});
