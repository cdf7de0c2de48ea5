import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { mcpPython } from '../../../../scripts/mcpPython.ts';
import { sidecarPath } from '../../../../src/engine/shell/records/recording.ts';
import { verifyRecording } from '../../../../src/engine/shell/records/verifyRun.ts';
import { freePort } from '../../../support/freePort.ts';
import { httpMcpServer } from '../../../support/httpMcpServer.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { isFullSuite } from '../../../support/suite.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const stdio = (program: string, ...args: readonly string[]) =>
  `command: ${JSON.stringify(program)}, args: ${JSON.stringify(args)}`;
const http = (url: string) => `type: http, url: "${url}"`;

/** Calls of an agent to the tools of a server, and their results. */
type Calls = readonly (readonly [call: string, result: RegExp])[];
/** Keys that declare writes and state of a server, an assertion that holds at the end, and a note in the sidecar. */
type Kept = { readonly keys: string; readonly that: string; readonly note?: string };

/** Plays a rollout, and checks that its recording can be verified, replayed and forked before its last turn. */
async function expectPlayed(server: string, calls: Calls, { keys, that, note = '' }: Kept): Promise<void> {
  const folder = mcpDomain(
    'shop',
    `  shop: { ${server}, state: replay, ${keys} }`,
    `user: { goal: You want an order. }
script:
${calls.map(([call]) => `  - [${call}]`).join('\n')}
  - Done.
assertions: [{ in: shop, that: '${that}' }]
evaluate: [assertions]
train: [assertions]
`,
  );
  const wanted = { reward: 1, results: calls.map(([, result]) => expect.stringMatching(result)) };
  const [played] = await rehearse(folder, ['a']);
  if (!played) throw new Error('no rollout');
  expect(played).toMatchObject(wanted);
  expect(replayed(folder, played).problems).toBe(0);
  expect(verifyRecording(played.recording).problems).toEqual([]);
  expect(readFileSync(sidecarPath(played.recording), 'utf8')).toContain(note);
  const last = played.events.findLastIndex(({ type }) => type === 'agentReplied');
  const [fork] = await rehearse(folder, ['a'], { from: played.events.slice(0, last) });
  expect(fork).toMatchObject(wanted);
}

const add: Calls[number] = ['{ tool: add, arguments: { by: 2 } }', /^\{"count":2\}$/];
const misfit: Calls[number] = ['{ tool: add, arguments: { by: two } }', /^Error: the arguments of add do not fit/];
const counted: Kept = { keys: 'writes: [add], reader: { tool: state }', that: 'state.count == 2' };
const plain: Calls = [
  add,
  misfit,
  ['{ tool: structured }', /^\{"count":2\}$/],
  ['{ tool: both }', /^none yet$/],
  ['{ tool: rows }', /'isPaid': True/],
  ['{ tool: pair, arguments: { at: [1, x] } }', /^\[1,"x"\]$/],
  ['{ tool: chatter }', /^found$/],
];

/** Answers that a client may not expect, of the same server in both languages. */
const unexpected: Calls = [
  ['{ tool: add }', /^added$/],
  ['{ tool: mismatched }', /^1$/],
  ['{ tool: refused }', /^Error: MCP error -32000: try later\n\{"seconds":5\}$/],
  ['{ tool: crashed }', /^Error: MCP error -?\d+: /],
  ['{ tool: long }', /^Error: the result is longer than 1000 characters/],
  ['{ tool: state }', /^\{"count": ?1\}$/],
];
const expiring: Calls = [['{ tool: forget }', /^forgotten$/], ...unexpected];
const renamed: Kept = {
  keys: 'rename: { counter.add: add }, writes: [add], reader: { tool: state }, maxResultLength: 1000',
  that: 'state.count == 1',
  note: '/count must be string',
};

describe('a server of the official TypeScript SDK: every answer reaches the agent, and the reward is right', () => {
  test('over stdio', async () => {
    await expectPlayed(stdio(process.execPath, fixture('mcpServer.mjs'), 'good'), plain, counted);
  });

  test.each(['good', 'json'] as const)('over HTTP (%s)', async (mode) => {
    const { url } = await httpMcpServer(mode);
    await expectPlayed(http(url), [add, misfit], counted);
  });

  test('over stdio, with answers that a client may not expect', async () => {
    await expectPlayed(stdio(process.execPath, fixture('plainSdkServer.mjs')), unexpected, renamed);
  });

  test('over HTTP, with such answers and a session that expires', async () => {
    const server = spawn(process.execPath, [fixture('plainSdkServer.mjs'), 'http'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void server.kill());
    const [url] = await once(server.stdout, 'data');
    await expectPlayed(http(String(url).trim()), expiring, renamed);
  });
});

const first = String(2n ** 53n + 1n);
const orders: Calls = [
  [
    '{ tool: place_order, arguments: { items: [{ sku: A1, count: 2, parts: [{ sku: b2 }] }], priority: high, notes: { door: left } } }',
    new RegExp(`"id": ?${first},\\s*"status": ?"high:2:1"`),
  ],
  ['{ tool: place_order, arguments: { items: [{ sku: 7 }] } }', /^Error: .*sku/s],
  ['{ tool: place_order, arguments: { items: [], priority: urgent } }', /^Error: .*priority/s],
  [`{ tool: cancel_order, arguments: { id: "${first}" } }`, /^cancelled$/],
  ['{ tool: cancel_order, arguments: { id: 5 } }', /^Error executing tool cancel_order/],
  ['{ tool: photo }', /image\/png/],
  ['{ tool: count }', /^1$/],
  ['{ tool: ask }', /^Error: .*elicitation/is],
];
const ordered: Kept = {
  keys: 'writes: [place_order, cancel_order], reader: { tool: list_orders }',
  that: `any(state, it.id == "${first}" and it.status == "cancelled")`,
};

/** Starts the server of the Python SDK on a free port of loopback. Returns its address. */
async function served(program: string): Promise<string> {
  const port = await freePort();
  const server = spawn(mcpPython.path(), [program, String(port)], { stdio: 'ignore' });
  onTestFinished(() => void server.kill());
  const url = `http://127.0.0.1:${port}/mcp`;
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await expect.poll(answers, { timeout: 20_000 }).toBe(true);
  return url;
}

describe.runIf(isFullSuite)('a server of the official Python SDK: the same', () => {
  const program = fixture('sdkServer.py');
  beforeAll(() => mcpPython.setUp(), 600_000);

  test.each([
    ['stdio', async () => stdio(mcpPython.path(), program)],
    ['HTTP', async () => http(await served(program))],
  ])('over %s', async (_, start) => {
    await expectPlayed(await start(), orders, ordered);
  });

  const plainProgram = fixture('plainSdkServer.py');
  test.each([
    ['stdio', async () => stdio(mcpPython.path(), plainProgram), unexpected],
    ['HTTP', async () => http(await served(plainProgram)), expiring],
  ])('over %s, with answers that a client may not expect', async (_, start, calls) => {
    await expectPlayed(await start(), calls, renamed);
  });
});
