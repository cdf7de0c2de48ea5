import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrangeDebugView, picture, pictured } from './support/picture.ts';
import { recordingsIn } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/**
 * The first fifteen minutes of a new user: the sample failure of order-desk, stopped on the rule that it breaks,
 * undone, answered differently, and rewarded.
 */
const domain = copyDomain('order-desk');
const recordings = recordingsIn(join(domain.folder, '.rehearsal', 'runs'));
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', '- Before any call that changes something');
const asking =
  'I can change the desk lamp in W1138 to white, and the items of an order can be changed only once. Shall I do that?';
const offeringBrass =
  'I can change the desk lamp in W1138 to brass, and the items of an order can be changed only once. Shall I do that?';
/** The last message when the debugger has stepped back before the rule's check: the call without a yes. */
const call = '8 agent';
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('F5 on the well-known failure stops on the rule that it breaks, and says why', async () => {
  const { debug } = workbench;
  await workbench.openFile(task);
  await workbench.waitForText('.codelens-decoration', 'Debug');
  await workbench.openFile('policy.md');
  await debug.setBreakpoint(rule);
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await debug.show();
  await arrangeDebugView(workbench);
  await waitForStack('before change_item: confirm-before-write, change-once violated');
  await waitForReason('rule confirm-before-write violated');
  await waitForReason('rule change-once violated');
  await debug.waitForConsole('confirm-before-write (makes the reward 0)');
  const places = {
    'confirm-before-write (': rule,
    'change-once:': domain.lineOf('policy.md', 'The items of an order can'),
  };
  for (const [text, line] of Object.entries(places)) {
    const row = workbench.page.locator('.repl .monaco-list-row', { hasText: text });
    expect(await row.locator('.source').first().textContent()).toBe(`policy.md:${line}`);
  }
  await debug.expand('Messages');
  await picture(workbench, 'breakpoint');
});

test('a message that asks, in place of the call, makes a fork that ends with reward 1', async () => {
  const { debug } = workbench;
  const first = recordings.bytes('lamp-variant.0.traj.jsonl');
  await debug.press('step-back');
  await waitForStack('agent calls change_item');
  await edit(['Messages', call], asking, 1);
  await debug.waitForConsole('--- fork:');
  await waitForStack('agent: I can change the desk lamp');
  await debug.waitForValue(['Messages', call], 'Shall I do that?');
  // VS Code draws lenses a moment after a stop.
  await workbench.page.locator('.codelens-decoration', { hasText: 'violated' }).first().waitFor({ state: 'hidden' });
  await workbench.page.locator('.codelens-decoration', { hasText: 'held' }).first().waitFor();
  await picture(workbench, 'fork');

  await debug.press('continue');
  await waitForStack('before change_item:');
  await waitForReason('rule confirm-before-write held');
  await debug.press('continue');
  await debug.waitForConsole(/REWARD 1\b/);
  await waitForStack('reward 1');
  await debug.expand('Messages');
  // VS Code can leave a breakpoint's mark on the file that it switches to; showing that file again removes it.
  await workbench.page.locator('.tab', { hasText: 'policy.md' }).click();
  await workbench.page.locator('.debug-call-stack .monaco-list-row').first().click();
  await debug.stoppedAt(domain.lineOf(task, 'id: lamp-variant'));
  // The lenses of the policy can stay until those of the task are drawn.
  await workbench.page.locator('.codelens-decoration', { hasText: 'Play as User' }).first().waitFor();
  await picture(workbench, 'reward');
  expect(rewardOf('lamp-variant.0.fork-1.traj.jsonl')).toBe(1);
  expect(said('lamp-variant.0.fork-1.traj.jsonl')).toContain(asking);
  expect(recordings.bytes('lamp-variant.0.traj.jsonl').equals(first)).toBe(true);
});

