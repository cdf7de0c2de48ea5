import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { StdioServer } from '../../../src/engine/core/domain.ts';
import { startMcpServer } from '../../../src/engine/shell/mcp.ts';
import type { ToolSource } from '../../../src/engine/shell/toolSource.ts';
import { version } from '../../../src/engine/shell/version.ts';

const fixture = fileURLToPath(new URL('fixtures/mcpServer.mjs', import.meta.url));
const declared = (mode: string, more: Partial<StdioServer> = {}): StdioServer => ({
  type: 'stdio',
  command: process.execPath,
  args: [fixture, mode],
  env: {},
  state: 'replay',
  writes: ['add'],
  idempotent: [],
  timeoutMs: 5000,
  tools: {},
  ...more,
});

let started: ToolSource | undefined;
afterEach(async () => started?.close());
const start = async (mode: string, more: Partial<StdioServer> = {}) => {
  started = await startMcpServer('fixture', declared(mode, more), process.cwd());
  return started;
};

test('tools keep their schema, and declared writes are writes', async () => {
  const { tools } = await start('good');
  expect(tools.find(({ name }) => name === 'add')).toMatchObject({
    effect: 'write',
    source: { type: 'mcp', server: 'fixture' },
    parameters: { required: ['by'] },
  });
  expect(tools.find(({ name }) => name === 'state')?.effect).toBe('read');
});

test('a call, its state by the reader, and arguments that do not fit', async () => {
  const server = await start('good', { reader: { tool: 'state', arguments: {} } });
  expect(await server.call('add', { by: 2 })).toEqual({ content: '{"count":2}', isError: false });
  expect(await server.read()).toEqual({ count: 2 });
  expect(await server.call('add', { by: 'two' })).toEqual({
    content: 'Error: the arguments of add do not fit: by must be of type number.',
    isError: true,
  });
});

test('data without a text is shown as JSON, and a text of the server stands for its data', async () => {
  const server = await start('good');
  expect(await server.call('structured', {})).toEqual({ content: '{"count":0}', isError: false });
  expect(await server.call('both', {})).toEqual({ content: 'none yet', isError: false });
});

test('a list of tools that comes in pages is read to its end', async () => {
  const { tools } = await start('pages');
  expect(tools.map(({ name }) => name)).toEqual(['tool_0', 'tool_1', 'tool_2']);
});

test('a server is told who calls', async () => {
  const { content } = await (await start('good')).call('client', {});
  expect(JSON.parse(content)).toEqual({ name: 'rehearsal', version });
});

const failures: readonly { readonly name: string; readonly act: () => Promise<unknown>; readonly message: RegExp }[] = [
  {
    name: 'a command that does not exist',
    act: () => startMcpServer('gone', { ...declared('good'), command: 'no-such-program' }, process.cwd()),
    message: /MCP server "gone".*could not be started/,
  },
  {
    name: 'a server that prints rubbish',
    act: () => start('rubbish', { timeoutMs: 3000 }),
    message: /prints text that is no MCP message/,
  },
  {
    name: 'a server that never answers',
    act: () => start('mute', { timeoutMs: 300 }),
    message: /could not be started/,
  },
  {
    name: 'a server that dies in a call',
    act: async () => (await start('good')).call('die', {}),
    message: /die has no result.*last words: fatal: out of cheese/s,
  },
  {
    name: 'a call that never returns',
    act: async () => (await start('good', { timeoutMs: 3000 })).call('sleep', {}),
    message: /sleep did not answer within 3 s/,
  },
  { name: 'a list of tools without an end', act: () => start('endless'), message: /the list of its tools has no end/ },
  { name: 'state without a reader', act: async () => (await start('good')).read(), message: /declares no reader/ },
];

test.each(failures)('$name is one clear fault', async ({ act, message }) => {
  await expect(act()).rejects.toThrow(message);
});
