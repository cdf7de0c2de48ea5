import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { HttpServer } from '../../../../src/engine/core/domain/domain.ts';
import { startMcpServer } from '../../../../src/engine/shell/tools/mcp.ts';
import { declaredHttp, type RawReply, rawMcpServer, resultBody } from '../../../support/rawMcpServer.ts';
import { type McpScript, scriptedMcpServer } from '../../../support/scriptedMcpServer.ts';

async function connectTo(url: string, more: Partial<HttpServer> = {}) {
  const source = await startMcpServer('shop', declaredHttp(url, more), process.cwd());
  onTestFinished(() => source.close());
  return source;
}

const connect = async (script: McpScript, more: Partial<HttpServer> = {}) =>
  connectTo((await scriptedMcpServer(script)).url, more);

const nothing = { type: 'object', properties: {} };
const one = { properties: { a: { type: 'string' } } };

it.each<[string, object, object]>([
  ['no description', {}, { description: '' }],
  ['a description that is null', { description: null }, { description: '' }],
  ['a title that is null', { title: null }, {}],
  ['annotations that are null', { annotations: null }, { effect: 'read' }],
  ['annotations of which one is null', { annotations: { title: null, readOnlyHint: false } }, { effect: 'write' }],
  ['annotations of a wrong type', { annotations: [] }, { effect: 'read' }],
  ['icons that are null', { icons: null, _meta: null, execution: null }, {}],
  ['no schema', { inputSchema: undefined }, { parameters: nothing }],
  ['a schema that is null', { inputSchema: null }, { parameters: nothing }],
  ['an empty schema', { inputSchema: {} }, { parameters: nothing }],
  ['a schema without a type', { inputSchema: one }, { parameters: { type: 'object', ...one } }],
  ['a schema with lists that are null', { inputSchema: { type: 'object', properties: null, required: null } }, {}],
  [
    'a schema of PHP with empty lists',
    { inputSchema: { type: 'object', properties: [], $defs: { a: { properties: [], required: [] } } } },
    { parameters: { type: 'object', properties: {}, $defs: { a: { properties: {}, required: [] } } } },
  ],
  ['a schema of PHP that is an empty list', { inputSchema: [] }, { parameters: nothing }],
  [
    'an argument of PHP whose schema is an empty list',
    { inputSchema: { type: 'object', properties: { a: [] } } },
    { parameters: { type: 'object', properties: { a: {} } } },
  ],
  ['a schema of the type OBJECT', { inputSchema: { type: 'OBJECT' } }, { parameters: { type: 'object' } }],
  ['an output schema of type array', { outputSchema: { type: 'array', items: {} } }, {}],
  [
    'an output schema with a bad pattern',
    { outputSchema: { type: 'object', properties: { a: { pattern: '(' } } } },
    {},
  ],
  ['an output schema that is a text', { outputSchema: 'text' }, {}],
])('a tool with %s can be used', async (_, written, expected) => {
  const server = await connect({
    list: { tools: [{ name: 'look', inputSchema: { type: 'object' }, ...written }], nextCursor: null },
    call: () => ({ content: [{ type: 'text', text: 'seen' }] }),
  });
  expect(server.tools).toHaveLength(1);
  expect(server.tools[0]).toMatchObject({ name: 'look', ...expected });
  if ('parameters' in expected) expect(server.tools[0]?.parameters).toEqual(expected.parameters);
  expect(server.tools[0]).not.toHaveProperty('leftOut');
  expect(await server.call('look', {})).toMatchObject({ content: 'seen', isError: false });
});

it.each<[unknown, string, string]>([
  [null, 'tool 1', 'it has no name'],
  [{ inputSchema: {} }, 'tool 1', 'it has no name'],
  [{ name: 5, inputSchema: {} }, 'tool 1', 'it has no name'],
  [{ name: 'bad', inputSchema: [1] }, 'bad', 'its inputSchema is not an object'],
  [
    { name: 'bad', inputSchema: { type: 'string' } },
    'bad',
    'its inputSchema has the type string, and arguments are an object',
  ],
  [{ name: 'a\nb' }, 'a\nb', 'its name has a control character'],
  [
    { name: 'slow', execution: { taskSupport: 'required' } },
    'slow',
    'it needs tasks of MCP, which Rehearsal does not support',
  ],
])('the tool %j is left out, and the others can be used', async (written, name, reason) => {
  const server = await connect({ list: { tools: [written, { name: 'look', inputSchema: { type: 'object' } }] } });
  expect(server.tools).toMatchObject([{ name, leftOut: { reason } }, { name: 'look' }]);
});

