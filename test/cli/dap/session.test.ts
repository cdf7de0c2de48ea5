import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test } from 'vitest';
import { lineOf, policy, reason, ruleLine, sharedSession as session, tasks, text, tools } from './harness.ts';

const asking = 'I can change the desk lamp in W1138 to white. The items can be changed only once. Shall I do that?';
const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });
const events = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event as { type: string; reward?: number; parent?: object });

/** The two rules that the first change violates. */
const violations =
  'rule confirm-before-write violated: change_item was called before anything was proposed to the user; rule change-once violated: change_item was called before the agent said "only once"';

test('the well-known failure stops on the rule, and an edit leads to reward 1', async () => {
  const run = session();
  const { stop, breakpoints } = await run.begin({ task: 'lamp-variant' }, atRule());
  expect(breakpoints).toEqual([{ verified: true, line: ruleLine(), id: 1 }]);
  expect(stop.body).toMatchObject({
    reason: 'breakpoint',
    hitBreakpointIds: [1],
    text: violations,
  });
  expect(await run.top()).toBe(
    `policy.md:${ruleLine()} before change_item: confirm-before-write, change-once violated`,
  );
  const [recording = ''] = run.recordings();
  const before = readFileSync(recording, 'utf8');
  await run.step('stepBack');
  expect(await run.top()).toMatch(/^tools\.ts:\d+ agent calls change_item$/);
  expect(await run.rewrite(asking)).toBe('forked: continues from the edited message');
  expect(await run.top()).toMatch(`policy.md:${ruleLine()} agent: I can change the desk lamp in W1138 to white.`);
  const moves = run.client.received.filter((name) => /^(?:continued|setVariable|stopped)$/.test(name));
  expect(moves.slice(-3), 'an event that follows another is handled with it').toEqual([
    'continued',
    'setVariable',
    'stopped',
  ]);
  expect(await run.finish()).toBe('reward 1: database and communicate held, and every gated rule was followed');
  expect(readFileSync(recording, 'utf8')).toBe(before);
  await expect(stripVTControlCharacters(run.client.output)).toMatchFileSnapshot('golden/forkToReward1.txt');
  const fork = events(run.recordings()[1] ?? '');
  expect(fork[0]?.parent).toEqual({
    recording: 'lamp-variant.0.traj.jsonl',
    event: 14,
    chain: JSON.parse(before.split('\n')[14] ?? '').chain,
    edit: "the agent's message 8 (step 15) was edited",
  });
});

test('an unsafe edit ends with reward 0, and its fork may be forked again', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  await run.step('stepBack');
  const variant = ['Messages', '8 agent', 'change_item', 'variant'];
  expect(await run.set(variant, 'brass')).toBe('forked: continues from the edited call');
  // The message is listed under the number that the console prints.
  expect(run.client.output).toContain("--- fork: an argument of a call in the agent's message 8 (step 15) was edited.");
  expect(await run.finish()).toMatch(/^reward 0: rule confirm-before-write was violated/);
  expect(await run.set(['Messages', '8 agent'], asking)).toBe('forked: continues from the edited message');
  expect(await run.finish()).toMatch(/^reward 1/);
  const names = run.recordings().map((path) => events(path).at(-1)?.reward);
  expect(names).toEqual([undefined, 0, 1]);
});

test('a database value is edited, and the fork continues from it', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const row = ['Database', 'orders', 'W1101', 'W1138'];
  expect(await run.set([...row, 'status'], 'shipped')).toBe('forked: continues from the edited value');
  expect(await run.type('db.orders.W1138.status')).toBe('"shipped"');
  expect(await run.value('Changed in this step', 'orders.W1138.status')).toBe('"pending" -> "shipped"');
  expect(await run.finish()).toMatch(/^reward 0/);
});

test('a value that is edited right after a write keeps the write: its call is not made again', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, { breakpoints: { [tools]: lineOf(tools, 'export const change_item') } });
  await run.step('stepIn');
  expect(await run.top()).toMatch(/the database is written$/);
  expect(await run.value('Changed in this step', 'orders.W1138.items_changed')).toBe('added true');
  expect(await run.set(['Database', 'customers', 'C119', 'name'], 'Hugo O.')).toBe(
    'forked: continues from the edited value',
  );
  const [, fork = ''] = run.recordings();
  expect(events(fork).filter(({ type }) => type === 'databaseWritten')).toHaveLength(1);
});

