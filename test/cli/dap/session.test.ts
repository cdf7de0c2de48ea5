import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, expect, test } from 'vitest';
import { DebugClient } from '../../support/debugClient.ts';

const domain = join(mkdtempSync(join(tmpdir(), 'rehearsal-')), 'order-desk');
cpSync('domains/order-desk', domain, { recursive: true });
const policy = join(domain, 'policy.md');
const tools = join(domain, 'tools.ts');
const tasks = join(domain, 'tasks', 'lamp-variant.task.yaml');
const lineOf = (file: string, text: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1;
const ruleLine = () => lineOf(policy, 'Before any call that changes something');

let client = new DebugClient();
let runs = mkdtempSync(join(tmpdir(), 'rehearsal-runs-'));
afterEach(() => {
  client.close();
  client = new DebugClient();
  runs = mkdtempSync(join(tmpdir(), 'rehearsal-runs-'));
});

/** Initializes, sets breakpoints, launches or attaches, and gives the first stop. */
async function begin(
  args: object,
  breakpoints: Readonly<Record<string, number>> = {},
  filters: readonly string[] = [],
) {
  await client.request('initialize', { adapterID: 'rehearsal', supportsInvalidatedEvent: true });
  const opening = client.request('recording' in args ? 'attach' : 'launch', { domain, runs, ...args });
  await Promise.race([client.event('initialized'), opening]);
  const set = await Promise.all(
    Object.entries(breakpoints).map(([path, line]) =>
      client.request<DebugProtocol.SetBreakpointsResponse['body']>('setBreakpoints', {
        source: { path },
        breakpoints: [{ line }],
      }),
    ),
  );
  await client.request('setExceptionBreakpoints', { filters });
  const stop = await client.stop(() => client.request('configurationDone'));
  return { stop, opened: await opening, breakpoints: set.flatMap(({ body }) => body.breakpoints) };
}

async function top(): Promise<string> {
  const { body } = await client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1 });
  const [frame] = body.stackFrames;
  return `${frame?.source?.name}:${frame?.line} ${frame?.name}`;
}

/** The variables under a path of names, from the scopes of the top frame. */
async function variables(
  ...path: readonly string[]
): Promise<{ readonly reference: number; readonly found: readonly DebugProtocol.Variable[] }> {
  await top();
  const { body } = await client.request<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: 0 });
  let reference = body.scopes.find(({ name }) => name === path[0])?.variablesReference ?? 0;
  let found = (
    await client.request<DebugProtocol.VariablesResponse['body']>('variables', { variablesReference: reference })
  ).body.variables;
  for (const name of path.slice(1)) {
    reference = found.find((each) => each.name.startsWith(name))?.variablesReference ?? 0;
    found = (
      await client.request<DebugProtocol.VariablesResponse['body']>('variables', { variablesReference: reference })
    ).body.variables;
  }
  return { reference, found };
}

/** Edits the last message of the agent, a fork, and gives the stop that follows. */
async function say(text: string) {
  const { reference, found } = await variables('Messages');
  const name = found.findLast((each) => each.name.endsWith('agent'))?.name;
  return client.stop(() => client.request('setVariable', { variablesReference: reference, name, value: text }));
}

