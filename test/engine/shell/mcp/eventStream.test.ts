import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { connectTo, type RawReply, rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';

const answer = (id: number) => resultBody(id, textResult('seen'));
const split = (id: number) => answer(id).split(/(?<=,)/);

/** Event streams of servers, all with the same answer to a call. */
test.each<[string, (id: number) => string]>([
  ['line feeds', (id) => `event: message\ndata: ${answer(id)}\n\n`],
  ['carriage returns', (id) => `event: message\rdata: ${answer(id)}\r\r`],
  ['both', (id) => `event: message\r\ndata: ${answer(id)}\r\n\r\n`],
  ['no space after the colon', (id) => `data:${answer(id)}\n\n`],
  ['several lines of data', (id) => `${split(id).join('\ndata: ').replace(/^/, 'data: ')}\n\n`],
  ['a comment and an unknown field', (id) => `: keep-alive\n\nfoo: bar\ndata: ${answer(id)}\n\n`],
  ['a list of messages', (id) => `data: [{"jsonrpc":"2.0","method":"notifications/x"},${answer(id)}]\n\n`],
  ['another type than message', (id) => `event: result\ndata: ${answer(id)}\n\n`],
  ['an event that is not a message', (id) => `event: ping\ndata: 1\n\ndata: ${answer(id)}\n\n`],
  ['no empty line at the end', (id) => `data: ${answer(id)}`],
])('the answer in a stream is read: %s', async (_, stream) => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call'
        ? (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream(id))
        : undefined,
  });
  const source = await connectTo(url, { timeoutMs: 5000 });
  expect(await source.call('look', {})).toEqual({ content: 'seen', isError: false });
});

