import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { offered } from '../../../../src/engine/shell/models/chatCalls.ts';
import { serveMcp } from '../../../../src/engine/shell/tools/mcpServer.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { connectTo, rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';
import { rehearsal } from '../../../support/terminal.ts';

const large = '9007199254740993';

const outputSchema = {
  type: 'object',
  properties: { result: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } } },
  'x-fastmcp-wrap-result': true,
};

/** A server with one account, whose id is too large for a JavaScript number. It answers with the arguments it got. */
const accounts = () =>
  rawMcpServer({
    reply: ({ id, method, params, text }) => {
      if (method === 'tools/list') {
        const tools = ['look', 'rows', 'write', 'login'].map((name) => ({
          name,
          inputSchema: { type: 'object', properties: { id: { type: 'integer' } } },
          ...(name === 'rows' ? { outputSchema } : {}),
        }));
        return { body: resultBody(id, JSON.stringify({ tools })) };
      }
      if (method !== 'tools/call') return undefined;
      if (params.name === 'look') return { body: resultBody(id, `{"content":[],"structuredContent":{"id":${large}}}`) };
      if (params.name === 'rows') {
        const content = JSON.stringify([{ type: 'text', text: `{"id":${large}}` }]);
        return { body: resultBody(id, `{"content":${content},"structuredContent":{"result":[{"id":${large}}]}}`) };
      }
      return { body: resultBody(id, textResult(/"arguments":(\{.*?\})[,}]/.exec(text)?.[1] ?? text)) };
    },
  });

test('data without a text is shown with all digits, and large numbers are read as texts', async () => {
  const { url } = await accounts();
  const source = await connectTo(url, { reader: { tool: 'look', arguments: {} } });
  expect((await source.call('look', {})).content).toBe(`{"id":${large}}`);
  expect(await source.read()).toEqual({ id: large });
});

test('data beside a text are read with all digits, and match their schema', async () => {
  const { url } = await accounts();
  const source = await connectTo(url, { reader: { tool: 'rows', arguments: {} } });
  expect(await source.call('rows', {})).toMatchObject({ content: `{"id":${large}}`, isError: false });
  expect(await source.read()).toEqual([{ id: large }]);
});

test('an argument reaches the server with all its digits', async () => {
  const { url } = await accounts();
  const source = await connectTo(url);
  expect(await source.call('write', { id: large })).toEqual({ content: `{"id":${large}}`, isError: false });
  expect(await source.call('write', { id: '12' })).toMatchObject({ isError: true });
});

test.each([
  [`{"structuredContent":[${large}]}`, `[${large}]`],
  [`{"content":[null],"structuredContent":{"id":${large}}}`, `{"id":${large}}`],
  [`{"content":"text","structuredContent":{"id":${large}}}`, 'text'],
  [`{"toolResult":${large}}`, large],
  [`{"content":[{"type":"chart","id":${large}}]}`, `{"type":"chart","id":${large}}`],
  [large, large],
])('the result %s is shown with all its digits', async (result, content) => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => (method === 'tools/call' ? { body: resultBody(id, result) } : undefined),
  });
  expect(await (await connectTo(url)).call('look', {})).toMatchObject({ content, isError: false });
});

test('the data of an error are shown with all their digits', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call'
        ? { body: `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no","data":{"id":${large}}}}` }
        : undefined,
  });
  expect((await (await connectTo(url)).call('look', {})).content).toBe(`Error: MCP error 1: no\n{"id":${large}}`);
});

test('a large float in a snapshot is a number', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call' ? { body: resultBody(id, '{"structuredContent":{"a":1.2e16}}') } : undefined,
  });
  const snapshot = { tool: 'look', arguments: {} };
  const source = await connectTo(url, { state: 'snapshot', snapshot, restore: { tool: 'write', argument: 'saved' } });
  expect(await source.snapshot?.()).toEqual({ a: 1.2e16 });
});