const long = 'a'.repeat(70);
it.each<[string, string, Partial<HttpServer>]>([
  ['search', 'search', {}],
  ['search', 'find_order', { rename: { search: 'find_order' } }],
  ['search', 'shop_search', { prefix: 'shop_' }],
  ['search', 'find_order', { rename: { search: 'find_order' }, prefix: 'shop_' }],
  ['admin.users/list', 'admin_users_list', {}],
  ['admin.users/list', 'users', { rename: { 'admin.users/list': 'users' } }],
  ['admin.users', 'shop_admin_users', { prefix: 'shop_' }],
  [long, `${'a'.repeat(55)}_6bd5e503`, {}],
  ['查询', '__bcd6771e', {}],
  ['constructor', 'constructor', { rename: {} }],
])('the tool %s is called %s', async (own, name, naming) => {
  const { url, calls } = await scriptedMcpServer({ list: { tools: [{ name: own }] } });
  const server = await connectTo(url, { ...naming, writes: [name], tools: { [name]: { timeoutMs: 1234 } } });
  expect(server.tools).toMatchObject([{ name, effect: 'write', timeoutMs: 1234 }]);
  await server.call(name, {});
  expect(calls).toMatchObject([{ name: own }]);
  if (name !== own) expect(await server.call(own, {})).toMatchObject({ isError: true });
});

it('a reader and a snapshot are called by either name', async () => {
  const naming = {
    prefix: 'shop_',
    snapshot: { tool: 'state', arguments: {}, rows: false },
    reader: { tool: 'shop_state', arguments: {}, rows: false },
  };
  const { url, calls } = await scriptedMcpServer({ list: { tools: [{ name: 'state' }] } });
  const server = await connectTo(url, naming);
  await server.read();
  await server.snapshot?.();
  expect(calls.map(({ name }) => name)).toEqual(['state', 'state']);
});

it.each<[string, readonly string[], object]>([
  [
    'two adapted names that are the same',
    ['a.b', 'a/b'],
    [{ name: 'a_b' }, { leftOut: { reason: expect.stringContaining('would become a_b') } }],
  ],
  [
    'an adapted name before a tool with it',
    ['a.b', 'a_b'],
    [{ leftOut: { hint: expect.stringContaining('rename: { "a.b": NAME }') } }, { name: 'a_b' }],
  ],
  [
    'a tool that is listed twice',
    ['a', 'a'],
    [{ name: 'a' }, { leftOut: { reason: 'the server lists another tool with this name' } }],
  ],
])('%s: one of them is left out', async (_, names, expected) => {
  const server = await connect({ list: { tools: names.map((name) => ({ name })) } });
  expect(server.tools).toMatchObject(expected);
});

it('a list that is not one is refused in words', async () => {
  await expect(connect({ list: { tools: 'none' } })).rejects.toThrow(
    'its answer to tools/list cannot be read (tools: Invalid input: expected array, received string)',
  );
});

it('a list that is the result itself is read', async () => {
  expect((await connect({ list: [{ name: 'look' }] })).tools).toMatchObject([{ name: 'look' }]);
});

it('a cursor that is a number goes back as it came', async () => {
  const cursors: unknown[] = [];
  const { url } = await rawMcpServer({
    reply: ({ id, method, text }) => {
      if (method !== 'tools/list') return undefined;
      const { cursor } = JSON.parse(text).params ?? {};
      cursors.push(cursor);
      const list = { tools: [{ name: `look${cursors.length}` }], nextCursor: cursor === undefined ? 2 : null };
      return { body: resultBody(id, JSON.stringify(list)) };
    },
  });
  expect((await connectTo(url)).tools).toMatchObject([{ name: 'look1' }, { name: 'look2' }]);
  expect(cursors).toEqual([undefined, 2]);
});

it.each([{}, { tools: null }])('the list %j has no tools', async (list) => {
  expect((await connect({ list })).tools).toEqual([]);
});

it.each(['', null, 0, false, {}])('the cursor %j ends the list', async (nextCursor) => {
  const server = await connect({ list: { tools: [{ name: 'look' }], nextCursor } });
  expect(server.tools).toMatchObject([{ name: 'look' }]);
});

it.each([
  ['instructions that are null', { instructions: null }],
  ['capabilities that are null', { capabilities: { tools: { listChanged: null }, logging: null } }],
  ['capabilities of a wrong type', { capabilities: { tools: true } }],
  ['no version', { serverInfo: { name: 's' } }],
  ['no capabilities and no name', { capabilities: 5, serverInfo: undefined }],
  ['icons of which one has no size', { serverInfo: { name: 's', version: '1', icons: [{ src: 'a', sizes: null }] } }],
  ['a title of itself that is null', { serverInfo: { name: 's', version: '1', title: null, icons: null } }],
])('a server with %s can be used', async (_, start) => {
  const server = await connect({ start, list: { tools: [{ name: 'look' }] } });
  expect(server.tools).toHaveLength(1);
});