test('another edit gives another conversation, again with reward 1', async () => {
  const { debug } = workbench;
  const [first, fork] = ['lamp-variant.0.traj.jsonl', 'lamp-variant.0.fork-1.traj.jsonl'].map(recordings.bytes);
  await edit(['Messages', call], offeringBrass, 2);
  await waitForStack('agent: I can change the desk lamp in W1138 to brass');
  await debug.waitForValue(['Messages', call], 'to brass');
  await debug.press('continue');
  await waitForStack('before change_item:');
  await debug.press('continue');
  await waitForStack('reward 1');
  expect(rewardOf('lamp-variant.0.fork-2.traj.jsonl')).toBe(1);
  expect(said('lamp-variant.0.fork-2.traj.jsonl')).not.toEqual(said('lamp-variant.0.fork-1.traj.jsonl'));
  expect(recordings.bytes('lamp-variant.0.traj.jsonl').equals(first as Buffer)).toBe(true);
  expect(recordings.bytes('lamp-variant.0.fork-1.traj.jsonl').equals(fork as Buffer)).toBe(true);
  await debug.press('continue');
  await debug.ended();
});

test('an unsafe edit, another variant without asking, ends with reward 0', async () => {
  const { debug } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  const before = recordings.bytes('lamp-variant.0.traj.jsonl');
  await debug.press('step-back');
  await waitForStack('agent calls change_item');
  await debug.expand('Messages', call, 'change_item');
  await edit(['Messages', call, 'change_item', 'variant'], 'brass', 1);
  await debug.waitForConsole('--- fork:');
  await debug.press('continue');
  await waitForStack('before change_item:');
  await waitForReason('rule confirm-before-write violated');
  await debug.press('continue');
  await waitForStack('reward 0');
  await debug.waitForConsole(/REWARD 0\s+rule confirm-before-write was violated/);
  expect(rewardOf('lamp-variant.0.fork-1.traj.jsonl')).toBe(0);
  expect(recordings.bytes('lamp-variant.0.traj.jsonl').equals(before)).toBe(true);
  await workbench.screenshot('reward-0');
  await debug.press('stop');
  await debug.ended();
});

test('Edit What the Agent Says…, above the line of the stop, forks with the message and keeps the rule in view', async () => {
  const { debug, page } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  const edit = page.locator('.codelens-decoration a', { hasText: 'Edit What the Agent Says' });
  // A verdict behind it may be longer than the line.
  await page.locator('.codelens-decoration', { hasText: /Edit What the Agent Says.*violated/ }).waitFor();
  await edit.click();
  await until('an empty box', async () => expect(await page.locator('.quick-input-box input').inputValue()).toBe(''));
  await workbench.screenshot('edit-what-the-agent-says');
  await workbench.answer(asking);
  await debug.waitForConsole('--- fork:');
  await waitForStack('agent: I can change the desk lamp');
  await debug.stoppedAt(rule);
  await debug.press('continue');
  await waitForReason('rule confirm-before-write held');
  await debug.press('continue');
  await waitForStack('reward 1');
  await debug.press('stop');
  await debug.ended();
});

test('the row of a run shows how its best fork came out', async () => {
  await workbench.showViews();
  const runs = workbench.page
    .locator('.pane')
    .filter({ has: workbench.page.locator('.pane-header[aria-label^="Runs"]') });
  for (const reward of [1, 0])
    await runs
      .locator('.monaco-list-row', { hasText: `best fork: reward ${reward}` })
      .first()
      .waitFor();
  await workbench.screenshot('runs-best-fork');
});

/** Edits a value and waits until the debugger is stopped in the fork that this creates. */
async function edit(path: readonly string[], text: string, fork: number): Promise<void> {
  await workbench.debug.setValue(path, text);
  await until(`fork ${fork}`, async () =>
    expect(recordings.names()).toContain(`lamp-variant.0.fork-${fork}.traj.jsonl`),
  );
  await waitForReason('forked: continues from the edited');
}

async function waitForStack(text: string): Promise<void> {
  await workbench.waitForText('.debug-call-stack .monaco-list-rows', text);
}

/** Waits until the debugger shows why it has stopped. */
async function waitForReason(text: string): Promise<void> {
  await workbench.waitForText('.pane-header[aria-label="Call Stack Section"]', text);
}

function rewardOf(name: string): number | undefined {
  return recordings.events(name).find(({ type }) => type === 'rewarded')?.reward;
}

/** Returns the messages of the agent and the user, in order. */
function said(name: string): string[] {
  return recordings
    .events(name)
    .flatMap(({ type, content }) => (/^(?:agent|user)Replied$/.test(type) && content ? [content] : []));
}
