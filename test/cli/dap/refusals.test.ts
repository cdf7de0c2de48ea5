import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test } from 'vitest';
import { commandLine } from '../../support/commandLine.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { domain, lineOf, policy, ruleLine, sharedSession as session } from './harness.ts';

const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });

const refused: readonly { readonly name: string; readonly args: object; readonly message: RegExp }[] = [
  {
    name: 'no domain',
    args: { domain: undefined, task: 'x' },
    message: /names no domain \(the folder with domain\.yaml\)/,
  },
  {
    name: 'no such domain',
    args: { domain: '/nowhere', task: 'x' },
    message: /^The file domain\.yaml does not exist\..* \(nowhere\/domain\.yaml, line 1\)$/,
  },
  { name: 'no such task', args: { task: 'fly' }, message: /there is no task "fly"/ },
  {
    name: 'a link in a name, which a notification would make a link of',
    args: { task: '[Update](command:workbench.action.quit)' },
    message: /there is no task "\[Update\] \(command:workbench\.action\.quit\)"/,
  },
  { name: 'no task', args: {}, message: /name a task; .* has / },
  { name: 'no such recording', args: { recording: '/nowhere.traj.jsonl' }, message: /there is no such recording/ },
  { name: 'something that is not a recording', args: { recording: policy }, message: /policy\.md:1: is not JSON/ },
  { name: 'no such seat', args: { task: 'lamp-variant', agent: 'sorcerer' }, message: /"sorcerer" is not a seat/ },
  {
    name: 'an interpreter of launch.json that is not approved',
    args: { task: 'lamp-variant', agent: `checkpoint:${process.cwd()}`, python: ['/bin/sh', '-c', 'exit 1'] },
    message: /"launch\.json" .* is not approved[\s\S]*the key python starts \/bin\/sh -c/,
  },
  { name: 'no such basis', args: { task: 'lamp-variant', basis: 'luck' }, message: /"basis" is not what was expected/ },
  {
    name: 'no number of a trial',
    args: { task: 'lamp-variant', trial: 'two' },
    message: /"trial" is not what was expected/,
  },
];

test.each(refused)('$name is one message', async ({ args, message }) => {
  const run = session();
  const { opening } = await run.open(args);
  expect(await opening).toMatchObject({
    success: false,
    body: { error: { format: expect.stringMatching(message), showUser: true } },
  });
});

test.each([
  { name: 'a rule without a check', line: () => lineOf(policy, '{#small-talk}'), message: /has no machine check/ },
  { name: 'a line without a rule', line: () => 1, message: /there is no rule on this line/ },
])('a breakpoint on $name says that it can not stop there', async ({ line, message }) => {
  const { placed } = await session().open({ task: 'lamp-variant' }, { breakpoints: { [policy]: line() } });
  expect(placed[0]).toMatchObject({ verified: false, message: expect.stringMatching(message) });
});

test('what can not be edited says so, and makes no fork', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const row = ['Database', 'orders', 'W1101', 'W1138'];
  expect(await run.set([...row, 'items', '0', 'price'], 'cheap')).toBe('refused: price is a number: type a number');
  expect(await run.set(['Rollout', 'seed'], '2')).toMatch(/^refused: seed can't be edited: only messages/);
  expect(await run.set(['Messages', '3 tool'], 'ok')).toMatch(/^refused: 3 tool can't be edited/);
  expect(await run.set(['Messages', '1 user'], '/call get_order {}')).toMatch(/^refused: the user makes no calls/);
  const { reference: before } = await run.variables('Database', 'orders', 'W1101', 'W1138');
  await run.step('stepBack');
  const late = await run.client.request<{ error: DebugProtocol.Message }>('setVariable', {
    variablesReference: before,
    name: 'status',
    value: 'shipped',
  });
  expect(late.body.error.format).toBe('the rollout has continued since status was shown: edit its current value');
  expect(run.recordings()).toHaveLength(1);
  await run.finish();
  expect(await run.set([...row, 'status'], 'shipped')).toBe(
    'refused: the rollout is over here: step back before its end, and edit there',
  );
});

test('a value that a client still shows from the previous stop can be edited if it is the same one, until there is a fork', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const { reference: variablesReference } = await run.variables('Messages');
  await run.step('stepBack');
  const edit = (value: string) =>
    run.client.request<{ error: DebugProtocol.Message }>('setVariable', { variablesReference, name: '8 agent', value });
  await run.client.stop(() => edit('Shall I do that?'));
  expect(run.recordings()).toHaveLength(2);
  const second = await edit('Shall I really do that?');
  expect(second.body.error.format).toBe('the rollout has continued since 8 agent was shown: edit its current value');
  expect(run.recordings()).toHaveLength(2);
});

