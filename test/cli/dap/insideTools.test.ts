import { appendFileSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, describe, expect, test } from 'vitest';
import { isAlive } from '../../../src/engine/shell/processes/isAlive.ts';
import { InspectorClient } from '../../support/inspectorClient.ts';
import { pidTitled } from '../../support/processes.ts';
import { inFullSuite, sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { domain, lineOf, policy, reason, type Session, session, text, tools } from './harness.ts';

const editor = { client: { supportsStartDebuggingRequest: true } };
const inTool = () => lineOf(tools, "row(db.orders, order_id, 'order'),");
/** The first executable line of change_item. */
const body = () => lineOf(tools, 'const order = pending(db, order_id);');
const declared = () => lineOf(tools, 'export const get_order');

type Asked = { readonly request: string; readonly configuration: { readonly websocketAddress: string } };

/** A limit for waits that only a hung test reaches. */
const patience = { timeout: 240_000 };

/** Evaluates an expression in the worker, as a number. */
async function evaluated(client: InspectorClient, expression: string): Promise<number> {
  const { result } = await client.send('Runtime.evaluate', { expression });
  return (result as { readonly value: number }).value;
}

const clients: InspectorClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** Attaches a JavaScript debugger when the adapter asks for one, with breakpoints on these lines of tools.ts. */
function attaching(run: Session, ...lines: readonly number[]): Promise<InspectorClient> {
  return new Promise((resolve, reject) => {
    run.client.answer = ({ command, arguments: args }) => {
      const attach = async () => {
        const client = await InspectorClient.connect((args as Asked).configuration.websocketAddress);
        clients.push(client);
        await client.attach(...lines.map((line) => [pathToFileURL(tools).href, line] as const));
        return client;
      };
      attach().then(resolve, reject);
      return command === 'startDebugging';
    };
  });
}

/** Starts a session that is stopped at the first call of get_order. */
async function atTheCall(setting: object = editor, args: object = {}) {
  const run = session();
  const { stop } = await run.begin(
    { task: 'lamp-variant', ...args },
    { breakpoints: { [tools]: declared() }, ...setting },
  );
  expect(text(stop)).toBe('tool get_order is called');
  return run;
}

describe('stepping into a tool', () => {
  test('asks the client for a JavaScript debugger, which stops on the first line of its body', async () => {
    const run = await atTheCall();
    const child = attaching(run);
    const after = run.client.events.length;
    await run.client.request('stepIn', { threadId: 1 });
    const client = await child;
    const paused = await client.paused();
    expect([paused.file, paused.line]).toEqual([pathToFileURL(tools).href, inTool()]);
    expect(await client.locals(paused)).toEqual(expect.arrayContaining(['order_id', 'db']));
    expect(run.client.asked).toMatchObject([
      {
        command: 'startDebugging',
        arguments: {
          request: 'attach',
          configuration: {
            type: 'pwa-node',
            childType: 'pwa-node',
            name: 'tools of order-desk',
            cwd: domain,
            websocketAddress: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]{36}$/),
            enableContentValidation: false,
            autoAttachChildProcesses: false,
            skipFiles: ['<node_internals>/**', expect.stringMatching(/\/dist\/\*\*$/)],
          },
        },
      },
    ]);
    expect(run.client.events.slice(after).filter(({ event }) => event === 'stopped')).toEqual([]);
    await client.send('Debugger.resume');
    expect(text(await run.client.event('stopped', after))).toBe('the tool returns');
    expect(await run.top()).toBe(`tools.ts:${declared()} the tool returns`);
    await client.closed;
  });

  inFullSuite('ends with the call: the inspector is closed, and the next call can be entered again', async () => {
    const run = await atTheCall();
    for (const round of [1, 2]) {
      const child = attaching(run);
      const after = run.client.events.length;
      await run.client.request('stepIn', { threadId: 1 });
      const client = await child;
      await client.paused();
      await client.send('Debugger.resume');
      await run.client.event('stopped', after);
      await client.closed;
      const [{ configuration }] = [run.client.asked[round - 1]?.arguments as Asked];
      const address = configuration.websocketAddress;
      await expect(InspectorClient.connect(address)).rejects.toThrow('no inspector');
      if (round === 1) while (!(await run.top()).includes(' is called')) await run.step('stepIn');
    }
    expect(run.client.asked).toHaveLength(2);
    expect(await run.finish()).toMatch(/^reward 0: rule confirm-before-write/);
  });

  inFullSuite(
    'the rollout waits for the person: no time-out counts, and its recording is that of any other',
    async () => {
      const hasty = join(temporaryFolder('rehearsal'), 'order-desk');
      cpSync(domain, hasty, { recursive: true });
      const limitMs = 500;
      appendFileSync(join(hasty, 'domain.yaml'), `toolTimeoutMs: ${limitMs}\n`);
      const run = session();
      const breakpoints = { [join(hasty, 'tools.ts')]: declared() };
      await run.begin({ domain: hasty, task: 'lamp-variant' }, { breakpoints, ...editor });
      const child = attaching(run);
      const after = run.client.events.length;
      await run.client.request('stepIn', { threadId: 1 });
      const client = await child;
      await client.paused();
      const from = await evaluated(client, 'performance.now()');
      await expect.poll(() => evaluated(client, 'performance.now()'), patience).toBeGreaterThan(from + 1.5 * limitMs);
      await client.send('Debugger.resume');
      expect(text(await run.client.event('stopped', after))).toBe('the tool returns');
      expect(await run.finish()).toMatch(/^reward 0: rule confirm-before-write/);
      const whole = session();
      await whole.begin({ domain: hasty, task: 'lamp-variant', noStopAtEnd: true });
      const lines = await Promise.all([run, whole].map(linesOf));
      expect(lines[0]).toEqual(lines[1]);
    },
  );

  test('another movement goes past the call, and asks for nothing', async () => {
    const run = await atTheCall();
    expect(text(await run.step('next'))).toBe('the next turn');
    expect(run.client.asked).toEqual([]);
  });

  inFullSuite('pause stops at the call while the person is inside it, and continue waits for it', async () => {
    const run = await atTheCall();
    const child = attaching(run);
    await run.client.request('stepIn', { threadId: 1 });
    const client = await child;
    await client.paused();
    expect(text(await run.client.stop(() => run.client.request('pause', { threadId: 1 })))).toBe('paused');
    const after = run.client.events.length;
    await run.client.request('stepIn', { threadId: 1 });
    await client.send('Debugger.resume');
    expect(text(await run.client.event('stopped', after))).toBe('the tool returns');
  });
});