test('a snapshot of wrapped data keeps its shape', async () => {
  const server = await accounts();
  const source = await connectTo(server.url, {
    state: 'snapshot',
    snapshot: { tool: 'rows', arguments: {} },
    restore: { tool: 'write', argument: 'saved' },
  });
  expect(await source.snapshot?.()).toBe(`[{"id":${large}}]`);
});

test('a snapshot goes back with all its digits', async () => {
  const server = await accounts();
  const source = await connectTo(server.url, {
    state: 'snapshot',
    snapshot: { tool: 'look', arguments: {} },
    restore: { tool: 'write', argument: 'saved' },
  });
  const saved = await source.snapshot?.();
  expect(saved).toBe(`{"id":${large}}`);
  await source.restore?.(saved ?? null);
  expect(server.lastCall).toContain(`"arguments":{"saved":{"id":${large}}}`);
});

test.each([
  ['{"a":1.2e16,"b":9007199254740993.0}', { a: 1.2e16, b: 2 ** 53 }],
  [`{"a":1.2e16,"id":${large}}`, { a: 1.2e16, id: large }],
])('a float in a state is a number, whatever its size: %s', async (data, state) => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call' ? { body: resultBody(id, `{"structuredContent":${data}}`) } : undefined,
  });
  expect(await (await connectTo(url, { reader: { tool: 'look', arguments: {} } })).read()).toEqual(state);
});

test('a request of the server is answered with its id, also where that is a large number', async () => {
  const answers: string[] = [];
  const ids = [large, `"${large}"`, '7'];
  const pings = ids.map((id) => `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`).join('');
  const { url } = await rawMcpServer({
    onAnswer: (answer) => answers.push(answer),
    reply: ({ id, method }) =>
      method === 'tools/call'
        ? (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.end(`${pings}data: ${resultBody(id, textResult('seen'))}\n\n`);
          }
        : undefined,
  });
  await (await connectTo(url)).call('look', {});
  await expect
    .poll(() => answers.map((answer) => /"id":([^,}]+)/.exec(answer)?.[1]).toSorted())
    .toEqual(ids.toSorted());
});

const properties = {
  maximum: '{"type":"integer","maximum":9223372036854775807}',
  above: '{"type":"integer","exclusiveMinimum":9007199254740993}',
  enum: '{"enum":[9007199254740993,"a",9007199254740997]}',
  const: '{"const":9007199254740993}',
  multiple: '{"type":"integer","multipleOf":9007199254740993}',
  draft4: '{"type":"integer","maximum":9007199254740993,"exclusiveMaximum":true}',
  nested: '{"anyOf":[{"type":"integer","minimum":9007199254740995},{"type":"null"}]}',
  default: '{"type":"integer","default":9007199254740993}',
  object: '{"const":{"id":9007199254740993,"none":null,"text":"9007199254740993"}}',
  objects: '{"enum":[{"maximum":9007199254740993},[9007199254740997,1],null]}',
  named: '{"properties":{"const":{"type":"integer","minimum":9007199254740993}}}',
  unique: '{"type":"array","items":{"type":"integer"},"uniqueItems":true}',
};
const schemaText = `{"type":"object","properties":{${Object.entries(properties)
  .map(([name, text]) => `"${name}":${text}`)
  .join(',')}}}`;
const limited = () =>
  rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/list'
        ? { body: resultBody(id, `{"tools":[{"name":"write","inputSchema":${schemaText}}]}`) }
        : undefined,
  });

