import { expect, onTestFinished, test } from 'vitest';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { ScratchTools } from '../../../src/engine/shell/scratchTools.ts';
import { approveDomain } from '../../support/approval.ts';
import { completion, endpoint } from '../../support/endpoint.ts';
import { type RawReply, type RawServer, rawMcpServer, resultBody } from '../../support/rawMcpServer.ts';
import { simulatedDomain } from '../../support/simulatedDomain.ts';
import { folderOf } from './load/domainFolder.ts';

/** Opens the tools of a domain whose server answers the tool `look` as given. `write` does not wait. */
async function scratchOf(
  reply: (id: number) => RawReply,
  timeoutMs = 120_000,
  files: Record<string, string> = {},
  more = '',
  raw: RawServer | null = null,
) {
  const server =
    raw ??
    (await rawMcpServer({
      reply: ({ id, method, params }) => (method === 'tools/call' && params.name === 'look' ? reply(id) : undefined),
    }));
  const folder = folderOf({
    'domain.yaml': `name: raw\nmcpServers:\n  raw:\n    type: http\n    url: ${server.url}\n    writes: [write]\n    timeoutMs: ${timeoutMs}\n    ${more}\n`,
    'policy.md': '# Raw\n',
    'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
    ...files,
  });
  approveDomain(folder);
  const tools = await ScratchTools.open(loadDomain(folder), { readKey: () => undefined });
  onTestFinished(() => tools.close());
  return { server, tools, call: tools.shown.call };
}

/** A tool on the domain's own database that returns all notes so far. */
const notes = {
  'database.json': '{"notes": {}}',
  'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';

const { tool } = defineTools<{ agent: { notes: Record<string, { text: string }> } }>();

export const note = tool({
  description: 'Keeps a note.',
  effect: 'write',
  input: z.object({ text: z.string() }),
  run: ({ text }, { db }) => {
    db.notes[text] = { text };
    return Object.keys(db.notes).join(', ');
  },
});
`,
};

const wrote = { content: 'write', isError: false };

test('an error of a server is the result of its call alone', async () => {
  const { server, call } = await scratchOf((id) => ({
    body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"boom"}}`,
  }));
  expect(await call('look', {})).toMatchObject({ content: 'Error: MCP error -32603: boom', isError: true });
  expect(await call('write', {})).toMatchObject(wrote);
  expect(server.sessions.size, 'the database is the same').toBe(1);
});

test.each([
  {
    name: 'that exceeds its time limit',
    reply: () => () => undefined,
    says: /did not answer within 2\.0 s|within 2 s/,
  },
  { name: 'whose server breaks the connection', reply: () => (response) => response.destroy(), says: /broke/ },
] satisfies readonly { name: string; reply: (id: number) => RawReply; says: RegExp }[])(
  'a call $name keeps the writes of earlier calls, and later calls do not repeat its error',
  async ({ reply, says }) => {
    const { call } = await scratchOf(reply, 2000, notes);
    expect(await call('note', { text: 'milk' })).toMatchObject({ content: 'milk' });
    const failed = await call('look', {});
    expect(failed.isError).toBe(true);
    expect(failed.content).toMatch(says);
    expect(failed.content).toMatch(/\. The next call continues from the state before this call$/);
    expect(await call('note', { text: 'tea' })).toMatchObject({ content: 'milk, tea' });
  },
);

test('a call that waits for another one is made after that one failed', async () => {
  const { call } = await scratchOf(() => (response) => response.destroy(), 2000, notes);
  const [failed, waiting] = await Promise.all([call('look', {}), call('note', { text: 'milk' })]);
  expect(failed).toMatchObject({ content: expect.stringMatching(/broke/), isError: true });
  expect(waiting).toMatchObject({ content: 'milk', isError: false });
});

test('a call starts a fresh database where a server cannot be brought to the state before it', async () => {
  const { call } = await scratchOf(() => (response) => response.destroy(), 2000, notes);
  expect(await call('note', { text: 'milk' })).toMatchObject({ content: 'milk' });
  expect(await call('write', {})).toMatchObject(wrote);
  expect((await call('look', {})).content).toMatch(/"raw".*\. The next call starts on a fresh database$/);
  expect(await call('note', { text: 'tea' })).toMatchObject({ content: 'tea' });
});

