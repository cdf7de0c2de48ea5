import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { approveDomain } from '../support/approval.ts';
import { addEmptyScripts } from '../support/sampleDomains.ts';
import { picture, pictured } from './support/picture.ts';
import { newestRun } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Two runs of one domain by the command line with different agents: in the view, compared, and in progress. */
const domain = copyDomain('order-desk');
addEmptyScripts(domain.folder, ['wrong-card', 'mistaken-order']);
const runs = join(domain.folder, '.rehearsal', 'runs');
const gold = '20260101-100000-gold';
const scripted = '20260102-100000-scripted';
let workbench: Workbench;
let model: Server;

beforeAll(async () => {
  model = await slowModel(2);
  const { port } = model.address() as AddressInfo;
  appendFileSync(join(domain.folder, 'domain.yaml'), `\nagent: openai:m@http://127.0.0.1:${port}/v1\n`);
  approveDomain(domain.folder);
  const settings = { ...pictured.settings, 'rehearsal.model.price': '1000/2000' };
  // A server that another file started does not know the approval, so this one has its own.
  workbench = await Workbench.open(domain.folder, { ...pictured, settings, env: {} });
  await workbench.showViews();
});

afterAll(async () => {
  await workbench?.close();
  model?.closeAllConnections();
  model?.close();
  domain.remove();
});

/** Serves a model that answers this many requests, 7 tokens in and 3 out, and then never answers. */
async function slowModel(answers: number): Promise<Server> {
  let requests = 0;
  const message = { role: 'assistant', content: 'Which order is it about?' };
  const body = {
    id: 'c',
    object: 'chat.completion',
    created: 0,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  };
  const server = createServer((request, response) => {
    request.resume();
    requests += 1;
    if (requests > answers) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

function evaluated(name: string, agent: string): void {
  const args = ['eval', domain.folder, '--agent', agent, '--tasks', 'lamp-variant,wrong-card,mistaken-order'];
  const more = ['--trials', '2', '--out', join(runs, name), '--json'];
  execFileSync(process.execPath, [inRoot('dist', 'rehearsal.mjs'), ...args, ...more]);
}

const pane = (name: string): Locator =>
  workbench.page.locator('.pane').filter({ has: workbench.page.locator(`.pane-header[aria-label^="${name}"]`) });

/** A row of the Runs view. */
const row = (text: string | RegExp): Locator => pane('Runs').locator('.monaco-list-row', { hasText: text }).first();

test('without a run the view says how to get one, and runs come in by themselves, newest first', async () => {
  await workbench.waitForText('.pane-body', 'No runs yet');
  await workbench.screenshot('runs-empty');
  evaluated(gold, 'gold');
  evaluated(scripted, 'scripted');
  await row('scripted').waitFor();
  await until('both runs, finished', async () => {
    const shown = await pane('Runs').locator('.monaco-list-row').allInnerTexts();
    expect(shown.map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/reward 0 · .*scripted · pass\^2 0\.00/),
      expect.stringMatching(/reward 1 · .*gold · pass\^2 1\.00/),
    ]);
  });
});

test('a run opens into tasks and recordings, with who failed; a recording opens in the Trajectory view', async () => {
  await row('scripted').locator('.monaco-tl-twistie').click();
  await row('lamp-variant').locator('.monaco-tl-twistie').click();
  await row(/lamp-variant\.0.*agent failed/).waitFor();
  await workbench.screenshot('runs-tree');
  await row(/lamp-variant\.0/).click();
  await workbench.webviewFrame().getByText('confirm-before-write').first().waitFor();
});

test('two runs are compared: flips first, and one of them shows where its rollouts part', async () => {
  await row(/^gold/).click();
  await row(/^scripted/).click({ modifiers: ['Control'] });
  await workbench.chooseInMenu(row(/^scripted/), 'Compare Runs…');
  const frame = workbench.webviewFrame();
  await frame.getByText('passed → failed').first().waitFor();
  await frame
    .getByText(
      /B against A: difference in mean reward -1\.000 \(95 % -1\.000 to -1\.000\) over 3 tasks, better on 0, worse on 3/,
    )
    .waitFor();
  await frame.getByText("agent's seat: gold → scripted").first().waitFor();
  await frame
    .getByText(/The interval excludes 0, but the exact test decides: .* cannot show a difference before 6 differ/)
    .waitFor();
  const flip = frame.locator('vscode-data-grid-row.opens').filter({ hasText: 'lamp-variant' });
  await flip.click();
  await frame.getByText('They diverge at step 15, where the agent acts differently.').waitFor();
  const parting = await frame.locator('tr.parts td').allInnerTexts();
  expect(parting[1]).toContain('I can change the desk lamp in W1138 to white');
  expect(parting[2]).toContain('change_item(order_id: "W1138"');
  await frame.getByText('orders.W1138.items[0].variant', { exact: true }).waitFor();
  await frame.locator('.sides').evaluate((sides) => sides.scrollIntoView({ block: 'center' }));
  await picture(workbench, 'comparison');
  for (const theme of ['light', 'high contrast', 'dark'] as const) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`runs-compared-${theme.replace(' ', '-')}`);
  }
});

