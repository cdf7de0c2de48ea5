import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { exactRequest } from '../../../../src/engine/shell/mcp/exactRequest.ts';
import { answerMcp, type ShownTools, serveMcp } from '../../../../src/engine/shell/tools/mcpServer.ts';
import { sampled } from '../../../support/suite.ts';

test('a call arrives with all digits of its numbers', async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const given: unknown[] = [];
  const call = async (_name: string, args: unknown) => {
    given.push(args);
    return { content: 'done', isError: false };
  };
  const served = serveMcp({ tools: [], instructions: '', call }, { input, output });
  input.write(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"id":9007199254740993,"text":"9007199254740993","n":1}}}\n',
  );
  await expect.poll(() => String(output.read() ?? '')).toContain('"id":1');
  expect(given.map((args) => JSON.stringify(args))).toEqual([
    '{"id":9007199254740993,"text":"9007199254740993","n":1}',
  ]);
  input.end();
  await served;
});

test('the official clients take a list of tools whatever the schemas are', async () => {
  const lists = [{ a: true, b: false, c: null, d: { type: 'string' } }, [], undefined];
  const tools = lists.map((properties, at) => ({
    name: `t${at}`,
    description: '',
    parameters: { type: 'object', properties, required: at === 0 ? ['a'] : true } as JsonObject,
  }));
  const [answer] = await answersTo(['{"jsonrpc":"2.0","id":1,"method":"tools/list"}'], undefined, tools);
  const { tools: listed } = ListToolsResultSchema.parse(answer?.result);
  expect(listed.map(({ inputSchema }) => inputSchema)).toEqual([
    { type: 'object', properties: { a: {}, b: { not: {} }, c: {}, d: { type: 'string' } }, required: ['a'] },
    { type: 'object' },
    { type: 'object' },
  ]);
});

/** Returns the answers to an input that ends at once. */
async function answersTo(
  lines: readonly string[],
  call: ShownTools['call'] = () => Promise.reject(new Error('nothing is called')),
  tools: ShownTools['tools'] = [],
): Promise<readonly { readonly id: number; readonly result?: unknown }[]> {
  const output = new PassThrough();
  const input = Readable.from([lines.join('\n')], { objectMode: false });
  await serveMcp({ tools, instructions: '', call }, { input, output });
  output.end();
  return (await text(output))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
const callOf = (id: number, word: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a', arguments: { word } } });

test('every request gets its answer, even if the input ends before', async () => {
  const words: unknown[] = [];
  const call = async (_name: string, { word }: JsonObject) => {
    words.push(word);
    await setImmediate();
    return { content: 'done', isError: false };
  };
  const answers = await answersTo([callOf(1, 'first'), callOf(2, 'a line\u2028and\u2029more')], call);
  expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  expect(words).toEqual(['first', 'a line\u2028and\u2029more']);
});

const noArguments =
  '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"a","arguments":null}}';

test.each([
  ['a call whose arguments are null and whose id is large', noArguments, /"id":9007199254740993[,}]/],
  ['a list of requests', `[${callOf(1, 'x')},${callOf(2, 'y')}]`, /"id":1[,}](?:.|\n)*"id":2[,}]/],
])('%s is answered', async (_, line, answers) => {
  const output = new PassThrough();
  const input = Readable.from([line], { objectMode: false });
  const call = async () => ({ content: 'done', isError: false });
  await serveMcp({ tools: [], instructions: '', call }, { input, output });
  output.end();
  const written = await text(output);
  expect(written).toMatch(answers);
  expect(written).not.toContain('error');
});

test('a client cannot replace its own arguments', async () => {
  const given: unknown[] = [];
  const call = async (_name: string, args: unknown) => {
    given.push(args);
    return { content: 'done', isError: false };
  };
  const _meta = { 'rehearsal/exact-arguments': '{"n":1}' };
  const params = { name: 'a', arguments: { n: 2 }, _meta };
  await answersTo([JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })], call);
  expect(given).toEqual([{ n: 2 }]);
});