test('a cancelled call does not keep the next one waiting, whether it was made or not', async () => {
  const { server, call } = await scratchOf(() => () => undefined);
  const [made, waiting] = [new AbortController(), new AbortController()];
  const first = call('look', {}, made.signal);
  const second = call('look', {}, waiting.signal);
  await expect.poll(() => server.calls).toEqual(['look']);
  waiting.abort();
  expect(await second).toMatchObject({ isError: true, content: expect.stringContaining('cancelled before') });
  made.abort();
  expect(await first).toMatchObject({ isError: true, content: 'Error: the call was cancelled' });
  expect(await call('write', {})).toMatchObject(wrote);
  expect(server.calls).toEqual(['look', 'write']);
  expect(server.sessions.size, 'the database is the same').toBe(1);
});

test('a cancelled call is not made again when its server is brought to the state before another call', async () => {
  let isBroken = false;
  const server = await rawMcpServer({
    reply: ({ method, params }) => {
      if (method !== 'tools/call') return undefined;
      if (params.name === 'login') return () => undefined;
      return params.name === 'look' && isBroken ? (response) => void response.destroy() : undefined;
    },
  });
  const { call } = await scratchOf(() => undefined, 120_000, {}, 'state: replay', server);
  await call('write', {});
  const cancel = new AbortController();
  const cancelled = call('login', {}, cancel.signal);
  await expect.poll(() => server.calls).toEqual(['write', 'login']);
  cancel.abort();
  await cancelled;
  isBroken = true;
  expect((await call('look', {})).content).toMatch(
    /\. The next call continues from the state before this call, without the calls that were cancelled$/,
  );
  isBroken = false;
  expect(await call('look', {})).toMatchObject({ content: 'look', isError: false });
  expect(server.calls).toEqual(['write', 'login', 'look', 'write', 'look']);
});

test.each([
  ['snapshot', 'state: snapshot\n    snapshot: { tool: look }\n    restore: { tool: login, argument: to }'],
  ['replay', 'state: replay'],
])('a session with a cancelled write is not continued in another one (state: %s)', async (_, keys) => {
  let isLost = false;
  const server = await rawMcpServer({
    reply: ({ method, params }, { sessions }) => {
      if (method !== 'tools/call') return undefined;
      if (params.name === 'write' && server.calls.length > 1) return () => undefined;
      if (!isLost) return undefined;
      isLost = false;
      sessions.clear();
      return { status: 404, body: 'no such session' };
    },
  });
  const { call } = await scratchOf(() => undefined, 120_000, {}, keys, server);
  await call('write', {});
  const before = server.calls.length;
  const cancel = new AbortController();
  const cancelled = call('write', {}, cancel.signal);
  await expect.poll(() => server.calls.length).toBe(before + 1);
  cancel.abort();
  await cancelled;
  isLost = true;
  expect((await call('look', {})).content).toMatch(
    /A new session would lack what a cancelled write changed\. The next call .*, without the calls that were cancelled$/,
  );
});

test('the state around a call is that of a rollout: the structured content of the reader', async () => {
  const structured = { content: [{ type: 'text', text: 'Two notes.' }], structuredContent: { notes: ['milk', 'tea'] } };
  const { tools } = await scratchOf(
    (id) => ({ body: resultBody(id, JSON.stringify(structured)) }),
    2000,
    {},
    'reader: { tool: look }',
  );
  expect(await tools.stateAround('write')).toMatchObject({ source: 'raw', state: { notes: ['milk', 'tea'] } });
});

test('a cancelled call of a simulated tool ends the wait for its model, and writes nothing', async () => {
  let asked = 0;
  const url = await endpoint(() => {
    asked += 1;
    return asked === 1 ? null : completion({ content: '{"result": "sunny"}' });
  });
  const tools = await ScratchTools.open(loadDomain(simulatedDomain(url)), { readKey: () => undefined });
  onTestFinished(() => tools.close());
  const { call } = tools.shown;
  const cancel = new AbortController();
  const first = call('weather', {}, cancel.signal);
  await expect.poll(() => asked).toBe(1);
  cancel.abort();
  expect(await first).toMatchObject({ isError: true, content: 'Error: the call was cancelled' });
  expect(await call('weather', {})).toMatchObject({ isError: false, content: expect.stringContaining('sunny') });
});