const step = (name: string) => client.stop(() => client.request(name, { threadId: 1 }));
const text = (stop: DebugProtocol.Event) => (stop.body as { text?: string })?.text;
const recordings = () =>
  readdirSync(runs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.traj.jsonl'));

test('the well-known failure stops on the rule, and an edit leads to reward 1', async () => {
  const { stop, breakpoints } = await begin({ task: 'lamp-variant' }, { [policy]: ruleLine() });
  expect(breakpoints).toEqual([{ verified: true, line: ruleLine() }]);
  expect(text(stop)).toBe(
    'rule confirm-before-write violated: change_item was called before anything was proposed to the user',
  );
  expect(await top()).toBe(`policy.md:${ruleLine()} before change_item: confirm-before-write violated`);
  const [recording = ''] = recordings();
  const path = join(runs, recording);
  const before = readFileSync(path, 'utf8');
  await step('stepBack');
  expect(await top()).toMatch(/^tools\.ts:\d+ agent calls change_item$/);
  expect(
    text(
      await say('I can change the desk lamp in W1138 to white. The items can be changed only once. Shall I do that?'),
    ),
  ).toMatch(/^fork: the agent's message \d+ was edited/);
  let end = await step('continue');
  while (text(end)?.startsWith('rule')) end = await step('continue');
  expect(text(end)).toBe('reward 1: database and communicate held, and no gated rule was violated');
  expect(readFileSync(path, 'utf8')).toBe(before);
  await expect(stripVTControlCharacters(client.output)).toMatchFileSnapshot('golden/forkToReward1.txt');
});

test('an unsafe edit ends with reward 0', async () => {
  await begin({ task: 'lamp-variant' }, { [policy]: ruleLine() });
  await step('stepBack');
  const call = await variables('Messages', '8 agent', 'change_item');
  const stop = await client.stop(() =>
    client.request('setVariable', { variablesReference: call.reference, name: 'variant', value: 'brass' }),
  );
  expect(text(stop)).toMatch(/^fork: an argument of the agent's call \d+ was edited/);
  let end = await step('continue');
  while (text(end)?.startsWith('rule')) end = await step('continue');
  expect(text(end)).toMatch(/^reward 0: rule confirm-before-write was violated/);
});

test('a database value is edited, and the fork goes on from it', async () => {
  await begin({ task: 'lamp-variant' }, { [policy]: ruleLine() });
  const row = await variables('Database', 'orders', 'W1101', 'W1138');
  const found = row.found.length > 0 ? row : await variables('Database', 'orders', 'W1001', 'W1138');
  await client.stop(() =>
    client.request('setVariable', { variablesReference: found.reference, name: 'status', value: 'shipped' }),
  );
  const { body } = await client.request<DebugProtocol.EvaluateResponse['body']>('evaluate', {
    expression: 'db.orders.W1138.status',
    context: 'watch',
    frameId: 0,
  });
  expect(body.result).toBe('"shipped"');
});

test('step back undoes every step, and nothing is said twice', async () => {
  await begin({ task: 'lamp-variant', stopOnEntry: true });
  const places: string[] = [await top()];
  for (let n = 0; n < 12; n += 1) {
    await step('stepIn');
    places.push(await top());
  }
  const said = client.output;
  for (const place of places.slice(0, -1).reverse()) {
    await step('stepBack');
    expect(await top()).toBe(place);
  }
  for (const place of places.slice(1)) {
    await step('stepIn');
    expect(await top()).toBe(place);
  }
  expect(client.output).toBe(said);
});

test('over goes to the next turn, out to the end of this one, reverse to the breakpoint before', async () => {
  await begin({ task: 'lamp-variant', stopOnEntry: true }, { [tools]: lineOf(tools, 'export const get_order') });
  const walk = [];
  for (const act of ['next', 'stepOut', 'next', 'continue', 'next', 'reverseContinue', 'reverseContinue']) {
    const stop = await step(act);
    walk.push(`${act}: ${text(stop)} | ${await top()}`);
  }
  await expect(walk.join('\n')).toMatchFileSnapshot('golden/walk.txt');
});

test('a breakpoint on a task stops at its start; a tool breakpoint at the call', async () => {
  const { stop } = await begin(
    { task: 'lamp-variant' },
    { [tasks]: 3, [tools]: lineOf(tools, 'export const change_item') + 2 },
  );
  expect(text(stop)).toBe('task lamp-variant begins');
  expect(text(await step('continue'))).toBe('tool change_item is called');
  expect(await top()).toMatch(/^tools\.ts:\d+ change_item is called$/);
});

test('the filter on violations stops without a breakpoint', async () => {
  const { stop } = await begin({ task: 'lamp-variant' }, {}, ['violation']);
  expect(stop.body).toMatchObject({
    reason: 'exception',
    text: expect.stringMatching(/^rule confirm-before-write violated/),
  });
});

test('a recording is stepped through without a call, and forks', async () => {
  await begin({ task: 'lamp-variant' });
  const recording = join(runs, recordings().find((name) => !name.includes('fork')) ?? '');
  client.close();
  client = new DebugClient();
  const { stop } = await begin({ recording }, { [policy]: ruleLine() });
  expect(stop.body).toMatchObject({ reason: 'entry' });
  expect(text(await step('continue'))).toMatch(/^rule confirm-before-write violated/);
  expect(text(await step('continue'))).toMatch(/^rule confirm-before-write violated/);
  expect(text(await step('reverseContinue'))).toMatch(/called before anything was proposed/);
  await step('stepBack');
  expect(text(await say('Shall I change the desk lamp in W1138 to white? It can be changed only once.'))).toMatch(
    /^fork/,
  );
});

test('a person takes the user seat', async () => {
  await client.request('initialize', { adapterID: 'rehearsal' });
  const opening = client.request('launch', { domain, runs, task: 'lamp-variant', agent: 'gold', user: 'human' });
  await client.event('initialized');
  await client.request('configurationDone');
  await opening;
  while (!client.output.includes('your turn as the user')) await client.event('output', client.events.length);
  const stop = await client.stop(() => client.request('evaluate', { expression: '/stop', context: 'repl' }));
  expect(text(stop)).toMatch(/^reward 0/);
});

test('the console answers paths, /why and /help, and refuses the rest in words', async () => {
  await begin({ task: 'lamp-variant' }, { [policy]: ruleLine() });
  await top();
  const ask = async (expression: string) => {
    const { success, body, message } = await client.request<{ result: string }>('evaluate', {
      expression,
      context: 'repl',
      frameId: 0,
    });
    return success ? body.result : `refused: ${(body as { error?: { format: string } }).error?.format ?? message}`;
  };
  expect(await ask('db.orders.W1138.status')).toBe('"pending"');
  expect(await ask('turn')).toBe('4');
  expect(await ask('db.orders.W9.status')).toMatch(/refused: there is no db\.orders\.W9\.status at step/);
  expect(await ask('launch()')).toMatch(/refused: "launch\(\)" is no path/);
  expect(await ask('/why')).toMatch(/no reward yet.*broken {2}rule confirm-before-write/s);
  expect(await ask('/fly')).toMatch(/there is no command \/fly/);
});

const refused: readonly { readonly name: string; readonly args: object; readonly message: RegExp }[] = [
  { name: 'no such domain', args: { domain: '/nowhere', task: 'x' }, message: /\/nowhere\/domain\.yaml/ },
  { name: 'no such task', args: { task: 'fly' }, message: /there is no task "fly"/ },
  { name: 'no such recording', args: { recording: '/nowhere.traj.jsonl' }, message: /there is no such recording/ },
  { name: 'something that is no recording', args: { recording: policy }, message: /policy\.md:1: is not JSON/ },
  { name: 'no such seat', args: { task: 'lamp-variant', agent: 'sorcerer' }, message: /"sorcerer" is not a seat/ },
];

test.each(refused)('$name is one message', async ({ args, message }) => {
  await client.request('initialize', { adapterID: 'rehearsal' });
  const { success, body } = await client.request<{ error?: { format: string } }>(
    'recording' in args ? 'attach' : 'launch',
    { domain, ...args },
  );
  expect(success).toBe(false);
  expect(body.error?.format).toMatch(message);
});

test.each([
  { name: 'a rule without a check', line: () => lineOf(policy, '{#refund-time}'), message: /has no machine check/ },
  { name: 'a line without a rule', line: () => 1, message: /there is no rule on this line/ },
])('a breakpoint on $name says that it can not stop there', async ({ line, message }) => {
  const { breakpoints } = await begin({ task: 'lamp-variant', stopOnEntry: true }, { [policy]: line() });
  expect(breakpoints[0]).toMatchObject({ verified: false, message: expect.stringMatching(message) });
});

test('an unknown request is answered', async () => {
  await client.request('initialize', { adapterID: 'rehearsal' });
  expect((await client.request('rehearsal/fly')).success).toBe(false);
});
