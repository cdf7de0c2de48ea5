import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import type { StdioServer } from '../../../../src/engine/core/domain/domain.ts';
import { version } from '../../../../src/engine/shell/files/version.ts';
import { startMcpServer } from '../../../../src/engine/shell/tools/mcp.ts';
import type { ToolSource } from '../../../../src/engine/shell/tools/toolSource.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const fixture = fileURLToPath(new URL('../fixtures/mcpServer.mjs', import.meta.url));
const declared = (mode: string, more: Partial<StdioServer> = {}): StdioServer => ({
  type: 'stdio',
  command: process.execPath,
  args: [fixture, mode],
  env: {},
  state: 'replay',
  writes: ['add'],
  idempotent: [],
  timeoutMs: 120_000,
  tools: {},
  ...more,
});

let started: ToolSource | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await started?.close();
});
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

test('a relative cwd is in the folder of the domain, and one that does not exist is named', async () => {
  const domain = temporaryFolder('cwd');
  mkdirSync(join(domain, 'server'));
  const startIn = (cwd: string) => startMcpServer('fixture', declared('good', { cwd }), domain);
  started = await startIn('server');
  await expect(startIn('none')).rejects.toThrow(/cwd: none is not a folder. Correct mcpServers.fixture.cwd/);
});

test('a call, its state by the reader, and arguments that do not fit', async () => {
  const server = await start('good', { reader: { tool: 'state', arguments: {} } });
  expect(await server.call('add', { by: 2 })).toEqual({ content: '{"count":2}', isError: false });
  expect(await server.read()).toEqual({ count: 2 });
  expect(await server.call('add', { by: 'two' })).toEqual({
    content: 'Error: the arguments of add do not fit: by must be of type number.',
    isError: true,
    isUnchanged: true,
  });
});

test('a tuple of the SDK is checked', async () => {
  const server = await start('good');
  expect(await server.call('pair', { at: [1, 'x'] })).toEqual({ content: '[1,"x"]', isError: false });
  expect((await server.call('pair', { at: ['x', 1] })).content).toMatch(
    /^Error: the arguments of pair do not fit: at\.0/,
  );
});

test('a state in text is read line by line', async () => {
  const lines = '^\\[(?<kind>\\w+)\\] (?<name>.+)$';
  const server = await start('good', { reader: { tool: 'list', arguments: {}, lines } });
  expect(await server.read()).toEqual([
    { kind: 'FILE', name: 'a.txt' },
    { kind: 'DIR', name: 'my notes' },
  ]);
});

test('a state that Python printed is data', async () => {
  const server = await start('good', { reader: { tool: 'rows', arguments: {} } });
  expect(await server.read()).toEqual([{ id: 1, isPaid: true, due: null }]);
});

test.skipIf(process.platform === 'win32')('a program that downloads a server gets longer than a call', async () => {
  const command = join(temporaryFolder('mcp-download'), 'npx');
  writeFileSync(command, `#!/bin/sh\nsleep 1\nexec "${process.execPath}" "$@"\n`);
  chmodSync(command, 0o755);
  const { tools } = await start('good', { command, timeoutMs: 500 });
  expect(tools.map(({ name }) => name)).toContain('add');
});

test('a server gets the variables for certificate files, but no others', async () => {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', '/company.pem');
  vi.stubEnv('SOME_VARIABLE', 'x');
  const { content } = await (await start('good')).call('environment', {});
  expect(JSON.parse(content)).toContain('NODE_EXTRA_CA_CERTS');
  expect(JSON.parse(content)).not.toContain('SOME_VARIABLE');
});