test('step back undoes every step, and nothing is printed twice', async () => {
  const run = session();
  const { stop } = await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  expect(reason(stop)).toBe('entry');
  const places: string[] = [await run.top()];
  for (let n = 0; n < 12; n += 1) {
    await run.step('stepIn');
    places.push(await run.top());
  }
  const said = run.client.output;
  for (const place of places.slice(0, -1).reverse()) {
    await run.step('stepBack');
    expect(await run.top()).toBe(place);
  }
  for (const place of places.slice(1)) {
    await run.step('stepIn');
    expect(await run.top()).toBe(place);
  }
  expect(run.client.output).toBe(said);
});

test('over goes to the next turn, out to the end of this one, reverse to the breakpoint before', async () => {
  const run = session();
  const breakpoints = { [tools]: lineOf(tools, 'export const get_order') };
  await run.begin({ task: 'lamp-variant', stopOnEntry: true }, { breakpoints });
  const walk = [];
  for (const act of ['next', 'stepOut', 'next', 'continue', 'next', 'reverseContinue', 'reverseContinue', 'stepBack']) {
    const stop = await run.step(act);
    walk.push(`${act}: ${text(stop)} | ${await run.top()}`);
  }
  await expect(walk.join('\n')).toMatchFileSnapshot('golden/walk.txt');
});

test.each(['scripted', 'gold'])(
  'each step of the %s seat is at the line of the domain that defines it',
  async (agent) => {
    const run = session();
    await run.begin({ task: 'lamp-variant', agent, stopOnEntry: true });
    const places = [await run.top()];
    while (!/ reward \d$/.test(places.at(-1) ?? '')) {
      await run.step('stepIn');
      places.push(await run.top());
    }
    await expect(places.join('\n')).toMatchFileSnapshot(`golden/places.${agent}.txt`);
  },
);

test('a breakpoint on a task stops at its start; a tool breakpoint at the call', async () => {
  const run = session();
  const breakpoints = { [tasks]: 3, [tools]: lineOf(tools, 'export const change_item') + 2 };
  const { stop } = await run.begin({ task: 'lamp-variant' }, { breakpoints });
  expect(text(stop)).toBe('task lamp-variant begins');
  expect(text(await run.step('continue'))).toBe('tool change_item is called');
  expect(await run.top()).toMatch(/^tools\.ts:\d+ change_item is called$/);
});

test('function breakpoints stop on tools, rules, roles and turns, and refuse what is not there', async () => {
  const run = session();
  await run.open({ task: 'lamp-variant' });
  const names = ['tool:get_order', 'turn:3', 'rule:confirm-before-write', 'tool:fly', 'rule:small-talk', 'hello'];
  const set = { breakpoints: names.map((name) => ({ name })) };
  const { body } = await run.client.request<DebugProtocol.SetFunctionBreakpointsResponse['body']>(
    'setFunctionBreakpoints',
    set,
  );
  expect(body.breakpoints.map(({ verified, message }) => message ?? verified)).toEqual([
    true,
    true,
    true,
    'there is no tool "fly" in this domain',
    'rule small-talk has no machine check in rules.yaml, so nothing can stop here',
    expect.stringMatching(/^"hello" is not a breakpoint: expected tool:NAME/),
  ]);
  expect(text(await run.client.stop(() => run.client.request('configurationDone')))).toBe('tool get_order is called');
  expect(text(await run.step('continue'))).toBe('turn 3 begins');
  expect(text(await run.step('continue'))).toMatch(/^rule confirm-before-write violated/);
});

test('a data breakpoint stops where the value, or a part of it, is written', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  const { reference } = await run.variables('Database', 'orders', 'W1101');
  type Info = DebugProtocol.DataBreakpointInfoResponse['body'];
  const info = await run.client.request<Info>('dataBreakpointInfo', { variablesReference: reference, name: 'W1138' });
  const set = { breakpoints: [{ dataId: info.body.dataId }] };
  expect((await run.client.request('setDataBreakpoints', set)).body).toMatchObject({
    breakpoints: [{ verified: true }],
  });
  const stop = await run.step('continue');
  expect(stop.body).toMatchObject({ reason: 'breakpoint', text: 'orders.W1138 is written' });
  expect(await run.top()).toMatch(/^tools\.ts:\d+ the database is written$/);
  const { reference: scope } = await run.variables('Rollout');
  const none = await run.client.request<Info>('dataBreakpointInfo', { variablesReference: scope, name: 'seed' });
  expect(none.body.dataId).toBeNull();
});