it('a result that is too long is an error for the agent, and the next call works', async () => {
  const results = ['x'.repeat(2000), 'seen'];
  const server = await connect(
    { list: { tools: [{ name: 'look' }] }, call: () => ({ content: [{ type: 'text', text: results.shift() }] }) },
    { maxResultLength: 1000 },
  );
  expect(await server.call('look', {})).toMatchObject({
    content: 'Error: the result is longer than 1000 characters, which is the maxResultLength of the server',
    isError: true,
  });
  expect(await server.call('look', {})).toEqual({ content: 'seen', isError: false });
});

it.each<[string, unknown, { readonly content: string; readonly isError: boolean }]>([
  ['no content', {}, { content: '', isError: false }],
  ['content that is null', { content: null, isError: null }, { content: '', isError: false }],
  ['content that is a text', { content: 'seen' }, { content: 'seen', isError: false }],
  ['a part that is null', { content: [null, { type: 'text', text: 'seen' }] }, { content: 'seen', isError: false }],
  ['a text that is null', { content: [{ type: 'text', text: null }] }, { content: '', isError: false }],
  ['data that is null', { content: [], structuredContent: null }, { content: '', isError: false }],
  ['data that is a list', { structuredContent: [1] }, { content: '[1]', isError: false }],
  ['data of an old server', { toolResult: { a: 1 } }, { content: '{"a":1}', isError: false }],
  ['no object but a text', 'seen', { content: 'seen', isError: false }],
  ['no object but a list', [{ type: 'text', text: 'seen' }], { content: 'seen', isError: false }],
  ['no object but a number', 5, { content: '5', isError: false }],
  ['an error that is a text', { content: 'no', isError: 'true' }, { content: 'no', isError: true }],
  ['an error that is a number', { content: 'no', isError: 1 }, { content: 'no', isError: true }],
  ['metadata of a wrong type', { content: 'seen', _meta: 5 }, { content: 'seen', isError: false }],
  ['an unknown kind', { content: [{ type: 'chart', a: 1 }] }, { content: '{"type":"chart","a":1}', isError: false }],
])('a result with %s is read', async (_, result, expected) => {
  const server = await connect({ list: { tools: [{ name: 'look' }] }, call: () => result });
  expect(await server.call('look', {})).toEqual(expected);
});

it('an absent argument is not one that every object inherits', async () => {
  const properties = { season: { type: 'integer' }, constructor: { type: 'string' }, valueOf: { type: 'number' } };
  const { url } = await scriptedMcpServer({
    list: { tools: [{ name: 'look', inputSchema: { type: 'object', properties, required: ['season'] } }] },
    call: () => ({ content: [{ type: 'text', text: 'seen' }] }),
  });
  const source = await connectTo(url);
  expect(await source.call('look', { season: 2024 })).toEqual({ content: 'seen', isError: false });
  expect(await source.call('look', { season: 2024, constructor: 5 } as never)).toMatchObject({ isError: true });
});

it('a tool whose schema is too deep is left out, and the others work', async () => {
  const deep = `${'{"type":"object","properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`;
  const tools = `[{"name":"deep","inputSchema":${deep}},{"name":"look"}]`;
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => (method === 'tools/list' ? { body: resultBody(id, `{"tools":${tools}}`) } : undefined),
  });
  const source = await connectTo(url);
  expect(source.tools).toMatchObject([
    { name: 'deep', leftOut: { reason: expect.stringContaining('deep') } },
    { name: 'look' },
  ]);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
});

it('a handshake that cannot be read is described in one line', async () => {
  const { url } = await rawMcpServer({
    reply: ({ method }) => (method === 'initialize' ? { body: '{"jsonrpc":"2.0","id":{},"result":{}}' } : undefined),
  });
  await expect(connectTo(url)).rejects.toThrow(/with MCP \(its answer is not a JSON-RPC message\)\. Check the url/);
});

const tools = (...names: readonly string[]) => names.map((name) => ({ name }));
const reasonsOf = ({ tools: listed }: Awaited<ReturnType<typeof connectTo>>) =>
  listed.flatMap(({ leftOut }) => (leftOut ? [`${leftOut.what}: ${leftOut.reason}`] : []));
const usable = ({ tools: listed }: Awaited<ReturnType<typeof connectTo>>) =>
  listed.flatMap(({ name, leftOut }) => (leftOut ? [] : [name]));