test('an event that breaks off does not count as read when the stream is resumed', async () => {
  const resumedAfter: unknown[] = [];
  let asked = 0;
  const { url } = await rawMcpServer({
    get: (response) => {
      const after = response.req.headers['last-event-id'];
      if (after === undefined) {
        response.writeHead(405).end();
        return;
      }
      resumedAfter.push(after);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${answer(asked)}\n\n`);
    },
    reply: ({ id, method }) => {
      if (method !== 'tools/call') return undefined;
      asked = id;
      const broken = `retry: 10\nid: 1\ndata:\n\nid: 2\ndata: ${answer(id).slice(0, -9)}`;
      return (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(broken);
    },
  });
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'seen', isError: false });
  expect(resumedAfter).toEqual(['1']);
});

const sse = { 'content-type': 'text/event-stream' };
/** Ends a stream that can be resumed after an event. */
const interrupted = (response: ServerResponse, data = '', eventId = '1') =>
  void response.writeHead(200, sse).end(`retry: 10\nid: ${eventId}\ndata: ${data}\n\n`);
const refused = (id: number) => `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}`;

test.each<
  [string, (response: ServerResponse, id: number) => void, (response: ServerResponse) => void, isAsked: boolean]
>([
  [
    'of the stream of the server itself',
    (response, id) => void response.writeHead(200, sse).end(`data: ${answer(id)}\n\n`),
    (response) => interrupted(response, '{"jsonrpc":"2.0","method":"notifications/message"}'),
    true,
  ],
  [
    'of a stream that has an error as its answer',
    (response, id) => interrupted(response, refused(id)),
    (response) => void response.writeHead(405).end(),
    false,
  ],
  [
    'of the stream of another call',
    (response) => interrupted(response),
    (response) => void response.writeHead(405).end(),
    true,
  ],
])('a refused resumption %s does not end a call', async (_, look, stream, isAsked) => {
  const [lookedAt, refusal] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  if (!isAsked) refusal.resolve();
  let written = 0;
  const { url } = await rawMcpServer({
    get: (response) => {
      const after = response.req.headers['last-event-id'];
      if (after === undefined) stream(response);
      else if (after === 'write')
        response.writeHead(200, sse).end(`data: ${resultBody(written, textResult('written'))}\n\n`);
      else {
        response.writeHead(404).end();
        refusal.resolve();
      }
    },
    reply: ({ id, method, params }) => {
      if (method !== 'tools/call') return undefined;
      if (params.name === 'look')
        return (response) => {
          look(response, id);
          lookedAt.resolve();
        };
      written = id;
      // The client resumes this stream after what it does about the ones before.
      return (response) =>
        void Promise.all([lookedAt.promise, refusal.promise]).then(() => interrupted(response, '', 'write'));
    },
  });
  const source = await connectTo(url);
  const looked = source.call('look', {}).catch(() => undefined);
  expect(await source.call('write', {})).toEqual({ content: 'written', isError: false });
  await looked;
});

test('a stream is resumed again after the same event if no event has arrived since', async () => {
  const resumedAfter: unknown[] = [];
  let asked = 0;
  const { url } = await rawMcpServer({
    get: (response) => {
      const after = response.req.headers['last-event-id'];
      if (after === undefined) response.writeHead(405).end();
      else response.writeHead(200, sse).end(resumedAfter.push(after) < 3 ? '' : `data: ${answer(asked)}\n\n`);
    },
    reply: ({ id, method }) => {
      asked = id;
      return method === 'tools/call' ? (response) => interrupted(response) : undefined;
    },
  });
  expect(await (await connectTo(url, { timeoutMs: 5000 })).call('look', {})).toEqual({
    content: 'seen',
    isError: false,
  });
  expect(resumedAfter).toEqual(['1', '1', '1']);
});

const open = (response: ServerResponse, body: string) => void response.writeHead(200, sse).write(`data: ${body}\n\n`);

test.each<[string, (id: number) => RawReply, number?]>([
  ['JSON', () => ({ body: answer(99) })],
  ['an event stream', () => (response) => void response.writeHead(200, sse).end(`data: ${answer(99)}\n\n`)],
  ['an event stream that stays open', () => (response) => open(response, answer(99)), 1000],
  ['an event stream that stays open, to the one before', (id) => (response) => open(response, answer(id - 1)), 1000],
  ['status 400', () => ({ status: 400, body: refused(99) })],
  ['status 500', () => ({ status: 500, body: refused(99) })],
])('an answer to another request in %s ends the call', async (_, reply, timeoutMs = 5000) => {
  const { url } = await rawMcpServer({ reply: ({ id, method }) => (method === 'tools/call' ? reply(id) : undefined) });
  const source = await connectTo(url, { timeoutMs: 5000 });
  await expect(source.call('look', {}, { timeoutMs })).rejects.toMatchObject({
    failure: {
      who: 'infrastructure',
      code: 'mcp/other-answer',
      message: expect.stringMatching(
        /look has no result: it answers with the id (?:99|1), and the request has the id 2\. Run/,
      ),
    },
  });
});

test.each<[string, string, RawReply, number?]>([
  ['the handshake', 'initialize', { body: resultBody(99, '{}') }],
  ['the handshake, with status 400', 'initialize', { status: 400, body: refused(99) }],
  ['the list of tools', 'tools/list', (response) => open(response, resultBody(99, '{}')), 1000],
])('an answer to another request in %s is named', async (_, name, reply, timeoutMs = 5000) => {
  const { url } = await rawMcpServer({ reply: ({ method }) => (method === name ? reply : undefined) });
  await expect(connectTo(url, { timeoutMs })).rejects.toMatchObject({
    failure: {
      code: 'mcp/other-answer',
      message: expect.stringMatching(/\): it answers with the id 99, and the request has the id [01]\. Run/),
    },
  });
});

test.each(['null', '"server-error"'])('a refusal with the id %s is the result of the call', async (id) => {
  const { url } = await rawMcpServer({
    reply: ({ method }) =>
      method === 'tools/call' ? { status: 400, body: refused(0).replace('"id":0', `"id":${id}`) } : undefined,
  });
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'Error: MCP error 1: no', isError: true });
});
