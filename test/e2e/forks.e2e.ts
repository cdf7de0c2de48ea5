import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrangeDebugView, picture, pictured } from './support/picture.ts';
import { recordingsIn } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Creates forks in every way: a message in an editor tab, changed files, and a seat that a person takes over. */
const domain = copyDomain('order-desk');
const recordings = recordingsIn(join(domain.folder, '.rehearsal', 'runs'));
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', '- Before any call that changes something');
const asking =
  'I can change the desk lamp in W1138 to white, and the items of an order can be changed only once. Shall I do that?';
const name = (fork: number) => `lamp-variant.0${fork === 0 ? '' : `.fork-${fork}`}.traj.jsonl`;
type Started = {
  readonly policyHash: string;
  readonly system: string;
  readonly seats: { readonly agent: string; readonly user: string };
  readonly parent: { readonly recording: string; readonly edit: string };
};
const startOf = (fork: number) => recordings.events(name(fork))[0] as unknown as Started;
const forksPane = '.pane:has(> .pane-header[aria-label="Forks Section"])';
const notice = () => workbench.page.locator('.statusbar-item[id$="rehearsal.changed"]');
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('a message is opened in an editor tab, and to save it makes a fork', async () => {
  const { debug, page } = workbench;
  await workbench.openFile('policy.md');
  await debug.setBreakpoint(rule);
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await debug.show();
  await arrangeDebugView(workbench);
  await debug.press('step-back');
  await debug.standsAt('agent calls change_item');
  const before = recordings.bytes(name(0));
  await debug.expand('Messages');
  await debug.chooseIn(['Messages', '8 agent'], 'Edit in Editor');
  await page.locator('.tab.active', { hasText: '8 agent.md' }).waitFor();
  await until('the call in the editor', async () =>
    expect((await workbench.editorLines()).join('\n')).toContain('/call change_item {'),
  );
  await workbench.screenshot('fork-value-tab');
  await workbench.page.locator('.editor-group-container.active .view-lines').click();
  await workbench.press('Control+A');
  await page.keyboard.insertText('/call change_item {"order_id": ');
  await workbench.press('Control+S');
  await workbench.notification(/the arguments of change_item are not a JSON object/);
  expect((await workbench.notifications()).length).toBe(1);
  expect(await page.locator('.tab.active.dirty', { hasText: '8 agent.md' }).count(), 'the text is kept').toBe(1);
  expect(recordings.names()).toEqual([name(0)]);
  await page.locator('.tab', { hasText: '8 agent.md' }).click();
  await page.locator('.editor-group-container.active .view-lines').click();
  await workbench.press('Control+A');
  await page.keyboard.insertText(asking);
  await workbench.press('Control+S');
  await debug.standsAt('agent: I can change the desk lamp');
  await debug.waitForConsole("--- fork: the agent's message 8 (step 15) was edited");
  expect(recordings.names()).toEqual([name(1), name(0)].sort());
  expect(recordings.bytes(name(0)).equals(before)).toBe(true);
});

