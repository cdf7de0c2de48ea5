import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startMcpServer } from '../../../../src/engine/shell/tools/mcp.ts';
import {
  connectTo,
  declaredHttp,
  type RawReply,
  rawMcpServer,
  resultBody,
  textResult,
} from '../../../support/rawMcpServer.ts';

const endpointStream = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('event: endpoint\ndata: /messages?sessionId=1\n\n');
};

test.each<[string, RawReply]>([
  ['400', { status: 400, body: 'no' }],
  ['404', { status: 404, body: 'no' }],
  ['405', { status: 405, body: 'no' }],
  ['a text', (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')],
  ['the stream', endpointStream],
])('a server with the older transport that answers with %s is refused with a bridge', async (_, reply) => {
  const { url } = await rawMcpServer({ reply: () => reply, get: endpointStream });
  await expect(connectTo(url, { timeoutMs: 500 })).rejects.toMatchObject({
    failure: {
      code: 'mcp/legacy-sse',
      message: expect.stringContaining(`args: [-y, mcp-remote, ${url}, --transport, sse-only]`),
    },
  });
});

test('another address that does not exist is not mistaken for one with the older transport', async () => {
  const { url } = await rawMcpServer({ reply: () => ({ status: 404, body: 'not found' }) });
  await expect(connectTo(url)).rejects.toMatchObject({ failure: { code: 'mcp/error' } });
});

test('a task in place of a result is an error that the agent reads', async () => {
  const task = '{"task":{"taskId":"t1","status":"working"}}';
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => (method === 'tools/call' ? { body: resultBody(id, task) } : undefined),
  });
  const { content, isError } = await (await connectTo(url)).call('look', {});
  expect([isError, content]).toEqual([
    true,
    expect.stringContaining('look started a task instead of returning a result'),
  ]);
});

test('data with a field named task is a result', async () => {
  const data = '{"task":{"id":1,"title":"Buy milk"}}';
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => (method === 'tools/call' ? { body: resultBody(id, data) } : undefined),
  });
  expect(await (await connectTo(url)).call('look', {})).toMatchObject({ content: data });
});

test('a list that changes after a login is a message in the log', async () => {
  const notification = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  const streamed = (id: number) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${notification}\n\ndata: ${resultBody(id, textResult('welcome'))}\n\n`);
  };
  const { url } = await rawMcpServer({
    reply: ({ id, method }): RawReply => (method === 'tools/call' ? streamed(id) : undefined),
  });
  const logged: string[] = [];
  const log = (text: string) => void logged.push(text);
  const source = await startMcpServer('raw', declaredHttp(url), process.cwd(), { log });
  onTestFinished(() => source.close());
  await source.call('login', {});
  expect(logged).toEqual([
    expect.stringMatching(/after login, the list of its tools has changed.*log in with env, args or/),
  ]);
  expect((await source.call('pay', {})).content).toBe('Error: there is no tool named "pay"');
});

test('a change of the list that comes before the list is in it', async () => {
  const list = JSON.stringify({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] });
  const { url } = await rawMcpServer({
    reply: ({ id, method }): RawReply => {
      if (method === 'tools/call') return { body: resultBody(id, textResult('seen')) };
      if (method !== 'tools/list') return undefined;
      return (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\ndata: ${resultBody(id, list)}\n\n`,
        );
      };
    },
  });
  const logged: string[] = [];
  const source = await startMcpServer('raw', declaredHttp(url), process.cwd(), {
    log: (text) => void logged.push(text),
  });
  onTestFinished(() => source.close());
  expect(await source.call('look', {})).toEqual({ content: 'seen', isError: false });
  expect(logged).toEqual([]);
});

test.each([
  ['elicitation/create', /a rollout has no person who could answer/],
  ['sampling/createMessage', /the models of a rollout are those of its seats/],
  ['roots/list', /a server gets its folders as arguments/],
  ['tasks/list', /Rehearsal answers only ping/],
])('a request for %s is refused with what to do', async (method, message) => {
  const asked = `{"jsonrpc":"2.0","id":"q","method":"${method}","params":{}}`;
  const answers: string[] = [];
  const { url } = await rawMcpServer({
    onAnswer: (answer) => answers.push(answer),
    reply: ({ id, method: called }): RawReply =>
      called === 'tools/call'
        ? (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.end(`data: ${asked}\n\ndata: ${resultBody(id, textResult('done'))}\n\n`);
          }
        : undefined,
  });
  await (await connectTo(url)).call('look', {});
  await expect.poll(() => answers).toEqual([expect.stringMatching(message)]);
});