/** Starts a server whose list has a page for each function, and connects to it. The cursor of a page is its number. */
async function connectToPages(...pages: readonly ((id: number) => RawReply)[]) {
  const { url } = await rawMcpServer({
    reply: ({ id, method, text }) => {
      if (method !== 'tools/list') return undefined;
      const at = Number(JSON.parse(text).params?.cursor ?? 1) - 1;
      return pages[at]?.(id) ?? { body: '' };
    },
  });
  return connectTo(url, { maxMessageSize: 100_000, timeoutMs: 5000 });
}

const pageOf = (page: object) => (id: number) => ({ body: resultBody(id, JSON.stringify(page)) });
const firstPage = pageOf({ tools: tools('look'), nextCursor: '2' });
const html = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');

it.each<[string, (id: number) => RawReply, string | RegExp]>([
  [
    'is refused',
    (id) => ({ body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"Invalid cursor"}}` }),
    'the server refuses it (MCP error -32602: Invalid cursor)',
  ],
  [
    'has a text in place of its tools',
    pageOf({ tools: 'none' }),
    'it cannot be read (tools: Invalid input: expected array, received string)',
  ],
  [
    'is a text',
    (id) => ({ body: resultBody(id, '"none"') }),
    'it cannot be read (tools: Invalid input: expected array, received string)',
  ],
  ['is not JSON', () => ({ body: '{"jsonrpc":' }), /^it cannot be read \(.*JSON.*\)$/],
  ['is not a message', () => ({ body: '{"ok":true}' }), 'it cannot be read (its answer is not a JSON-RPC message)'],
  ['is a page for people', () => html, /^it cannot be read \(.*text\/html\)$/],
  [
    'is too long',
    pageOf({ tools: [{ name: 'long', description: 'x'.repeat(200_000) }] }),
    'it cannot be read (the result is longer than 0.1 MB, which is the maxMessageSize of the server)',
  ],
])('the tools of the first page can be used where the second one %s', async (_, second, reason) => {
  const source = await connectToPages(firstPage, second);
  expect(usable(source)).toEqual(['look']);
  expect(source.tools).toMatchObject([
    { name: 'look' },
    { name: 'page 2', leftOut: { what: 'Page 2 of its list of tools', hint: expect.stringContaining('Report it') } },
  ]);
  expect(source.tools[1]?.leftOut?.reason).toMatch(reason);
  expect(await source.call('look', {})).toEqual({ content: 'look', isError: false });
});

it.each([1, 2])('the pages after an unreadable one that names the next are read: page %i', async (number) => {
  const pages = [firstPage, pageOf({ tools: tools('find'), nextCursor: '3' }), pageOf({ tools: tools('login') })];
  const source = await connectToPages(
    ...pages.with(number - 1, pageOf({ tools: 'none', nextCursor: String(number + 1) })),
  );
  expect(usable(source)).toEqual(number === 1 ? ['find', 'login'] : ['look', 'login']);
  expect(reasonsOf(source)).toEqual([
    expect.stringContaining(`Page ${number} of its list of tools: it cannot be read`),
  ]);
});

it.each([
  ['the same cursor', () => 'again'],
  ['always new cursors', (page: number) => `c${page}`],
])('the first page again and again, with %s, is left out in one sentence', async (_, cursorOf) => {
  let pages = 0;
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => {
      if (method !== 'tools/list') return undefined;
      pages += 1;
      return pageOf({ tools: tools('look', 'a', 'b', 'c', 'd'), nextCursor: cursorOf(pages) })(id);
    },
  });
  const source = await connectTo(url);
  expect(usable(source)).toEqual(['look', 'a', 'b', 'c', 'd']);
  expect(reasonsOf(source)).toEqual([
    'Page 2 of its list of tools: its tools are on the pages before (look, a, b and 2 more)',
  ]);
  expect(pages).toBe(2);
});

it('pages with the same cursor are read until one has no other tools', async () => {
  let pages = 0;
  const { url } = await rawMcpServer({
    reply: ({ id, method }) => {
      if (method !== 'tools/list') return undefined;
      pages += 1;
      return pageOf({ tools: tools(`tool${Math.min(pages, 3)}`), nextCursor: 'next' })(id);
    },
  });
  expect(usable(await connectTo(url))).toEqual(['tool1', 'tool2', 'tool3']);
});

it('a map of tools by name is a list of tools', async () => {
  const server = await connect({
    list: { tools: { look: { description: 'Looks.' }, find: { name: 'search' }, bad: null } },
  });
  expect(server.tools).toMatchObject([{ name: 'look', description: 'Looks.' }, { name: 'search' }, { name: 'bad' }]);
});
