import { expect, test } from 'vitest';
import { meaningOfStatus } from '../../../../src/engine/shell/mcp/httpStatus.ts';
import { connectTo, type Raw, rawMcpServer } from '../../../support/rawMcpServer.ts';

/** Each status with its meaning and the code of the failure that ends the rollout, or null if the agent reads it. */
const rows: readonly (readonly [status: number, meaning: string, code: string | null])[] = [
  [302, 'redirect', 'mcp/error'],
  [400, 'answer', null],
  [401, 'login', 'mcp/refused'],
  [402, 'rights', null],
  [403, 'rights', null],
  [404, 'address', null],
  [405, 'address', null],
  [406, 'answer', null],
  [408, 'busy', null],
  [409, 'answer', null],
  [410, 'address', null],
  [413, 'answer', null],
  [415, 'answer', null],
  [422, 'answer', null],
  [429, 'busy', null],
  [431, 'answer', null],
  [451, 'answer', null],
  [500, 'answer', null],
  [501, 'answer', null],
  [502, 'gateway', 'mcp/unavailable'],
  [503, 'gateway', 'mcp/unavailable'],
  [504, 'gateway', 'mcp/unavailable'],
  [511, 'network', 'mcp/refused'],
  [521, 'gateway', 'mcp/unavailable'],
];

const bodies = [
  'no luck',
  '<!doctype html><html><title>Sorry</title></html>',
  '{"error":"no luck"}',
  '',
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no luck"}}',
];

/** Returns what an agent reads, or the code of the failure, where a server answers a call with a status. */
async function outcome(status: number, body: string, raw: Raw = {}): Promise<unknown> {
  const { url } = await rawMcpServer({
    ...raw,
    reply: (request, server) => (request.method === 'tools/call' ? { status, body } : raw.reply?.(request, server)),
  });
  const source = await connectTo(url);
  try {
    return await source.call('look', {});
  } catch (error) {
    return (error as { readonly failure: { readonly code: string } }).failure.code;
  }
}

test('407 is about rights, too', () => {
  // Node takes it for the end of the connection.
  expect(meaningOfStatus(407)).toBe('network');
});

test.each(rows)('a call that answers %i has one outcome, whatever its body is: %s', async (status, meaning, code) => {
  expect(meaningOfStatus(status)).toBe(meaning);
  for (const body of bodies)
    expect(await outcome(status, body), body).toEqual(
      code ?? {
        content: expect.stringMatching(/^Error: MCP error -?\d+: ./),
        isError: true,
        ...(meaning === 'busy' ? { isTemporary: true } : {}),
      },
    );
});

test.each<[number, string, RegExp]>([
  [413, '<html><title>Request Entity Too Large</title></html>', /MCP error 413: an HTML page \("Request Entity/],
  [500, '', /MCP error 500: Internal Server Error/],
  [403, 'You may not cancel order 5.', /MCP error 403: You may not cancel order 5\./],
  [
    403,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"You may not cancel order 5."}}',
    /MCP error -32003: You may not cancel order 5\./,
  ],
  [500, 'x'.repeat(5000), /MCP error 500: x{2000}$/],
])('the agent reads what %i means', async (status, body, text) => {
  expect(await outcome(status, body)).toEqual({ content: expect.stringMatching(text), isError: true });
});

test.each([
  ['of the same session', false],
  ['of a session that the server has forgotten', true],
])('a call that answers 401 after a result %s is for the agent', async (_, isForgotten) => {
  const { url, sessions } = await rawMcpServer({
    reply: ({ method, params }) =>
      method === 'tools/call' && params.name === 'write' ? { status: 401, body: 'Sign in as a manager.' } : undefined,
  });
  const source = await connectTo(url);
  await source.call('look', {});
  if (isForgotten) sessions.clear();
  expect(await source.call('write', {})).toEqual({
    content: 'Error: MCP error 401: Sign in as a manager.',
    isError: true,
  });
});

test('a call that answers 401 after an error of the server is for the agent', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method, params }) => {
      if (method !== 'tools/call') return undefined;
      if (params.name === 'write') return { status: 401, body: 'Sign in as a manager.' };
      return { body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"no such item"}}` };
    },
  });
  const source = await connectTo(url);
  expect(await source.call('look', {})).toMatchObject({ isError: true });
  expect(await source.call('write', {})).toMatchObject({ content: expect.stringContaining('Sign in'), isError: true });
});

test('a busy server has no state for assertions, which is not a fault of the domain', async () => {
  const { url } = await rawMcpServer({
    reply: ({ method }) => (method === 'tools/call' ? { status: 429, body: 'slow down' } : undefined),
  });
  const source = await connectTo(url, { reader: { tool: 'look', arguments: {} } });
  await expect(source.read()).rejects.toMatchObject({
    failure: { who: 'infrastructure', code: 'mcp/unavailable', message: expect.stringContaining('slow down') },
  });
});

/** A server without sessions. */
const stateless: Raw = {
  reply: ({ id, method }) =>
    method === 'initialize'
      ? (response) =>
          void response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(`{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}`)
      : undefined,
};

test.each([200, 404])(
  'a call that answers 404 without a session is for the agent, whatever a ping answers (%i)',
  async (status) => {
    const raw: Raw = {
      reply: (request, server) =>
        request.method === 'ping' ? { status, body: 'not found' } : stateless.reply?.(request, server),
    };
    expect(await outcome(404, 'no parcel P9', raw)).toEqual({
      content: 'Error: MCP error 404: no parcel P9',
      isError: true,
    });
  },
);