test('the tree of forks shows what was made of what, and which one is shown', async () => {
  const { page } = workbench;
  const header = page.locator('.pane-header[aria-label="Forks Section"]');
  if ((await header.getAttribute('aria-expanded')) === 'false') await header.click();
  await workbench.waitForText(`${forksPane} .monaco-list-rows`, 'fork 1');
  const rows = async () =>
    (await page.locator(`${forksPane} .monaco-list-row`).allInnerTexts()).map((row) =>
      row.replaceAll(/\s+/g, ' ').trim(),
    );
  const [first = '', fork = ''] = await rows();
  expect(first).toMatch(/^lamp-variant\.0 ?unfinished$/);
  expect(fork).toMatch(/^fork 1 ?unfinished · shown · the agent's message 8 \(step 15\) was edited/);
  await workbench.screenshot('fork-tree');
});

test('an edited policy is reported while the rollout is paused, and takes effect in a fork', async () => {
  const { debug } = workbench;
  const path = join(domain.folder, 'policy.md');
  const parent = recordings.bytes(name(1));
  await workbench.openFile('policy.md');
  const line = domain.lineOf('policy.md', '- Make one tool call per message');
  await workbench.replaceLine(
    line,
    '- Call the customer captain. Make one tool call per message, and write nothing to the',
  );
  await until('the saved policy', async () => expect(readFileSync(path, 'utf8')).toContain('captain'));
  await notice().filter({ hasText: 'policy.md changed since step' }).waitFor();
  await workbench.screenshot('fork-policy-changed');
  await notice().click();
  await debug.waitForConsole('--- fork: policy.md swapped at step');
  await notice().waitFor({ state: 'hidden' });
  await until('the fork', async () => expect(recordings.names()).toContain(name(2)));
  expect(startOf(2).system).toContain('Call the customer captain.');
  expect(startOf(2).policyHash).not.toBe(startOf(1).policyHash);
  expect(startOf(2).parent).toMatchObject({ recording: name(1) });
  expect(recordings.bytes(name(1)).equals(parent)).toBe(true);
  await debug.standsAt('agent: I can change the desk lamp');
  await debug.collapse('Messages');
  await debug.expand('Agent sees');
  await debug.waitForValue(['Agent sees', 'instructions'], 'Order desk');
  await workbench.screenshot('fork-swapped');
});

test('a domain that no longer loads refuses the swap with its line, and the session stays', async () => {
  const { debug } = workbench;
  const path = join(domain.folder, 'policy.md');
  const whole = readFileSync(path, 'utf8');
  const [top] = await debug.callStack();
  writeFileSync(path, `${whole}\n- Again. {#look-up-first}\n`);
  await workbench.runCommand('Rehearsal: Fork with Changed Files');
  await workbench.notification(/policy\.md:\d+/);
  await workbench.screenshot('fork-refused');
  expect((await debug.callStack())[0]).toBe(top);
  expect(recordings.names()).not.toContain(name(3));
  writeFileSync(path, whole);
});

test('a person takes over the user, and types its turns into the Debug Console', async () => {
  const { debug, page } = workbench;
  await workbench.runCommand('Rehearsal: Take Over the User from Here');
  await debug.waitForConsole('you play the user, with this goal:');
  await debug.waitForConsole('your turn as the user: type what you say');
  await page.locator('.repl-input-wrapper :focus').waitFor({ state: 'attached' });
  await page.keyboard.type('No, thank you. Please leave it black.');
  await page.keyboard.press('Enter');
  await debug.waitForConsole('user      No, thank you. Please leave it black.');
  await workbench.screenshot('fork-taken-over');
  expect(startOf(3).seats.user).toBe('human');
  expect(startOf(3).parent.edit).toMatch(/^a person took the user's seat at step \d+$/);
});

test('why leads from the verdict to its evidence, with links', async () => {
  const { debug, page } = workbench;
  await debug.press('stop');
  await debug.ended();
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await debug.evaluate('/why');
  await debug.waitForConsole('the database is as it was at the start');
  const row = page.locator('.repl .monaco-list-row', { hasText: 'rule change-once at step 16' }).last();
  await workbench.screenshot('fork-why');
  await row.locator('.source', { hasText: /policy\.md:\d+/ }).click();
  await workbench.waitForText('.part.statusbar', `Ln ${domain.lineOf('policy.md', '{#change-once}') - 1},`);
  await debug.press('stop');
  await debug.ended();
});

test('the notice of changed files ends with the session that it is about', async () => {
  const { debug } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await workbench.openFile('policy.md');
  const line = domain.lineOf('policy.md', 'Call the customer captain');
  await workbench.replaceLine(
    line,
    '- Call the customer friend. Make one tool call per message, and write nothing to the',
  );
  await notice().filter({ hasText: 'policy.md changed since step' }).waitFor();
  await debug.press('restart');
  await notice().waitFor({ state: 'hidden' });
  await debug.stoppedAt(rule);
  await debug.press('stop');
  await debug.ended();
});

test('two recordings of the tree are side by side, and a replay of one asks no model', async () => {
  const { debug, page } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await workbench.runCommand('Rehearsal: Fork from Here');
  await debug.waitForConsole('--- fork: nothing was edited, it continues from step');
  const row = page.locator(`${forksPane} .monaco-list-row`, { hasText: 'fork 1' });
  await workbench.chooseInMenu(row.first(), 'Compare with…');
  await workbench.pick('lamp-variant.0');
  await page.locator('.tab.active', { hasText: '↔' }).waitFor();
  await workbench.webviewFrame().getByText('Databases at the end').waitFor();
  await picture(workbench, 'forks-compared');
  await workbench.runCommand('Rehearsal: Replay');
  await workbench.waitForText('.debug-call-stack .monaco-list-rows', /the start of the recording/i);
  await workbench.screenshot('fork-replayed');
});
