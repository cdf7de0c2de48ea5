import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { StdioServer } from '../../../../src/engine/core/domain.ts';
import { findReader } from '../../../../src/engine/shell/drafting/findReader.ts';
import { startMcpServer } from '../../../../src/engine/shell/mcp.ts';

const fixture = fileURLToPath(new URL('../fixtures/mcpServer.mjs', import.meta.url));
const server: StdioServer = {
  type: 'stdio',
  command: process.execPath,
  args: [fixture, 'good'],
  env: {},
  state: 'replay',
  writes: [],
  idempotent: [],
  timeoutMs: 120_000,
  tools: {},
};
const start = () => startMcpServer('counter', server, process.cwd());

/** What is found when only these tools of the server are known to read. */
async function foundAmong(...names: string[]) {
  const source = await start();
  await source.close();
  const reads = source.tools.filter(({ name }) => names.includes(name));
  return findReader(start, reads, [{ tool: 'add', arguments: { by: 2 } }]);
}

test('the reader of a state is the tool whose result a write changes', async () => {
  expect(await foundAmong('list', 'clock', 'state')).toEqual({
    tool: 'state',
    arguments: {},
    volatile: [],
    shows: ['add'],
  });
});

test('a text can be the state', async () => {
  expect(await foundAmong('list')).toMatchObject({ tool: 'list', shows: ['add'] });
});

test('the time of day is no state', async () => {
  expect(await foundAmong('clock')).toBeNull();
});

test('a field that differs from server to server is volatile', async () => {
  expect(await foundAmong('notes')).toEqual({ tool: 'notes', arguments: {}, volatile: ['id'], shows: ['add'] });
});