test('unknown requests, requests without arguments and requests at the wrong time are answered', async () => {
  const run = session();
  const failed = async (name: string) => (await run.client.request(name)).success === false;
  expect(await failed('continue')).toBe(true);
  await run.client.request('initialize', { adapterID: 'rehearsal' });
  for (const name of ['rehearsal/fly', 'goto', 'restart', 'source', 'setVariable', 'stepBack'])
    expect([name, await failed(name)]).toEqual([name, true]);
  for (const name of ['threads', 'stackTrace', 'scopes', 'variables', 'evaluate', 'completions', 'pause'])
    expect((await run.client.request(name)).request_seq).toBeGreaterThan(0);
  await run.begin({ task: 'lamp-variant' }, atRule());
  expect(await failed('launch')).toBe(true);
});

test('a message that is not JSON does not end the session', async () => {
  const adapter = spawn(process.execPath, [commandLine, 'dap'], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    adapter.stdin.write('Content-Length: 5\r\n\r\n{"x":');
    send(adapter.stdin, { seq: 1, type: 'request', command: 'initialize', arguments: { adapterID: 'rehearsal' } });
    expect(await said(adapter.stdout, '"command":"initialize"')).toMatch(/"success":true/);
  } finally {
    adapter.kill('SIGKILL');
  }
});

test('an adapter whose client is gone ends, and so does the worker that it started early', async () => {
  const adapter = spawn(process.execPath, [commandLine, 'dap', '--domain', domain], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  adapter.stdin.end();
  const [code] = (await once(adapter, 'exit')) as [number | null];
  expect(code).toBe(0);
});

test('a listening adapter starts nothing for a client that does not name its token', async () => {
  const adapter: ChildProcess = spawn(process.execPath, [commandLine, 'dap', '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const told = /127\.0\.0\.1:(?<port>\d+)\ntoken (?<token>\w+)/;
    const { port, token } = told.exec(await said(adapter.stderr as NodeJS.ReadableStream, 'token '))?.groups ?? {};
    const launch = async (given: string | undefined) => {
      const socket = connect(Number(port), '127.0.0.1');
      send(socket, { seq: 1, type: 'request', command: 'initialize', arguments: { adapterID: 'rehearsal' } });
      const args = { domain, task: 'fly', token: given };
      send(socket, { seq: 2, type: 'request', command: 'launch', arguments: args });
      const answer = await said(socket, '"command":"launch"');
      socket.destroy();
      return answer;
    };
    expect(await launch(undefined)).toMatch(/name the token that the adapter printed/);
    expect(await launch('guess')).toMatch(/name the token that the adapter printed/);
    expect(await launch(token)).toMatch(/there is no task/);
    connect(Number(port), '127.0.0.1').on('error', () => {});
    adapter.kill('SIGTERM');
    expect(await once(adapter, 'exit')).toEqual([0, null]);
  } finally {
    adapter.kill('SIGKILL');
  }
});

function send(to: NodeJS.WritableStream, message: object): void {
  const text = JSON.stringify(message);
  to.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

/** Reads a stream until it contains a text. */
function said(from: NodeJS.ReadableStream, wanted: string): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    from.on('data', (chunk: Buffer) => {
      all += chunk.toString();
      if (all.includes(wanted) && (all.endsWith('}') || all.endsWith('\n'))) resolve(all);
    });
  });
}

test('an adapter whose client is gone ends, however much it has to say', async () => {
  const adapter = spawn(process.execPath, [commandLine, 'dap'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (seq: number, name: string, args: object) => {
    const text = JSON.stringify({ seq, type: 'request', command: name, arguments: args });
    adapter.stdin.write(`Content-Length: ${text.length}\r\n\r\n${text}`);
  };
  send(1, 'initialize', { adapterID: 'rehearsal' });
  send(2, 'launch', { domain, task: 'lamp-variant', runs: temporaryFolder('rehearsal-gone') });
  await once(adapter.stdout, 'data');
  adapter.stdout.destroy();
  send(3, 'configurationDone', {});
  for (let seq = 4; seq < 20; seq += 1) send(seq, 'threads', {});
  expect(await once(adapter, 'exit')).toEqual([0, null]);
});

test('a refusal shows braces as they are typed', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  const refusal = await run.type('/call get_order {"order_id": ');
  expect(refusal).toContain('as in /call get_order {"argument": "value"}');
  const deep = await run.type(`/call get_order ${'{"a":'.repeat(201)}1${'}'.repeat(201)}`);
  expect(deep).toContain('the arguments of get_order are nested deeper than 200 levels');
});

test('a row of another rollout is not re-sampled', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const { body, success } = await run.client.request<{ error: DebugProtocol.Message }>('restartFrame', {
    frameId: 999,
  });
  expect([success, body.error.format]).toEqual([false, 'this row is of another rollout: choose one of the call stack']);
  expect(run.recordings()).toHaveLength(1);
});

test('a session that has ended makes no fork', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' });
  await run.finish();
  expect((await run.step('continue')).event).toBe('terminated');
  expect(await run.rewrite('Shall I?')).toBe(
    'refused: the session has ended: attach to the recording to continue from it',
  );
  expect(run.recordings()).toHaveLength(1);
});
