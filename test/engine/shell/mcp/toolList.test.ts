import { expect, it } from 'vitest';
import { startMcpServer } from '../../../../src/engine/shell/mcp.ts';
import { declaredHttp, type McpScript, scriptedMcpServer } from '../../../support/scriptedMcpServer.ts';

const connect = async (script: McpScript) => {
  const { url } = await scriptedMcpServer(script);
  return startMcpServer('shop', declaredHttp(url), process.cwd());
};

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
  expect(server.tools[0]).not.toHaveProperty('leftOut');
  expect(await server.call('look', {})).toEqual({ content: 'seen', isError: false });
});

it.each<[unknown, string, string]>([
  [null, 'tool 1', 'it has no name'],
  [{ inputSchema: {} }, 'tool 1', 'it has no name'],
  [{ name: 5, inputSchema: {} }, 'tool 1', 'it has no name'],
  [{ name: 'bad', inputSchema: [] }, 'bad', 'its inputSchema is not an object'],
  [
    { name: 'bad', inputSchema: { type: 'string' } },
    'bad',
    'its inputSchema has the type string, and arguments are an object',
  ],
])('the tool %j is left out, and the others can be used', async (written, name, leftOut) => {
  const server = await connect({ list: { tools: [written, { name: 'look', inputSchema: { type: 'object' } }] } });
  expect(server.tools).toMatchObject([{ name, leftOut }, { name: 'look' }]);
});

it.each([
  [{}, 'its answer to tools/list cannot be read (tools: Invalid input: expected array, received undefined)'],
  [{ tools: null }, 'its answer to tools/list cannot be read (tools: Invalid input: expected array, received null)'],
  [
    { tools: [], nextCursor: 2 },
    'its answer to tools/list cannot be read (nextCursor: Invalid input: expected string, received number)',
  ],
])('the list %j is refused in words', async (list, message) => {
  await expect(connect({ list })).rejects.toThrow(message);
});

it.each([
  ['instructions that are null', { instructions: null }],
  ['capabilities that are null', { capabilities: { tools: { listChanged: null }, logging: null } }],
  ['a title of itself that is null', { serverInfo: { name: 's', version: '1', title: null, icons: null } }],
])('a server with %s can be used', async (_, start) => {
  const server = await connect({ start, list: { tools: [{ name: 'look' }] } });
  expect(server.tools).toHaveLength(1);
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
  ['an unknown kind', { content: [{ type: 'chart', a: 1 }] }, { content: '{"type":"chart","a":1}', isError: false }],
])('a result with %s is read', async (_, result, expected) => {
  const server = await connect({ list: { tools: [{ name: 'look' }] }, call: () => result });
  expect(await server.call('look', {})).toEqual(expected);
});