describe('where a client has no JavaScript debugger', () => {
  test('a step goes over the call, as it does for a client that can start none', async () => {
    const run = await atTheCall({});
    expect(text(await run.step('stepIn'))).toBe('the tool returns');
    expect(run.client.asked).toEqual([]);
  });

  inFullSuite('a client that refuses gets one message and no second request', async () => {
    const run = await atTheCall();
    expect(text(await run.step('stepIn'))).toBe('the tool returns');
    expect(run.client.output).toContain(
      "Stepping stays outside of the tool's source: the editor started no JavaScript debugger",
    );
    while (!(await run.top()).includes(' is called')) await run.step('stepIn');
    await run.step('stepIn');
    expect(run.client.asked).toHaveLength(1);
    expect(await run.finish()).toMatch(/^reward 0: rule confirm-before-write/);
  });

  inFullSuite('"debugTools": false keeps it out', async () => {
    const run = await atTheCall(editor, { debugTools: false });
    expect(text(await run.step('stepIn'))).toBe('the tool returns');
    expect(run.client.asked).toEqual([]);
  });
});

describe('a breakpoint in the code of a tool', () => {
  test('is left to the JavaScript debugger, which is brought in before the call', async () => {
    const run = session();
    const child = attaching(run, body());
    const { opening, placed } = await run.open(
      { task: 'lamp-variant' },
      { breakpoints: { [tools]: body() }, ...editor },
    );
    expect(placed).toEqual([{ verified: true, line: body() }]);
    const after = run.client.events.length;
    await run.client.request('configurationDone');
    await opening;
    const client = await child;
    expect(await client.paused()).toMatchObject({ file: pathToFileURL(tools).href, line: body() });
    await client.send('Debugger.setBreakpointsActive', { active: false });
    await client.send('Debugger.resume');
    const stop = await run.client.event('stopped', after);
    expect([reason(stop), text(stop)]).toEqual(['exit', expect.stringMatching(/^reward 0/)]);
  });

  const places: readonly (readonly [what: string, line: () => number, at: () => number])[] = [
    ['the line that declares a tool', declared, declared],
    ['the line on which its code begins', inTool, declared],
    ['the description of a tool', () => lineOf(tools, "description: 'Everything about an order.'"), declared],
  ];
  test.each(sampled(places, 2))('%s is a breakpoint on its calls', async (_, line, at) => {
    const run = session();
    const { stop, breakpoints } = await run.begin(
      { task: 'lamp-variant' },
      { breakpoints: { [tools]: line() }, ...editor },
    );
    expect(breakpoints).toMatchObject([{ verified: true, line: at() }]);
    expect(text(stop)).toBe('tool get_order is called');
  });

  inFullSuite('in a client without a JavaScript debugger stops at the calls of its tool', async () => {
    const run = session();
    const { stop, breakpoints } = await run.begin({ task: 'lamp-variant' }, { breakpoints: { [tools]: body() } });
    expect(breakpoints).toMatchObject([{ verified: true, line: lineOf(tools, 'export const change_item') }]);
    expect(text(stop)).toBe('tool change_item is called');
  });

  test("rules stay the adapter's own", async () => {
    const run = session();
    const line = lineOf(policy, 'Before any call that changes something');
    const { stop } = await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: line }, ...editor });
    expect(text(stop)).toMatch(/^rule /);
  });
});

test('the end of the session ends the worker that a person debugs, and with it the debugger', async () => {
  const run = await atTheCall();
  const child = attaching(run);
  await run.client.request('stepIn', { threadId: 1 });
  const client = await child;
  await client.paused();
  const inside = await evaluated(client, "process.title = 'looked-into'; process.pid");
  const worker = process.platform === 'linux' ? pidTitled('looked-into') : inside;
  expect(isAlive(worker)).toBe(true);
  const answer = await run.client.request<DebugProtocol.DisconnectResponse>('disconnect');
  expect(answer.success).toBe(true);
  await client.closed;
  await expect.poll(() => isAlive(worker), patience).toBe(false);
});

async function linesOf(run: Session): Promise<readonly string[]> {
  const find = () => run.recordings()[0] ?? '';
  const isWhole = () => existsSync(find()) && readFileSync(find(), 'utf8').includes('"rewarded"');
  await expect.poll(isWhole, patience).toBe(true);
  return readFileSync(find(), 'utf8').trim().split('\n');
}