test('a task sets up files, arguments and calls of a server', async () => {
  const folder = temporaryFolder('mcp-set-up');
  mkdirSync(join(folder, 'start'));
  writeFileSync(join(folder, 'start', 'a.txt'), 'a');
  started = await startMcpServer('fixture', declared('good', { reader: { tool: 'state', arguments: {} } }), folder);
  const placed = async () => (await started?.call('place', { path: '${instanceFolder}/a.txt' }))?.content;
  expect(await placed()).toContain('"isThere":false');
  await started.setUp?.({ files: 'start', calls: [{ tool: 'add', arguments: { by: 3 } }] });
  expect(await placed()).toContain('"isThere":true');
  expect(await started.read()).toEqual({ count: 3 });
  await started.setUp?.({ args: [fixture, 'pages'] });
  expect(started.tools.map(({ name }) => name)).toEqual(['tool_0', 'tool_1', 'tool_2']);
});

test('a server that a task starts with its own arguments has no folder before it starts', async () => {
  const folder = temporaryFolder('mcp-folders');
  vi.stubEnv('TMPDIR', folder);
  vi.stubEnv('TEMP', folder);
  started = await startMcpServer('fixture', declared('good'), process.cwd(), { isSetUp: true });
  expect(readdirSync(folder)).toEqual([]);
  await started.setUp?.({ args: [fixture, 'good'] });
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^rehearsal-mcp-/)]);
  await started.close();
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  [{ rows: {} }, /setUp of the task: .*rows/],
  [{ files: '../elsewhere' }, /outside of the domain's folder/],
  [{ calls: [{ tool: 'fly' }] }, /fly failed: Error: there is no tool named "fly"/],
])('a set-up such as %j is refused', async (data, message) => {
  const server = await start('good');
  await expect(server.setUp?.(data)).rejects.toThrow(message);
});

test('data without a text is shown as JSON, and a text of the server is shown in place of its data', async () => {
  const server = await start('good');
  expect(await server.call('structured', {})).toMatchObject({ content: '{"count":0}', isError: false });
  expect(await server.call('both', {})).toMatchObject({ content: 'none yet', isError: false });
});

test('the limit of results is for calls of the agent, not for the list of tools or the reader', async () => {
  const server = await start('good', { maxResultLength: 10, reader: { tool: 'environment', arguments: {} } });
  expect(await server.read()).toContain('PATH');
  expect(await server.call('environment', {})).toMatchObject({
    content: expect.stringContaining('which is the maxResultLength of the server'),
    isError: true,
  });
  expect((await server.call('list', {})).isError).toBe(true);
});

test('a list of tools that comes in pages is read to its end', async () => {
  const { tools } = await start('pages');
  expect(tools.map(({ name }) => name)).toEqual(['tool_0', 'tool_1', 'tool_2']);
});

test('a server gets the name and version of the client', async () => {
  const { content } = await (await start('good')).call('client', {});
  expect(JSON.parse(content)).toEqual({ name: 'rehearsal', version });
});

test('the folder of an instance has the same name in the calls and results of every rollout', async () => {
  const path = '${instanceFolder}/a.txt';
  const { content } = await (await start('good')).call('place', { path });
  expect(JSON.parse(content)).toEqual({ path, hasFolder: true, isThere: false });
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
    message: /writes lines to standard output that are not MCP messages/,
  },
  {
    name: 'a server that never answers',
    act: () => start('mute', { timeoutMs: 300 }),
    message: /could not be started/,
  },
  {
    name: 'a server that dies in a call',
    act: async () => (await start('good')).call('die', {}),
    message: /answered the call of die.*last output: fatal: out of cheese/s,
  },
  {
    name: 'a call that never returns',
    act: async () => (await start('good')).call('sleep', {}, { timeoutMs: 500 }),
    message: /sleep did not answer within 0.5 s/,
  },
  { name: 'a list of tools without an end', act: () => start('endless'), message: /its tool list does not end/ },
  { name: 'state without a reader', act: async () => (await start('good')).read(), message: /declares no reader/ },
];

test.each(sampled(failures, 3))('$name is one clear fault', async ({ act, message }) => {
  await expect(act()).rejects.toThrow(message);
});