test.each(
  sampled(
    [
      ['at its end', '{"method":"tools/call","params":{"a":"', '"},"jsonrpc":"2.0","id":7}', 7],
      ['at its start', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"a":"', '"}}', 'x'],
      ['nowhere', '{"params":{"a":"', '","id":1}}', null],
    ] as const,
    3,
  ),
)('a request that is too long, with its id %s, gets an error', async (_, start, end, id) => {
  const output = new PassThrough();
  const megabyte = 'x'.repeat(1_000_000);
  const input = Readable.from([start, ...Array.from({ length: 65 }, () => megabyte), end, '\n', ping], {
    objectMode: false,
  });
  await serveMcp({ tools: [], instructions: '', call: () => Promise.reject(new Error('no')) }, { input, output });
  output.end();
  const [first, second] = (await text(output)).trimEnd().split('\n');
  const message = expect.stringContaining('longer than 64 million characters');
  expect(JSON.parse(first ?? '')).toEqual({ jsonrpc: '2.0', id, error: { code: -32600, message } });
  expect(JSON.parse(second ?? '')).toMatchObject({ id: 2, result: {} });
});

test.each<[string, string, number | null]>([
  ['a call', `{"jsonrpc":"2.0","id":7,"params":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`, 7],
  ['a list', `${'['.repeat(5000)}${']'.repeat(5000)}`, null],
])('%s that is too deep gets an error', async (_, request, id) => {
  const output = new PassThrough();
  const input = Readable.from([`${request}\n`, ping], { objectMode: false });
  await serveMcp({ tools: [], instructions: '', call: () => Promise.reject(new Error('no')) }, { input, output });
  output.end();
  const [first, second] = (await text(output)).trimEnd().split('\n');
  const message = 'the request is nested deeper than 1000 levels';
  expect(JSON.parse(first ?? '')).toEqual({ jsonrpc: '2.0', id, error: { code: -32600, message } });
  expect(JSON.parse(second ?? '')).toMatchObject({ id: 2, result: {} });
});

test('a call that is cancelled is not waited for', async () => {
  const cancelled = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1, reason: 'no longer needed' },
  });
  const call = (_name: string, _args: JsonObject, signal?: AbortSignal) =>
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  expect((await answersTo([callOf(1, 'x'), cancelled, ping], call)).map(({ id }) => id)).toEqual([2]);
});

test.each([
  ['a call', `${numbered('9007199254740993')}`, /"id":9007199254740993[,}]/],
  ['a text of digits', `${numbered('"9007199254740993"')}`, /"id":"9007199254740993"/],
  ['a list of calls', `[${numbered('9007199254740993')},${numbered('2')}]`, /"id":9007199254740993[,}]/],
])('over HTTP, the answer to %s has the id of its request, and its arguments all digits', async (_, body, answers) => {
  const given: string[] = [];
  const call = async (_name: string, args: unknown) => {
    given.push(JSON.stringify(args));
    return { content: 'done', isError: false };
  };
  const http = createServer(async (request, response) =>
    answerMcp(request, response, exactRequest(await text(request)), { tools: [], instructions: '', call }),
  );
  await once(http.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void http.close());
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const answer = await fetch(url, { method: 'POST', headers, body });
  expect(await answer.text()).toMatch(answers);
  expect(new Set(given)).toEqual(new Set(['{"n":9007199254740995}']));
});

function numbered(id: string): string {
  const params = '{"name":"a","arguments":{"n":9007199254740995}}';
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
}

test('a call whose id is a large number can be cancelled', async () => {
  const cancelled = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}';
  const call = (_name: string, _args: JsonObject, signal?: AbortSignal) =>
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const answers = await answersTo([numbered('9007199254740993'), cancelled, ping], call);
  expect(answers.map(({ id }) => id)).toEqual([2]);
});
