import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrangeDebugView, pictured } from './support/picture.ts';
import { recordingsIn } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Tests every button of the debug toolbar, on a breakpoint in a task file and one on a tool. */
const domain = copyDomain('order-desk');
const recordings = recordingsIn(join(domain.folder, '.rehearsal', 'runs'));
const task = 'tasks/lamp-variant.task.yaml';
const starts = domain.lineOf(task, 'id: lamp-variant');
const tool = domain.lineOf('tools.ts', 'export const get_order');
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('breakpoints in a task file and on a tool stop at the start of the task and at the call', async () => {
  const { debug } = workbench;
  await workbench.openFile('tools.ts');
  await debug.setBreakpoint(tool);
  await workbench.openFile(task);
  await debug.setBreakpoint(starts);
  await debug.start();
  await debug.stoppedAt(starts);
  await debug.show();
  await arrangeDebugView(workbench);
  await debug.standsAt('lamp-variant begins');
  await workbench.screenshot('walk-task');
  await debug.press('continue');
  await debug.standsAt('get_order is called');
  await workbench.page.locator('.tab.active', { hasText: 'tools.ts' }).waitFor();
  await debug.stoppedAt(tool);
  await debug.expand('Messages');
  await debug.waitForValue(['Messages', '1 user'], "Hello, I'm Hugo Okafor");
  await workbench.screenshot('walk-tool');
});

test('over, into, out, back and reverse go where they say', async () => {
  const { debug } = workbench;
  for (const [button, place] of [
    ['step-over', 'agent calls list_variants'],
    ['step-into', 'before list_variants: 2 rules held'],
    ['step-into', 'list_variants is called'],
    ['step-out', 'the tool returns'],
    ['step-back', 'list_variants is called'],
    ['step-back', 'before list_variants: 2 rules held'],
    ['reverse-continue', 'get_order is called'],
    ['reverse-continue', 'lamp-variant begins'],
    ['continue', 'get_order is called'],
  ] as const) {
    await debug.press(button);
    await debug.standsAt(place);
  }
  expect(recordings.names(), 'to go back and forth makes nothing new').toEqual(['lamp-variant.0.traj.jsonl']);
});

test('a database value that is edited in VARIABLES makes a fork that continues from it', async () => {
  const { debug } = workbench;
  const first = recordings.bytes('lamp-variant.0.traj.jsonl');
  const place = ['Database', 'products', 'desk lamp', 'variants', 'white', 'available'];
  await debug.setValue(place, 'false');
  await until('the fork', async () => expect(recordings.names()).toHaveLength(2));
  await debug.waitForConsole('--- fork: products["desk lamp"].variants.white.available was edited');
  await debug.standsAt('the database was edited');
  await debug.waitForValue(place, 'false   (was true)');
  await workbench.screenshot('walk-fork');
  // The value changes between two calls, so the current call is made now, with the new value.
  await debug.press('continue');
  await debug.standsAt('get_order is called');
  await debug.press('continue');
  await until('the stock that the agent reads', async () =>
    expect(recordings.bytes('lamp-variant.0.fork-1.traj.jsonl').toString('utf8')).toContain(
      String.raw`\"white\":{\"price\":55.9,\"available\":false}`,
    ),
  );
  await debug.paused();
  const events = recordings.events('lamp-variant.0.fork-1.traj.jsonl');
  expect(events.map(({ type }) => type)).toContain('worldEdited');
  expect(events[0]).toMatchObject({ parent: { recording: 'lamp-variant.0.traj.jsonl' } });
  expect(recordings.bytes('lamp-variant.0.traj.jsonl').equals(first)).toBe(true);
});

test('stop ends the session at the current step, and the recording is kept', async () => {
  const { debug } = workbench;
  await debug.press('stop');
  await debug.ended();
  expect(recordings.events('lamp-variant.0.fork-1.traj.jsonl').length).toBeGreaterThan(5);
});

test('pause stops a rollout that waits for a person; continue waits on; stop ends it', async () => {
  const { debug } = workbench;
  mkdirSync(join(domain.folder, '.vscode'));
  const configuration = {
    type: 'rehearsal',
    request: 'launch',
    name: 'By hand',
    domain: '${workspaceFolder}',
    task: 'lamp-variant',
    agent: 'human',
  };
  const launch = { version: '0.2.0', configurations: [configuration] };
  writeFileSync(join(domain.folder, '.vscode', 'launch.json'), JSON.stringify(launch));
  // The list is computed when it opens, and VS Code notices a new file with a delay.
  await until('the configuration in the list', async () => {
    await workbench.runCommand('Debug: Select and Start Debugging');
    expect((await workbench.picks()).join()).toContain('By hand');
  });
  await workbench.pick('By hand');
  await debug.standsAt('lamp-variant begins');
  await debug.press('continue');
  await debug.waitForConsole('your turn as the agent: type what you say');
  await debug.press('pause');
  await debug.paused();
  await workbench.waitForText('.pane-header[aria-label="Call Stack Section"]', 'paused in the turn of the agent');
  await workbench.screenshot('walk-pause');
  await debug.press('continue');
  await debug.evaluate('Could you tell me your email address, please?');
  await debug.waitForConsole('My email address is hugo.okafor@example.com');
  await debug.press('stop');
  await debug.ended();
  const [typed] = recordings.events('lamp-variant.0.traj.jsonl').filter(({ type }) => type === 'agentReplied');
  expect(typed).toMatchObject({ content: 'Could you tell me your email address, please?' });
});