test('a schema is checked with all digits of its numbers', async () => {
  const source = await connectTo((await limited()).url);
  const fits = async (name: string, value: Json) => {
    const { content, isError } = await source.call('write', { [name]: value });
    return isError ? content : true;
  };
  expect(await fits('maximum', '9223372036854775807')).toBe(true);
  expect(await fits('maximum', '9223372036854775808')).toContain('must be <= 9223372036854775807');
  expect(await fits('maximum', 5)).toBe(true);
  expect(await fits('above', '9007199254740994')).toBe(true);
  expect(await fits('above', '9007199254740993')).toContain('must be > 9007199254740993');
  expect(await fits('above', 7)).toContain('must be > 9007199254740993');
  for (const value of ['9007199254740993', 'a', '9007199254740997']) expect(await fits('enum', value)).toBe(true);
  for (const value of ['9007199254740992', '9007199254740996', 'b', 1])
    expect(await fits('enum', value)).toContain('must be one of 9007199254740993, a, 9007199254740997');
  expect(await fits('const', '9007199254740993')).toBe(true);
  expect(await fits('const', '9007199254740992')).toContain('must be equal to 9007199254740993');
  expect(await fits('multiple', '18014398509481986')).toBe(true);
  expect(await fits('multiple', '18014398509481984')).toContain('must be a multiple of 9007199254740993');
  expect(await fits('draft4', '9007199254740992')).toBe(true);
  expect(await fits('draft4', '9007199254740993')).toContain('must be < 9007199254740993');
  expect(await fits('nested', '9007199254740995')).toBe(true);
  expect(await fits('nested', '9007199254740994')).not.toBe(true);
  expect(await fits('default', '9007199254740993')).toBe(true);
});

test('objects and lists under const and enum are compared with all digits', async () => {
  const source = await connectTo((await limited()).url);
  const fits = async (name: string, value: Json) => {
    const { content, isError } = await source.call('write', { [name]: value });
    return isError ? content : true;
  };
  const object = { id: large, none: null, text: large };
  expect(await fits('object', object)).toContain('must be equal to {"id":9007199254740993,"none":null,"text":"9');
  const isTaken = async (more: JsonObject) =>
    !(await source.call('write', { object: { ...object, ...more } }, { integers: ['/object/id'] })).isError;
  expect(await isTaken({})).toBe(true);
  for (const more of [{ id: '9007199254740992' }, { id: '9007199254740994' }, { none: 0 }, { text: 'x' }, { more: 1 }])
    expect(await isTaken(more), JSON.stringify(more)).toBe(false);
  for (const value of [{ maximum: large }, ['9007199254740997', 1], null])
    expect(await fits('objects', value)).toBe(true);
  for (const value of [{ maximum: '9007199254740992' }, ['9007199254740996', 1], [1], 7])
    expect(await fits('objects', value)).toContain('one of {"maximum":9007199254740993}, [9007199254740997,1], null');
  expect(await fits('named', { const: '9007199254740993' })).toBe(true);
  expect(await fits('named', { const: '9007199254740992' })).toContain('must be >= 9007199254740993');
});

test('items of a list are compared with all digits', async () => {
  const source = await connectTo((await limited()).url);
  const written = async (unique: readonly Json[]) => (await source.call('write', { unique })).content;
  expect(await written(['9007199254740992', large, 3])).toBe('write');
  expect(await written([1, large, large])).toContain('must NOT have duplicate items (items ## 1 and 2 are identical)');
  expect(await written([1, 5, 1])).toContain('must NOT have duplicate items');
});

test('models, clients and the command line get a schema with all digits of its numbers', async () => {
  const { url } = await limited();
  const [tool] = (await connectTo(url)).tools;
  if (!tool) throw new Error('no tool');
  expect(JSON.stringify(offered([tool]))).toContain(schemaText);
  const output = new PassThrough();
  const request = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n';
  await serveMcp(
    { tools: [tool], instructions: '', call: () => Promise.reject(new Error('no call')) },
    { input: Readable.from([request]), output },
  );
  output.end();
  const listed = await text(output);
  for (const each of Object.values(properties)) expect(listed).toContain(each);
  const domain = mcpDomain('raw', `  raw: { type: http, url: "${url}" }`, 'user: { goal: You want it done. }\n');
  expect((await rehearsal('tools', approveDomain(domain), '--json')).out).toContain(schemaText);
});
