import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { connectTo, rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';

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
/** Ends a stream that can be resumed after the event 1. */
const interrupted = (response: ServerResponse, data = '') =>
  void response.writeHead(200, sse).end(`retry: 10\nid: 1\ndata: ${data}\n\n`);
const refused = (id: number) => `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}`;

test.each<[string, (response: ServerResponse, id: number) => void, (response: ServerResponse) => void]>([
  [
    'of the stream of the server itself',
    (response, id) => void response.writeHead(200, sse).end(`data: ${answer(id)}\n\n`),
    (response) => interrupted(response, '{"jsonrpc":"2.0","method":"notifications/message"}'),
  ],
  [
    'of a stream that has an error as its answer',
    (response, id) => interrupted(response, refused(id)),
    (response) => void response.writeHead(405).end(),
  ],
  [
    'of the stream of another call',
    (response) => interrupted(response),
    (response) => void response.writeHead(405).end(),
  ],
])('a refused resumption %s does not end a call', async (_, look, stream) => {
  const { url } = await rawMcpServer({
    get: (response) => {
      if (response.req.headers['last-event-id'] === undefined) stream(response);
      else response.writeHead(404).end();
    },
    reply: ({ id, method, params }) => {
      if (method !== 'tools/call') return undefined;
      if (params.name === 'look') return (response) => look(response, id);
      const body = resultBody(id, textResult('written'));
      return (response) =>
        void setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), 150);
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

test.each<[string, string, (body: string) => string]>([
  ['JSON', 'application/json', (body) => body],
  ['an event stream', 'text/event-stream', (body) => `data: ${body}\n\n`],
])('an answer to another request in %s ends the call', async (_, type, bodyOf) => {
  const { url } = await rawMcpServer({
    reply: ({ method }) =>
      method === 'tools/call'
        ? (response) => void response.writeHead(200, { 'content-type': type }).end(bodyOf(answer(99)))
        : undefined,
  });
  const source = await connectTo(url, { timeoutMs: 5000 });
  await expect(source.call('look', {})).rejects.toMatchObject({
    failure: {
      code: 'mcp/protocol',
      message: expect.stringMatching(
        /look has no result: it answers with the id 99, and the request has the id \d+\. Run/,
      ),
    },
  });
});

test('an answer to another request in the handshake is named', async () => {
  const { url } = await rawMcpServer({
    reply: ({ method }) => (method === 'initialize' ? { body: resultBody(99, '{}') } : undefined),
  });
  await expect(connectTo(url, { timeoutMs: 5000 })).rejects.toThrow(
    'it answers with the id 99, and the request has the id 0',
  );
});
