import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { HttpServer } from '../../../../src/engine/core/domain/domain.ts';
import { httpProblem, isBroken } from '../../../../src/engine/shell/mcp/problems.ts';
import { isAlive } from '../../../../src/engine/shell/processes/isAlive.ts';
import { startMcpServer } from '../../../../src/engine/shell/tools/mcp.ts';
import type { ToolSource } from '../../../../src/engine/shell/tools/toolSource.ts';
import {
  connectTo,
  declaredHttp,
  type Raw,
  type RawReply,
  rawMcpServer,
  textResult,
} from '../../../support/rawMcpServer.ts';

const errorOf = (code: number, message: string, more = '') => `"error":{"code":${code},"message":"${message}"${more}}`;
const answer = (id: number | null, rest: string) => `{"jsonrpc":"2.0","id":${id},${rest}}`;
const streamed = (body: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: message\ndata: ${body}\n\n`);
};

const replies: readonly (readonly [name: string, reply: (id: number) => RawReply, text: RegExp])[] = [
  ['-32603 of a handler that throws', (id) => ({ body: answer(id, errorOf(-32603, 'boom')) }), /-32603: boom$/],
  ['-32000 of the server', (id) => ({ body: answer(id, errorOf(-32000, 'try later')) }), /-32000: try later$/],
  ['-32001 of the server', (id) => ({ body: answer(id, errorOf(-32001, 'no order')) }), /-32001: no order$/],
  ['-32600', (id) => ({ body: answer(id, errorOf(-32600, 'bad request')) }), /-32600: bad request$/],
  ['-32602', (id) => ({ body: answer(id, errorOf(-32602, 'bad arguments')) }), /-32602: bad arguments$/],
  [
    'an application-defined code, with data',
    (id) => ({ body: answer(id, errorOf(7, 'no', ',"data":{"a":1}')) }),
    /7: no\n.*"a":1/,
  ],
  [
    '-32042 with data',
    (id) => ({ body: answer(id, errorOf(-32042, 'sign in', ',"data":{"elicitations":[]}')) }),
    /sign in/,
  ],
  ['an error in an event stream', (id) => streamed(answer(id, errorOf(-32603, 'boom'))), /-32603: boom$/],
  ['an error with status 400', (id) => ({ status: 400, body: answer(id, errorOf(-32600, 'no')) }), /-32600: no$/],
  ['an error with status 500', (id) => ({ status: 500, body: answer(id, errorOf(-32603, 'boom')) }), /-32603: boom$/],
  ['an error without an id', () => ({ body: answer(null, errorOf(-32603, 'boom')) }), /-32603: boom$/],
  ['an error whose code is a text', (id) => ({ body: answer(id, '"error":{"code":"E1","message":"no"}') }), /no$/],
  ['an error that is a text', (id) => ({ body: answer(id, '"error":"no luck"') }), /no luck$/],
  ['an error without an id in an event stream', () => streamed(answer(null, errorOf(-32603, 'boom'))), /-32603: boom$/],
  ['an error with status 401', (id) => ({ status: 401, body: answer(id, errorOf(-32000, 'sign in')) }), /sign in$/],
  [
    'an error whose message is an object',
    (id) => ({ body: answer(id, '"error":{"code":-32603,"message":{"why":"boom"}}') }),
    /-32603: {"why":"boom"}$/,
  ],
  [
    'an error whose message is an object with a large integer',
    (id) => ({ body: answer(id, '"error":{"code":-32603,"message":{"id":9007199254740993}}') }),
    /{"id":9007199254740993}$/,
  ],
  ['an error in a list', (id) => streamed(`[${answer(id, errorOf(-32603, 'boom'))}]`), /-32603: boom$/],
  ['an error without a message', (id) => ({ body: answer(id, '"error":{"code":-32000}') }), /-32000: $/],
];

test.each(replies)('the agent reads %s, and the next call works', async (_, reply, text) => {
  let isFirst = true;
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => {
      if (method !== 'tools/call' || !isFirst) return undefined;
      isFirst = false;
      return reply(id);
    },
  });
  const source = await connectTo(url);
  const result = await source.call('look', {});
  expect(result.isError).toBe(true);
  expect(result.content).toMatch(/^Error: MCP error /);
  expect(result.content).toMatch(text);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
});

test('a result beside an error that is null is a result', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call' ? { body: answer(id, `"error":null,"result":${textResult('fine')}`) } : undefined,
  });
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'fine', isError: false });
});

const page = (body: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end(body);
const refused = { status: 401, body: '{"error":"invalid_token"}' };
const losses: readonly (readonly [name: string, reply: RawReply, code: string])[] = [
  ['a refusal with status 401', refused, 'mcp/refused'],
  ['no answer within the time limit', () => undefined, 'mcp/timeout'],
  ['a connection that ends', (response) => response.destroy(), 'mcp/died'],
  ['half of an answer', { body: '{"jsonrpc":"2.0","id":1,"result":{' }, 'mcp/died'],
  ['a page of a login with status 200', page('<html><title>Log in</title></html>'), 'mcp/protocol'],
  ['an error page of a proxy', { status: 502, body: '<html><title>Bad Gateway</title></html>' }, 'mcp/unavailable'],
  [
    'a JSON error of a gateway with a message',
    { status: 503, body: '{"error":{"message":"busy"}}' },
    'mcp/unavailable',
  ],
];

test.each(losses)('%s ends the rollout', async (_, reply, code) => {
  const { url } = await rawMcpServer({ reply: ({ method }) => (method === 'tools/call' ? reply : undefined) });
  const source = await connectTo(url);
  const timeoutMs = code === 'mcp/timeout' ? 200 : 60_000;
  await expect(source.call('look', {}, { timeoutMs })).rejects.toMatchObject({ failure: { code } });
});

const unreadable: readonly (readonly [name: string, reply: RawReply, words: string])[] = [
  ['JSON that is not a message', { body: '{"ok":true}' }, '{"ok":true}'],
  ['an empty answer', { body: '' }, 'its answer is empty'],
  ['204', (response) => void response.writeHead(204).end(), 'its answer is empty'],
  ['an object of Python', { body: "{'jsonrpc': '2.0'}" }, "{'jsonrpc': '2.0'}"],
  ['a notification', { body: '{"jsonrpc":"2.0","method":"notifications/message"}' }, 'notifications/message'],
  ['202 without an answer', { status: 202, body: '' }, 'its answer is empty'],
];

test.each(unreadable)('the agent reads that a call was answered with %s, and a write is made once', async (...row) => {
  const [, reply, words] = row;
  const { url, calls } = await rawMcpServer({
    reply: ({ method, params }) => (method === 'tools/call' && params.name === 'write' ? reply : undefined),
  });
  const source = await connectTo(url);
  expect(await source.call('write', {}, { timeoutMs: 5000 })).toEqual({
    content: expect.stringContaining('Error: the server did not answer with MCP ('),
    isError: true,
  });
  expect((await source.call('write', {})).content).toContain(words);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
  expect(calls).toEqual(['write', 'write', 'look']);
});

const causes: readonly (readonly [cause: object, code: string, message: RegExp])[] = [
  [{ code: 'ECONNREFUSED' }, 'mcp/unreachable', /\(ECONNREFUSED\)\. Start the server/],
  [{ code: 'EAI_AGAIN' }, 'mcp/unreachable', /\(EAI_AGAIN\)\. Start the server/],
  [{ code: 'EHOSTUNREACH' }, 'mcp/unreachable', /\(EHOSTUNREACH\)/],
  [{ code: 'UND_ERR_CONNECT_TIMEOUT' }, 'mcp/unreachable', /\(UND_ERR_CONNECT_TIMEOUT\)/],
  [{ code: 'ETIMEDOUT', syscall: 'connect' }, 'mcp/unreachable', /\(ETIMEDOUT\)/],
  [{ code: 'ETIMEDOUT', syscall: 'read' }, 'mcp/died', /broke before the answer \(ETIMEDOUT\)/],
  [{ code: 'ECONNRESET' }, 'mcp/died', /broke before the answer \(ECONNRESET\)/],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'mcp/unreachable', /Set NODE_EXTRA_CA_CERTS/],
  [{ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }, 'mcp/unreachable', /Set NODE_EXTRA_CA_CERTS/],
  [{ code: 'CERT_HAS_EXPIRED' }, 'mcp/unreachable', /Check the url, and the certificate/],
  [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'mcp/unreachable', /Check the url, and the certificate/],
];

test.each(causes)('a connection that fails by %j is %s', (cause, code, message) => {
  const error = new TypeError('fetch failed', { cause });
  const [found, what] = httpProblem(declaredHttp('http://127.0.0.1'), 'look', error, []);
  expect([found, isBroken(error)]).toEqual([code, code === 'mcp/died']);
  expect(what).toMatch(message);
});

test('an address with https of a server without TLS is unreachable', async () => {
  const { url } = await rawMcpServer();
  await expect(connectTo(url.replace('http', 'https'))).rejects.toMatchObject({
    failure: { code: 'mcp/unreachable', message: expect.stringMatching(/cannot be reached \(ERR_SSL_\w+\)/) },
  });
});

/**
 * A server on standard input and output that writes the given line for each call, or one after the other if NEXT
 * separates them, and another line for each notification.
 */
const stdioProgram = `
let calls = 0;
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') answer(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} } });
  if (method === 'tools/list') answer(id, { tools: [{ name: 'look' }] });
  if (id === undefined && process.argv[2]) console.log(process.argv[2]);
  if (method !== 'tools/call') return;
  calls += 1;
  const lines = process.argv[1].split('NEXT');
  const [own, end] = lines[Math.min(calls, lines.length) - 1].split('END');
  console.log(own.replace('PID', process.pid).replaceAll('ID', id).replace('LONG', () => 'x'.repeat(65e6)));
  if (end !== undefined) process.stdout.write('', () => process.exit(0));
});`;

/** Starts that server for one test. */
async function startStdio(
  line: string,
  declared: Partial<HttpServer> = {},
  log?: (text: string) => void,
  onNotification = '',
): Promise<ToolSource> {
  const { type: _, url: __, headers: ___, ...more } = declaredHttp('', declared);
  const args = ['-e', stdioProgram, line, onNotification];
  const server = { ...more, type: 'stdio', command: process.execPath, args, env: {} } as const;
  const source = await startMcpServer('raw', server, process.cwd(), log ? { log } : {});
  onTestFinished(() => source.close());
  return source;
}

test.each([
  ['an error', answer(7, errorOf(-32603, 'boom')).replace('"id":7', '"id":ID')],
  ['an error without an id', answer(null, errorOf(-32603, 'boom'))],
  ['an error after one in its log', `{"error":"no database"}\n${answer(null, errorOf(-32603, 'boom'))}`],
])('the agent reads %s over stdio', async (_, line) => {
  const source = await startStdio(line);
  expect(await source.call('look', {})).toEqual({ content: 'Error: MCP error -32603: boom', isError: true });
});

test('a server over stdio that answers its start with an error is not taken for a wrong command', async () => {
  const refusing = `process.stdin.on('data', (line) => {
    const { id } = JSON.parse(line);
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: 'database is locked' } }));
  })`;
  const { url: _, headers: __, ...more } = declaredHttp('');
  const args = ['-e', refusing];
  const server = { ...more, type: 'stdio', command: process.execPath, args, env: {} } as const;
  await expect(startMcpServer('raw', server, process.cwd())).rejects.toThrow(
    /it answers with MCP error -32603: database is locked\. Look at the log of the server/,
  );
});

const seen = `{"jsonrpc":"2.0","id":ID,"result":${textResult('seen')}}`;

test('a server over stdio that refuses notifications with errors without an id can be used', async () => {
  const refusal = answer(null, errorOf(-32601, 'Method not found'));
  const source = await startStdio(`waitsNEXT${seen}`, {}, undefined, refusal);
  await expect(source.call('look', {}, { timeoutMs: 100 })).rejects.toMatchObject({ failure: { code: 'mcp/timeout' } });
  expect(await source.call('look', {}, { timeoutMs: 5000 })).toEqual({ content: 'seen', isError: false });
});

test.each([
  ['in a list', `[{"jsonrpc":"2.0","method":"notifications/message"},${seen}]`, 'seen'],
  [
    'with NaN and Infinity',
    '{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":{"mean":NaN,"max":-Infinity,"text":"a \\"NaN"}}}',
    '{"mean":null,"max":null,"text":"a \\"NaN"}',
  ],
])('an answer %s is read over stdio', async (_, line, content) => {
  const source = await startStdio(line);
  expect(await source.call('look', {}, { timeoutMs: 5000 })).toMatchObject({ content, isError: false });
});

const sent = (status: number, type: string, body: string) => (response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': type }).end(body);
const notFinite = '"result":{"structuredContent":{"mean":NaN}}';
test.each<[string, (id: number) => RawReply]>([
  ['JSON', (id) => ({ body: answer(id, notFinite) })],
  ['JSON with status 202', (id) => ({ status: 202, body: answer(id, notFinite) })],
  ['a list with status 202', (id) => ({ status: 202, body: `[${answer(id, notFinite)}]` })],
  ['an event stream with status 202', (id) => sent(202, 'text/event-stream', `data: ${answer(id, notFinite)}\n\n`)],
  ['JSON with the type of a text', (id) => sent(200, 'text/plain', answer(id, notFinite))],
  ['JSON with status 202 and the type of a text', (id) => sent(202, 'text/plain', answer(id, notFinite))],
  ['an event stream', (id) => streamed(answer(id, notFinite))],
])('an answer with NaN in %s is read', async (_, reply) => {
  const { url } = await rawMcpServer({ reply: ({ id, method }) => (method === 'tools/call' ? reply(id) : undefined) });
  expect(await (await connectTo(url)).call('look', {})).toMatchObject({ content: '{"mean":null}', isError: false });
});

test('a log line that is JSON does not answer a call', async () => {
  const log = '{"id":ID,"error":{"message":"slow query"},"result":{"content":[]}}';
  const source = await startStdio(
    `${log}\n${answer(7, `"result":${textResult('seen')}`).replace('"id":7', '"id":ID')}`,
  );
  expect(await source.call('look', {})).toEqual({ content: 'seen', isError: false });
});

test.each([
  ['a result', `{"id":ID,"result":${textResult('seen')}}`, 'seen'],
  ['a result with a text as its id', `{"id":"ID","result":${textResult('seen')}}`, 'seen'],
  ['a result that is null', '{"id":ID,"result":null}', ''],
  ['an error', '{"id":ID,"error":{"code":7,"message":"no"}}', 'Error: MCP error 7: no'],
  [
    'a log line with the id of another request',
    `{"id":9999,"result":1}\n{"id":ID,"result":${textResult('seen')}}`,
    'seen',
  ],
])('%s without jsonrpc is read over stdio', async (_, line, content) => {
  const source = await startStdio(line);
  expect(await source.call('look', {}, { timeoutMs: 5000 })).toMatchObject({ content });
});

test('an answer to another request over stdio is named when the time limit is over', async () => {
  const source = await startStdio(`${answer(99, `"result":${textResult('seen')}`)}NEXT${seen}`);
  await expect(source.call('look', {}, { timeoutMs: 1000 })).rejects.toMatchObject({
    failure: {
      who: 'infrastructure',
      code: 'mcp/other-answer',
      message: expect.stringContaining('look has no result: it answers with the id 99, and the request has the id 2.'),
    },
  });
  expect(await source.call('look', {}, { timeoutMs: 5000 })).toEqual({ content: 'seen', isError: false });
});

test('a late answer over stdio is not one to another request', async () => {
  const late = answer(2, `"result":${textResult('late')}`);
  const source = await startStdio(`waitsNEXT${late}`);
  for (const _ of [1, 2])
    await expect(source.call('look', {}, { timeoutMs: 500 })).rejects.toMatchObject({
      failure: { code: 'mcp/timeout' },
    });
});

test('a notification without jsonrpc counts', async () => {
  const logged: string[] = [];
  const source = await startStdio(
    `{"method":"notifications/tools/list_changed"}\n{"id":ID,"result":${textResult('seen')}}`,
    {},
    (text) => logged.push(text),
  );
  await source.call('look', {}, { timeoutMs: 5000 });
  expect(logged).toEqual([expect.stringContaining('the list of its tools has changed')]);
});

test('a server that has ended between two calls is started again if nothing can be lost', async () => {
  const source = await startStdio(`${answer(7, `"result":${textResult('PID')}`).replace('"id":7', '"id":ID')}END`);
  const first = await source.call('look', {});
  await expect.poll(() => isAlive(Number(first.content))).toBe(false);
  const second = await source.call('look', {});
  expect(second).toEqual({ content: expect.stringMatching(/^\d+$/), isError: false });
  expect(second.content).not.toBe(first.content);
});

test('large calls over stdio leave no listener behind', async () => {
  const warnings: string[] = [];
  const keep = ({ message }: Error) => void warnings.push(message);
  process.on('warning', keep);
  onTestFinished(() => void process.off('warning', keep));
  const source = await startStdio(seen);
  for (let count = 0; count < 20; count += 1) await source.call('look', { text: 'x'.repeat(300_000) });
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test('a result of more than 64 MB over stdio is an error for the agent, and the server remains', async () => {
  const source = await startStdio('{"result":{"content":[{"type":"text","text":"LONG"}]},"jsonrpc":"2.0","id":ID}');
  const content = 'Error: the result is longer than 64 MB, which is the maxMessageSize of the server';
  const error = { content, isError: true };
  expect(await source.call('look', {})).toEqual(error);
  expect(await source.call('look', {})).toEqual(error);
});

test('the longest line of a server over stdio is declared', async () => {
  const source = await startStdio('{"result":{"content":[{"type":"text","text":"LONG"}]},"jsonrpc":"2.0","id":ID}', {
    maxMessageSize: 1_200_000,
  });
  const content = 'Error: the result is longer than 1.2 MB, which is the maxMessageSize of the server';
  expect(await source.call('look', {})).toEqual({ content, isError: true });
});

const deep = (id: number | string, key = 'result') => {
  const lists = `${'['.repeat(20_000)}9007199254740993${']'.repeat(20_000)}`;
  const value = key === 'result' ? lists : `{"code":1,"message":"m","data":${lists}}`;
  return `{"jsonrpc":"2.0","id":${id},"${key}":${value}}`;
};
test.each<[string, () => Promise<ToolSource>]>([
  ['a result over HTTP', () => deepOver(({ id }) => ({ body: deep(id) }))],
  ['an event over HTTP', () => deepOver(({ id }) => streamed(deep(id)))],
  ['an error over HTTP', () => deepOver(({ id }) => ({ body: deep(id, 'error') }))],
  ['a result over stdio', () => startStdio(deep('ID'))],
])('an answer with thousands of levels is an error for the agent: %s', async (_, start) => {
  const source = await start();
  const content = 'Error: MCP error -32603: the answer is more than 1000 levels deep';
  expect(await source.call('look', {}, { timeoutMs: 5000 })).toEqual({ content, isError: true });
});

async function deepOver(reply: NonNullable<Raw['reply']>): Promise<ToolSource> {
  const { url } = await rawMcpServer({
    reply: (request, server) => (request.method === 'tools/call' ? reply(request, server) : undefined),
  });
  return connectTo(url);
}

test('a result that is null is an empty result', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => (method === 'tools/call' ? { body: answer(id, '"result":null') } : undefined),
  });
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: '', isError: false });
});

test('null in place of each absent field of a result means that it is absent', async () => {
  const server = await rawMcpServer({
    reply: ({ id, method }) => {
      if (method !== 'tools/call') return undefined;
      const result = `{"content":[{"type":"text","text":"done"}],"structuredContent":null,"isError":null,"_meta":null}`;
      return { body: `{"jsonrpc":"2.0","id":${id},"result":${result},"error":null}` };
    },
  });
  expect(await (await connectTo(server.url)).call('look', {})).toEqual({ content: 'done', isError: false });
});

test('a call of the engine has the time limit of its tool', async () => {
  const { url } = await rawMcpServer({
    reply: ({ method }) => (method === 'tools/call' ? () => undefined : undefined),
  });
  const source = await connectTo(url, {
    reader: { tool: 'look', arguments: {} },
    tools: { look: { timeoutMs: 100 } },
  });
  await expect(source.read()).rejects.toMatchObject({ failure: { code: 'mcp/timeout' } });
});