test('every kind of breakpoint is answered with a list, also when none is set', async () => {
  const run = session();
  await run.open({ task: 'lamp-variant' });
  for (const request of ['setBreakpoints', 'setFunctionBreakpoints', 'setDataBreakpoints', 'setExceptionBreakpoints'])
    expect((await run.client.request(request, { source: { path: policy } })).body).toEqual({ breakpoints: [] });
});

test('breakpoints can be set on rules with a check, on tools and on tasks', async () => {
  const run = session();
  await run.open({ task: 'lamp-variant' });
  const at = async (path: string) => {
    const asked = { source: { path }, line: 1, endLine: 999 };
    type Places = DebugProtocol.BreakpointLocationsResponse['body'];
    return (await run.client.request<Places>('breakpointLocations', asked)).body.breakpoints.map(({ line }) => line);
  };
  expect(await at(policy)).toContain(ruleLine());
  expect(await at(policy)).not.toContain(lineOf(policy, '{#small-talk}'));
  expect(await at(tools)).toContain(lineOf(tools, 'export const change_item'));
  expect(await at(tasks)).toHaveLength(1);
});

test('the filter on violations stops without a breakpoint, and tells the exception', async () => {
  const run = session();
  const { stop } = await run.begin({ task: 'lamp-variant' }, { filters: ['violation'] });
  const description = violations;
  expect(stop.body).toMatchObject({ reason: 'exception', text: description });
  const { body } = await run.client.request('exceptionInfo', { threadId: 1 });
  expect(body).toEqual({ exceptionId: 'policy violation', description, breakMode: 'always' });
});

test('a rollout stops at its reward; only to continue from there ends the session', async () => {
  const run = session();
  const { stop } = await run.begin({ task: 'lamp-variant' }, { filters: ['reward0'] });
  expect(stop.body).toMatchObject({ reason: 'exception', text: expect.stringMatching(/^reward 0: rule confirm/) });
  await run.shows(/REWARD 0 {2}rule confirm-before-write was violated/);
  expect(reason(await run.step('stepIn'))).toBe('exit');
  expect(reason(await run.step('next'))).toBe('exit');
  await run.step('stepBack');
  expect(await run.top()).not.toMatch(/reward 0$/);
  expect(await run.type('/why')).toMatch(
    /^no reward yet: it is being decided\n {2}the agent handed the conversation over after 7 turns/,
  );
  expect(text(await run.step('continue'))).toMatch(/^reward 0/);
  expect((await run.step('continue')).event).toBe('terminated');
});

test('without debugging, and without a stop at the end, it runs through', async () => {
  const run = session();
  const { stop } = await run.begin({ task: 'lamp-variant', noDebug: true }, { ...atRule(), filters: ['violation'] });
  expect(stop.event).toBe('terminated');
  const other = session();
  const first = await other.begin({ task: 'lamp-variant', noStopAtEnd: true }, atRule());
  expect(text(first.stop)).toMatch(/^rule/);
  await other.step('continue');
  expect((await other.step('continue')).event).toBe('terminated');
});

test('the call stack has the turns, each with what was there at its time', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const { body } = await run.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1 });
  expect(
    body.stackFrames.map(({ name, presentationHint }) => `${name}${presentationHint ? ` (${presentationHint})` : ''}`),
  ).toEqual([
    'before change_item: confirm-before-write, change-once violated',
    'turn 4: agent calls change_item',
    'turn 3: agent calls list_variants (subtle)',
    'turn 2: agent calls get_order (subtle)',
    'turn 1: agent calls find_customer_by_email (subtle)',
  ]);
  const args = { expression: 'turn', context: 'watch', frameId: body.stackFrames.at(-1)?.id };
  expect((await run.client.request<{ result: string }>('evaluate', args)).body.result).toBe('1');
});

test('to disconnect leaves the recording as far as it came', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const [recording = ''] = run.recordings();
  const before = readFileSync(recording, 'utf8');
  expect((await run.client.request('disconnect')).success).toBe(true);
  expect(readFileSync(recording, 'utf8')).toBe(before);
});
