import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { describeExternalTools } from '../../../../src/engine/shell/describe.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { cancelled } from '../../../../src/engine/shell/files/fault.ts';
import type { ToolSource } from '../../../../src/engine/shell/tools/toolSource.ts';
import { approveDomain } from '../../../support/approval.ts';
import { setDispatcher } from '../../../support/dispatcher.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import {
  connectTo,
  type RawReply,
  type RawServer,
  rawMcpServer,
  resultBody,
  textResult,
} from '../../../support/rawMcpServer.ts';
import { sampled } from '../../../support/suite.ts';

/** An error of the transport without the id of a request of the client. */
const unaddressed = (id: string, message: string) =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":"${message}"}}`;

const forget = (server: RawServer) => server.sessions.clear();

function cancelling() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(cancelled()) };
}

test.each([[undefined], [405], [500], ['never' as const]])(
  'closing ends the session; a DELETE with status %s is enough',
  async (deleteStatus) => {
    const server = await rawMcpServer(deleteStatus === undefined ? {} : { deleteStatus });
    const source = await connectTo(server.url);
    expect(server.sessions.size).toBe(1);
    await source.close();
    expect(server.sessions.size).toBe(deleteStatus === undefined ? 0 : 1);
  },
);

test('a server that lists no tools leaves no session', async () => {
  const server = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/list'
        ? { body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"no list"}}` }
        : undefined,
  });
  await expect(connectTo(server.url)).rejects.toThrow(/no list/);
  expect(server.sessions.size).toBe(0);
});

/** Opens a session with an id, and answers with it. */
const opened =
  (server: RawServer, id: string, answer: (response: ServerResponse) => void) => (response: ServerResponse) => {
    server.sessions.add(id);
    response.setHeader('mcp-session-id', id);
    response.setHeader('content-type', 'application/json');
    answer(response);
  };
const ofOldVersion = '{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-03-26"]}}';

test.each<[string, (server: RawServer, id: number, isFirst: boolean) => RawReply, string]>([
  [
    'whose answer breaks',
    (server, _, isFirst) =>
      isFirst
        ? opened(server, 'cut', (response) => {
            response.setHeader('content-length', 500);
            response.write('{"jsonrpc"', () => response.destroy());
          })
        : undefined,
    'initialize',
  ],
  [
    'of a protocol version that is refused',
    (server, id, isFirst) =>
      isFirst
        ? opened(server, 'old', (response) => response.end(`{"jsonrpc":"2.0","id":${id},"error":${ofOldVersion}}`))
        : undefined,
    'initialize',
  ],
  [
    'that a call replaces by another one',
    (server, id) => opened(server, 'next', (response) => response.end(resultBody(id, textResult('look')))),
    'tools/call',
  ],
])('a session %s is ended', async (_, reply, at) => {
  let asked = 0;
  const server = await rawMcpServer({
    reply: ({ id, method }, raw) => {
      asked += method === at ? 1 : 0;
      return method === at ? reply(raw, id, asked === 1) : undefined;
    },
  });
  const source = await connectTo(server.url);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
  await source.close();
  expect([...server.sessions]).toEqual([]);
});

test('a call that was answered is not cancelled on the server when its rollout ends', async () => {
  const methods: string[] = [];
  const { url } = await rawMcpServer({ reply: ({ method }) => void methods.push(method) });
  const source = await connectTo(url);
  const rollout = new AbortController();
  await source.call('look', {}, { signal: rollout.signal });
  rollout.abort(new Error('over'));
  await source.call('look', {});
  expect(methods).not.toContain('notifications/cancelled');
});

const emptyStream = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end();

test.each<[string, RawReply]>([
  ['an empty stream', emptyStream],
  ['400', { status: 400, body: unaddressed('null', 'Method not found') }],
  ['404', { status: 404, body: 'no' }],
  ['405', { status: 405, body: 'no' }],
  ['500', { status: 500, body: 'no' }],
])('a server that answers a notification with %s can be used', async (_, reply) => {
  const server = await rawMcpServer({
    reply: ({ method }) => (method === 'notifications/initialized' ? reply : undefined),
  });
  const source = await connectTo(server.url);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
  expect(server.counts.opened).toBe(1);
});

test('a handshake whose second message has no answer ends at the time limit', async () => {
  const server = await rawMcpServer({
    reply: ({ method }) => (method === 'notifications/initialized' ? () => undefined : undefined),
  });
  await expect(connectTo(server.url, { timeoutMs: 200 })).rejects.toMatchObject({ failure: { code: 'mcp/timeout' } });
  expect(server.sessions.size).toBe(0);
});

const rpc = (code: number, message = 'Session not found') =>
  `{"jsonrpc":"2.0","id":ID,"error":{"code":${code},"message":"${message}"}}`;
const expiries = [
  { name: '404', unknownSession: { status: 404, body: 'not found' } },
  { name: '404 with an error', unknownSession: { status: 404, body: rpc(-32001) } },
  { name: '400', unknownSession: { status: 400, body: 'Bad Request: No valid session ID provided' } },
  { name: '400 with an error', unknownSession: { status: 400, body: rpc(-32000) } },
  { name: '-32001 with status 200', unknownSession: { status: 200, body: rpc(-32001) } },
  { name: '400 in the text of a header', unknownSession: { status: 400, body: 'Mcp-Session-Id header is required' } },
  { name: '410', unknownSession: { status: 410, body: 'gone' } },
  { name: '400 with the id of the call', unknownSession: { status: 400, body: rpc(-32002, 'Server not initialized') } },
  { name: '500', unknownSession: { status: 500, body: 'Session not found' } },
  ...[
    'Server not initialized',
    'Session closed',
    'Could not find transport for this client',
    'Transport not found',
    "Session doesn't exist",
    'Please re-initialize',
  ].map((words) => ({ name: `400 "${words}"`, unknownSession: { status: 400, body: unaddressed('null', words) } })),
  {
    name: '400 with an unknown id',
    unknownSession: { status: 400, body: unaddressed('"server-error"', 'Missing session ID') },
  },
];

test.each(expiries)('an expired session ($name) is taken up again', async ({ unknownSession }) => {
  const server = await rawMcpServer({ unknownSession });
  const source = await connectTo(server.url);
  forget(server);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
  forget(server);
  expect(await source.call('write', {})).toEqual({ content: 'write', isError: false });
  expect(server.calls).toEqual(['look', 'write']);
});

test.each(expiries)('a session that expires ($name) before the tools are listed is opened again', async (expiry) => {
  let lists = 0;
  const server = await rawMcpServer({
    ...expiry,
    reply: ({ id, method }, { sessions }) => {
      if (method !== 'tools/list') return undefined;
      lists += 1;
      if (lists > 1) return undefined;
      sessions.clear();
      const { status, body } = expiry.unknownSession;
      return { status, body: body.replace('ID', String(id)) };
    },
  });
  const source = await connectTo(server.url);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
  expect([lists, server.sessions.size]).toEqual([2, 1]);
});

test.each(['There is no parcel P9.', 'Training session P9 not found'])(
  'a 404 with an error of the tool itself is an answer for the agent: %s',
  async (message) => {
    const server = await rawMcpServer({
      reply: ({ id, method }) =>
        method === 'tools/call' ? { status: 404, body: rpc(-32602, message).replace('ID', String(id)) } : undefined,
    });
    const source = await connectTo(server.url);
    expect(await source.call('write', {})).toMatchObject({ content: expect.stringContaining('P9'), isError: true });
    expect(server.calls).toEqual(['write']);
    expect(server.sessions.size).toBe(1);
  },
);

test.each([
  ['customer C9 not found', 'MCP error 404: customer C9 not found'],
  [unaddressed('null', 'There is no customer C9.'), 'MCP error -32600: There is no customer C9.'],
])('a write that answers with 404 in a live session is made once: %s', async (body, text) => {
  const server = await rawMcpServer({
    reply: ({ method }) => (method === 'tools/call' ? { status: 404, body } : undefined),
  });
  const source = await connectTo(server.url);
  expect(await source.call('write', {})).toEqual({ content: `Error: ${text}`, isError: true });
  expect(server.calls).toEqual(['write']);
});

test('a write is made once if the server refuses it and a ping in the same words, which do not name a session', async () => {
  const refusal = { status: 400, body: unaddressed('null', 'Invalid request') };
  const server = await rawMcpServer({
    reply: ({ method }) => (['tools/call', 'ping'].includes(method) ? refusal : undefined),
  });
  const source = await connectTo(server.url);
  expect(await source.call('write', {})).toEqual({
    content: 'Error: MCP error -32600: Invalid request',
    isError: true,
  });
  expect(server.calls).toEqual(['write']);
});

test.each([400, 404, 422, 500])(
  'a write that answers %i is made once if the server does not support ping',
  async (status) => {
    const refusals: Record<string, RawReply> = {
      'tools/call': { status, body: '{"error":"Order 7 not found, kept a draft"}' },
      ping: { status: 400, body: '{"error":"Unknown method ping"}' },
    };
    const server = await rawMcpServer({ reply: ({ method }) => refusals[method] });
    const source = await connectTo(server.url);
    expect(await source.call('write', {})).toEqual({ content: expect.stringContaining('kept a draft'), isError: true });
    expect(server.calls).toEqual(['write']);
  },
);

test.each([400, 406])('an error with status %s and an unknown id ends the wait', async (status) => {
  const refusal = { status, body: unaddressed('"server-error"', 'Not Acceptable') };
  const { url } = await rawMcpServer({ reply: ({ method }) => (method === 'tools/call' ? refusal : undefined) });
  expect(await (await connectTo(url)).call('look', {})).toEqual({
    content: 'Error: MCP error -32600: Not Acceptable',
    isError: true,
  });
  const closed = await rawMcpServer({ reply: () => refusal });
  await expect(connectTo(closed.url)).rejects.toThrow(/it answers with MCP error -32600: Not Acceptable/);
});

/** Operations that a person cancels while the server does not answer. */
const hanging: readonly {
  readonly what: string;
  readonly hangs: (method: string, tool: string | undefined) => boolean;
  readonly act: (source: ToolSource, signal: AbortSignal) => Promise<unknown> | undefined;
  readonly isForgotten?: true;
}[] = [
  {
    what: 'a session that is opened again',
    hangs: (method) => method === 'initialize',
    act: (source, signal) => source.call('look', {}, { signal }),
    isForgotten: true,
  },
  { what: 'a snapshot', hangs: (_, tool) => tool === 'look', act: (source, signal) => source.snapshot?.(signal) },
  {
    what: 'a snapshot that is restored',
    hangs: (_, tool) => tool === 'login',
    act: (source, signal) => source.restore?.({}, signal),
  },
];

test.each(hanging)('cancelling ends $what', async ({ hangs, act, isForgotten }) => {
  let isOpen = false;
  const asked = Promise.withResolvers<void>();
  const server = await rawMcpServer({
    reply: ({ method, params }) => {
      if (!isOpen || !hangs(method, params.name)) return undefined;
      return () => asked.resolve();
    },
  });
  const source = await connectTo(server.url, {
    state: 'snapshot',
    snapshot: { tool: 'look', arguments: {} },
    restore: { tool: 'login', argument: 'saved' },
  });
  isOpen = true;
  if (isForgotten) forget(server);
  const { signal, abort } = cancelling();
  const ended = expect(act(source, signal)).rejects.toThrow('cancelled');
  await asked.promise;
  abort();
  await ended;
});

test('cancelling ends the listing of tools', async () => {
  const asked = Promise.withResolvers<void>();
  const { url } = await rawMcpServer({
    reply: ({ method }) => (method === 'tools/list' ? () => asked.resolve() : undefined),
  });
  const folder = approveDomain(mcpDomain('raw', `  raw: { type: http, url: "${url}" }`, 'user: { goal: Go. }\n'));
  const { signal, abort } = cancelling();
  const ended = expect(describeExternalTools(loadDomain(folder), { signal })).rejects.toThrow('cancelled');
  await asked.promise;
  abort();
  await ended;
});

test('a session that a task has set up is not replaced by another', async () => {
  const server = await rawMcpServer();
  const source = await connectTo(server.url);
  await source.setUp?.({ calls: [{ tool: 'login' }] });
  forget(server);
  await expect(source.call('look', {})).rejects.toMatchObject({ failure: { code: 'mcp/session' } });
});

test('a session with a restored snapshot is not replaced by another', async () => {
  const server = await rawMcpServer();
  const source = await connectTo(server.url, {
    state: 'snapshot',
    snapshot: { tool: 'look', arguments: {} },
    restore: { tool: 'login', argument: 'saved' },
  });
  await source.restore?.({ count: 41 });
  forget(server);
  await expect(source.call('write', {})).rejects.toMatchObject({ failure: { code: 'mcp/session' } });
});

test.each(['initialize', 'tools/list'])('a connection that breaks at %s is opened again, once', async (broken) => {
  let asked = 0;
  const server = await rawMcpServer({
    reply: ({ method }) => {
      if (method !== broken) return undefined;
      asked += 1;
      return asked === 1 ? (response) => void response.destroy() : undefined;
    },
  });
  const source = await connectTo(server.url);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
  expect(asked).toBe(2);
});

test('a server that breaks every connection is asked twice', async () => {
  let asked = 0;
  const server = await rawMcpServer({
    reply: () => (response) => {
      asked += 1;
      response.destroy();
    },
  });
  await expect(connectTo(server.url)).rejects.toThrow(/the connection broke before the answer/);
  expect(asked).toBe(2);
});

test('a server that forgets every session is not asked forever', async () => {
  let lists = 0;
  const server = await rawMcpServer({
    reply: ({ method }, { sessions }) => {
      if (method !== 'tools/list') return undefined;
      lists += 1;
      sessions.clear();
      return { status: 404, body: 'no such session' };
    },
  });
  await expect(connectTo(server.url)).rejects.toThrow(
    /no longer knows the session that it has just opened \(.*no such session.*Let the server keep its sessions/,
  );
  expect(lists).toBe(2);
});

describe.each(['none', 'replay', 'snapshot'] as const)('with state: %s', (state) => {
  test('an expired session is a failure after a write', async () => {
    const server = await rawMcpServer();
    const source = await connectTo(server.url, { state });
    await source.call('write', {});
    forget(server);
    await expect(source.call('look', {})).rejects.toMatchObject({
      failure: { code: 'mcp/session', message: expect.stringContaining('what it kept for the rollout is gone') },
    });
    expect(server.calls).toEqual(['write']);
  });

  test('an expired session in which nothing was written is taken up again', async () => {
    const server = await rawMcpServer();
    const source = await connectTo(server.url, { state });
    await source.call('look', {});
    forget(server);
    expect(await source.call('write', {})).toEqual({ content: 'write', isError: false });
    expect(server.calls).toEqual(['look', 'write']);
  });
});

test.each([200, 400])('an error (%i) about a session of the tool itself is the result of the call', async (status) => {
  const server = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call' ? { status, body: rpc(-32001).replace('ID', String(id)) } : undefined,
  });
  const source = await connectTo(server.url);
  expect(await source.call('write', {})).toEqual({
    content: 'Error: MCP error -32001: Session not found',
    isError: true,
  });
  expect(server.calls).toEqual(['write']);
});

test('400 that is not about a session is the result of the call', async () => {
  const server = await rawMcpServer({
    reply: ({ method }) => (method === 'tools/call' ? { status: 400, body: 'bad arguments' } : undefined),
  });
  const source = await connectTo(server.url);
  const content = 'Error: MCP error 400: bad arguments';
  expect(await source.call('look', {})).toEqual({ content, isError: true });
  expect(server.calls).toEqual(['look']);
});

/** Sends a progress notification every 100 ms, and the result after a number of them. */
const slow =
  (id: number, token: number | undefined, notifications: number, count = { sent: 0 }) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (text: string) => response.write(`data: ${text}\n\n`);
    const timer = setInterval(() => {
      count.sent += 1;
      const params = { progressToken: token, progress: count.sent };
      if (count.sent <= notifications && token !== undefined)
        event(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
      if (count.sent === notifications) response.end(`data: ${resultBody(id, textResult('done'))}\n\n`);
    }, 100);
    response.on('close', () => clearInterval(timer));
  };

test('progress extends the time limit up to 10 times of it', async () => {
  const count = { sent: 0 };
  const { url } = await rawMcpServer({
    reply: ({ id, method, params }) =>
      method === 'tools/call' ? slow(id, params._meta?.progressToken, 10_000, count) : undefined,
  });
  const source = await connectTo(url, { resetTimeoutOnProgress: true });
  await expect(source.call('look', {}, { timeoutMs: 400 })).rejects.toThrow(/did not answer within 4 s/);
  // Without an extension, 4 notifications come before the limit.
  expect(count.sent).toBeGreaterThan(10);
});

test('progress extends the time limit up to the total that is declared', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method, params }) =>
      method === 'tools/call' ? slow(id, params._meta?.progressToken, 10_000) : undefined,
  });
  const source = await connectTo(url, { resetTimeoutOnProgress: true, maxTotalTimeoutMs: 900 });
  await expect(source.call('look', {}, { timeoutMs: 400 })).rejects.toThrow(
    /did not answer within 0\.9 s\. Raise maxTotalTimeoutMs of the server/,
  );
});

test.each([
  { progress: 'one notification, then silence', times: 1, totalMs: 500, timeoutMs: 400 },
  { progress: 'no progress', times: 0, totalMs: 200, timeoutMs: 5000 },
])('the declared total is kept with $progress, and the call is cancelled', async ({ times, totalMs, timeoutMs }) => {
  const cancelled = Promise.withResolvers<void>();
  const { url } = await rawMcpServer({
    reply: ({ method, params }) => {
      if (method === 'notifications/cancelled') cancelled.resolve();
      if (method !== 'tools/call') return undefined;
      return (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        const progress = { progressToken: params._meta?.progressToken, progress: 1 };
        const text = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: progress });
        if (times > 0) setTimeout(() => response.write(`data: ${text}\n\n`), 300);
      };
    },
  });
  const source = await connectTo(url, { resetTimeoutOnProgress: true, maxTotalTimeoutMs: totalMs });
  await expect(source.call('look', {}, { timeoutMs })).rejects.toThrow(
    `did not answer within ${totalMs / 1000} s. Raise maxTotalTimeoutMs`,
  );
  await cancelled.promise;
});

test.each([
  { resetTimeoutOnProgress: true, result: { content: 'done' } },
  { resetTimeoutOnProgress: false, result: { failure: { code: 'mcp/timeout' } } },
])('progress extends the time limit if declared: $resetTimeoutOnProgress', async ({ result, ...more }) => {
  const { url } = await rawMcpServer({
    reply: ({ id, method, params }) =>
      method === 'tools/call' ? slow(id, params._meta?.progressToken, 25) : undefined,
  });
  const source = await connectTo(url, { ...more, timeoutMs: 2000 });
  expect(await source.call('look', {}).catch((error: unknown) => error)).toMatchObject(result);
});

/** Ends the stream of a call with an id, and sends the event of its answer to the GET that resumes it. */
const resumed = (event: (id: number) => string) => {
  let asked = 0;
  return rawMcpServer({
    get: (response) => {
      if (asked === 0) response.writeHead(405).end();
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event(asked));
    },
    reply: ({ id, method }) => {
      if (method !== 'tools/call') return undefined;
      asked = id;
      return (response) =>
        void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 10\nid: 1\ndata:\n\n');
    },
  });
};

test.each([
  ['a large integer', '"structuredContent":{"id":9007199254740993}', '{"id":9007199254740993}'],
  ['metadata that are null', '"content":"seen","_meta":null', 'seen'],
  ['several lines', '\ndata: "content":"seen"', 'seen'],
])('the answer on a resumed stream is read as usual: %s', async (_, result, content) => {
  const { url } = await resumed((id) => `data: {"jsonrpc":"2.0","id":${id},"result":{${result}}}\n\n`);
  expect(await (await connectTo(url)).call('look', {})).toMatchObject({ content, isError: false });
});

test('a separate stream that cannot be opened again does not end a call', async () => {
  const sse = { 'content-type': 'text/event-stream' };
  let gets = 0;
  let asked = 0;
  const given = Promise.withResolvers<void>();
  const { url } = await rawMcpServer({
    get: (response) => {
      if (response.req.headers['last-event-id'] !== undefined) {
        response.writeHead(200, sse).end(`data: ${resultBody(asked, textResult('seen'))}\n\n`);
        return;
      }
      gets += 1;
      if (gets === 1) response.writeHead(200, sse).end('retry: 10\n\n');
      else response.writeHead(503).end();
      if (gets === 3) given.resolve();
    },
    reply: ({ id, method }) => {
      if (method !== 'tools/call') return undefined;
      asked = id;
      // The client resumes this stream after what it does about the other one.
      return (response) =>
        void given.promise.then(() => response.writeHead(200, sse).end('retry: 10\nid: 1\ndata:\n\n'));
    },
  });
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'seen', isError: false });
});

test('a server can be reached if requests go through a dispatcher of another class', async () => {
  setDispatcher((Usual) => {
    class Pool extends Usual {
      constructor(origin: unknown) {
        if (typeof origin !== 'string') throw new TypeError('an origin is needed');
        super({});
      }
    }
    return new Pool('http://127.0.0.1');
  });
  const { url } = await rawMcpServer();
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'look', isError: false });
});

test('a call may take longer than the time limits of the runtime', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call'
        ? (response) =>
            void setTimeout(
              () =>
                response.writeHead(200, { 'content-type': 'application/json' }).end(resultBody(id, textResult('late'))),
              1200,
            )
        : undefined,
  });
  setDispatcher((Usual) => new Usual({ headersTimeout: 100, bodyTimeout: 100 }));
  const source = await connectTo(url);
  expect(await source.call('look', {})).toEqual({ content: 'late', isError: false });
});

describe('a server that gives every client the same session', () => {
  test.each([
    ['at once', (sources: readonly ToolSource[]) => Promise.all(sources.map((source) => source.close()))],
    ['one after the other', async ([one, other]: readonly ToolSource[]) => [await one?.close(), await other?.close()]],
  ] as const)('ends it if two rollouts without a state close %s', async (_, close) => {
    const { url, sessions } = await rawMcpServer({ session: 'only' });
    const stateless: Parameters<typeof connectTo>[1] = { state: 'none', writes: [] };
    await close([await connectTo(url, stateless), await connectTo(url, stateless)]);
    expect([...sessions]).toEqual([]);
  });

  test('is refused to a second rollout while a first one works on its state', async () => {
    const { url, sessions } = await rawMcpServer({ session: 'only' });
    const first = await connectTo(url);
    await expect(connectTo(url)).rejects.toMatchObject({
      failure: { code: 'mcp/shared-session', message: expect.stringContaining('--concurrency 1') },
    });
    expect([...sessions], 'the session of the first is not ended').toEqual(['only']);
    expect(await first.call('write', {})).toEqual({ content: 'write', isError: false });
    await first.close();
    const next = await connectTo(url);
    expect(await next.call('look', {})).toEqual({ content: 'look', isError: false });
  });

  test('is refused to a rollout whose session the first one ends during the handshake', async () => {
    const asked = Promise.withResolvers<void>();
    let handshakes = 0;
    const held: (() => void)[] = [];
    const { url, sessions } = await rawMcpServer({
      session: 'only',
      reply: ({ method }) => {
        if (method !== 'notifications/initialized') return undefined;
        handshakes += 1;
        if (handshakes === 1) return undefined;
        asked.resolve();
        return (response) => void held.push(() => response.writeHead(404).end('no such session'));
      },
    });
    const first = await connectTo(url);
    const second = expect(connectTo(url)).rejects.toMatchObject({ failure: { code: 'mcp/shared-session' } });
    await asked.promise;
    await first.close();
    for (const answer of held) answer();
    await second;
    expect(sessions.size).toBe(0);
  });

  test('is refused to a rollout that lists the tools when one has ended the session and another has started it', async () => {
    let lists = 0;
    const { url } = await rawMcpServer({
      session: 'only',
      reply: ({ method }) => {
        if (method !== 'tools/list') return undefined;
        lists += 1;
        return lists === 2 ? (response) => response.writeHead(404).end('no such session') : undefined;
      },
    });
    await connectTo(url);
    await expect(connectTo(url)).rejects.toMatchObject({ failure: { code: 'mcp/shared-session' } });
  });

  test('serves any number of rollouts that only read', async () => {
    const { url } = await rawMcpServer({ session: 'only' });
    const clients = await Promise.all([connectTo(url, { writes: [] }), connectTo(url, { writes: [] })]);
    for (const client of clients) expect(await client.call('look', {})).toEqual({ content: 'look', isError: false });
  });
});

test.each(
  sampled(
    [
      { type: 'application/json', before: '' },
      { type: 'text/event-stream', before: 'data: ' },
    ],
    2,
  ),
)('a result of more than 64 MB in $type is an error for the agent, and the session remains', async (body) => {
  function* endless(start: string) {
    yield start;
    for (;;) yield 'x'.repeat(1_000_000);
  }
  const server = await rawMcpServer({
    reply: ({ id, method, params }) => {
      if (method !== 'tools/call' || params.name !== 'look') return undefined;
      return (response) => {
        response.writeHead(200, { 'content-type': body.type });
        const start = `${body.before}{"jsonrpc":"2.0","id":${id},"x":"`;
        pipeline(endless(start), response).catch(() => undefined);
      };
    },
  });
  const source = await connectTo(server.url);
  expect(await source.call('look', {})).toEqual({
    content: 'Error: the result is longer than 64 MB, which is the maxMessageSize of the server',
    isError: true,
  });
  expect(await source.call('write', {})).toEqual({ content: 'write', isError: false });
  expect(server.sessions.size).toBe(1);
});

const long = textResult('x'.repeat(1_500_000));
const tooLong = {
  content: 'Error: the result is longer than 1.2 MB, which is the maxMessageSize of the server',
  isError: true,
};

test.each<[number | undefined, object]>([
  [1_200_000, tooLong],
  [2_000_000, { isError: false }],
  [undefined, { isError: false }],
])('the longest answer of a server is declared: %s bytes', async (maxMessageSize, result) => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => (method === 'tools/call' ? { body: resultBody(id, long) } : undefined),
  });
  const source = await connectTo(url, maxMessageSize === undefined ? {} : { maxMessageSize });
  expect(await source.call('look', {})).toMatchObject(result);
});

test('a list of tools that is too long names the limit', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/list'
        ? { body: resultBody(id, JSON.stringify({ tools: [{ name: 'a', description: 'x'.repeat(1_500_000) }] })) }
        : undefined,
  });
  await expect(connectTo(url, { maxMessageSize: 1_200_000 })).rejects.toMatchObject({
    failure: { code: 'mcp/too-long', message: expect.stringContaining('raise maxMessageSize of the server') },
  });
});