test('a side of the comparison opens in the Trajectory view, and in the debugger where the two part', async () => {
  const { page } = workbench;
  await workbench.webviewFrame().getByRole('button', { name: 'Open recording B' }).click();
  await page.locator('.tab.active', { hasText: 'lamp-variant.0.traj.jsonl' }).waitFor();
  await page.locator('.tab', { hasText: '↔' }).click();
  await workbench.webviewFrame().getByRole('button', { name: 'Debug recording B' }).click();
  await workbench.debug.paused();
  await workbench.press('Shift+F5');
  await workbench.debug.ended();
});

test('two recordings of the view are side by side', async () => {
  await workbench.showViews();
  await row(/lamp-variant\.0/).click();
  // The recording that the click opens takes the focus, and would close the menu.
  await workbench.page.locator('.tab.active', { hasText: 'lamp-variant.0.traj.jsonl' }).waitFor();
  await workbench.webviewFrame().getByRole('button', { name: 'Debug This Recording' }).waitFor();
  await row(/lamp-variant\.1/).click({ modifiers: ['Control'] });
  await workbench.chooseInMenu(row(/lamp-variant\.1/), 'Compare Recordings…');
  const frame = workbench.webviewFrame();
  await frame.getByText('Two recordings').waitFor();
  await frame.getByText('trial: 0 → 1').waitFor();
  await workbench.screenshot('recordings-compared');
});

test('the status bar says what runs and what it has cost; a stop from there keeps what is recorded', async () => {
  const { page } = workbench;
  await workbench.showViews();
  const task = pane('Domains').locator('.monaco-list-row', { hasText: 'forgotten-number' }).first();
  await task.hover();
  await task.locator('.action-label[aria-label^="Run Task"]').click();
  const item = page.locator('.statusbar-item[id$="rehearsal.running"]');
  await until('tokens and cost of two answers', async () => {
    expect((await item.allInnerTexts()).join()).toContain('forgotten-number · 20 tokens · cost 0.03');
  });
  await workbench.screenshot('runs-running');
  await item.click();
  await workbench.pick('Stop forgotten-number');
  await item.waitFor({ state: 'hidden' });
  const run = newestRun(runs);
  const [recording = ''] = readdirSync(run).filter((name) => name.endsWith('.traj.jsonl'));
  const said = readFileSync(join(run, recording), 'utf8').split('\n');
  expect(said.filter((line) => line.includes('"agentReplied"'))).toHaveLength(2);
  await workbench.showViews();
  // The tree is read again when the run ends, which may undo a click that comes before.
  await until('its task, unfinished', async () => {
    const run = row(/^forgotten-number.*unfinished/);
    if ((await run.getAttribute('aria-expanded', { timeout: 5000 })) !== 'true')
      await run.locator('.monaco-tl-twistie').click({ timeout: 5000 });
    expect(await row(/forgotten-number.*1 unfinished/).isVisible()).toBe(true);
  });
});

test('a run whose description is broken says so, and can be deleted', async () => {
  await workbench.showViews();
  const broken = join(runs, '20260103-100000-broken');
  cpSync(join(runs, gold), broken, { recursive: true });
  writeFileSync(join(broken, 'run.json'), '{');
  await until('the broken run', async () => {
    const shown = await pane('Runs').locator('.monaco-list-row').allInnerTexts();
    expect(shown.join().replace(/\s+/g, ' ')).toMatch(/broken ?can’t be read/);
  });
  await workbench.chooseInMenu(row(/broken/), 'Delete Run');
  const button = (name: string) => workbench.page.locator('.monaco-dialog-box .monaco-button', { hasText: name });
  await button('Move to Trash').click();
  const forever = button('Delete Permanently');
  await until('the folder to be gone', async () => {
    if (await forever.isVisible()) await forever.click();
    expect(existsSync(broken)).toBe(false);
  });
  await row(/broken/).waitFor({ state: 'detached' });
});
