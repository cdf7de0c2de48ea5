import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Call, type CallPlan, planCalls } from '../../../src/authoring/domains/callPlan.ts';
import { findReader } from '../../../src/authoring/domains/findReader.ts';
import { judged } from '../../../src/authoring/domains/judgedTools.ts';
import type { StdioServer } from '../../../src/engine/core/domain/domain.ts';
import type { Tool } from '../../../src/engine/core/domain/tool.ts';
import { Fault } from '../../../src/engine/shell/files/fault.ts';
import { startMcpServer } from '../../../src/engine/shell/tools/mcp.ts';
import type { ToolSource } from '../../../src/engine/shell/tools/toolSource.ts';
import { declaredHttp } from '../../support/rawMcpServer.ts';
import { scriptedMcpServer } from '../../support/scriptedMcpServer.ts';

const fixture = fileURLToPath(new URL('../../engine/shell/fixtures/mcpServer.mjs', import.meta.url));
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

/** Returns the plan for tools that a person declared, with these arguments for the write. */
function planFor(reads: readonly Tool[], { tool, arguments: args }: Call): CallPlan {
  const properties = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, { default: value }]));
  const write = {
    name: tool,
    parameters: { type: 'object', properties, required: Object.keys(args) },
  } as unknown as Tool;
  return planCalls(judged([...reads, write].map((each) => ({ tool: each, isReadOnly: each !== write }))));
}

/** Returns the reader that is found when only these tools of the server are known to read. */
async function foundAmong(...names: string[]) {
  const source = await start();
  await source.close();
  const reads = source.tools.filter(({ name }) => names.includes(name));
  return (await findReader(start, planFor(reads, { tool: 'add', arguments: { by: 2 } }))).reader;
}

test('the reader of a state is the tool whose result a write changes', async () => {
  expect(await foundAmong('list', 'clock', 'state')).toEqual({
    tool: 'state',
    arguments: {},
    volatile: [],
    shows: ['add'],
    misses: {},
    isShared: false,
  });
});

test('a text can be the state', async () => {
  expect(await foundAmong('list')).toMatchObject({ tool: 'list', shows: ['add'] });
});

test('the time of day is not a state', async () => {
  expect(await foundAmong('clock')).toBeNull();
});

test('a field that differs from server to server is volatile', async () => {
  expect(await foundAmong('notes')).toEqual({
    tool: 'notes',
    arguments: {},
    volatile: ['id'],
    shows: ['add'],
    misses: {},
    isShared: false,
    rows: true,
  });
});

test('a tool that fails after a write shows no state', async () => {
  const brittle = async (): Promise<ToolSource> => {
    let isWritten = false;
    return {
      tools: [],
      call: async () => {
        isWritten = true;
        return { content: 'added', isError: false };
      },
      read: async () => {
        if (!isWritten) return { count: 0 };
        throw new Fault({ who: 'environment', code: 'mcp/reader', message: 'its reader failed' });
      },
      close: async () => undefined,
    };
  };
  const reads = [{ name: 'count', parameters: { type: 'object' } } as unknown as Tool];
  expect(await findReader(brittle, planFor(reads, { tool: 'add', arguments: {} }))).toMatchObject({ reader: null });
});

test('a write is not made again for a tool that ends the server after it', async () => {
  let writes = 0;
  const brittle = async (): Promise<ToolSource> => {
    let isWritten = false;
    return {
      tools: [],
      call: async () => {
        isWritten = true;
        writes += 1;
        return { content: 'added', isError: false };
      },
      read: async (reader) => {
        if (isWritten && reader?.tool === 'fragile')
          throw new Fault({ who: 'infrastructure', code: 'mcp/exited', message: 'the server ended' });
        return { count: Number(isWritten) };
      },
      close: async () => undefined,
    };
  };
  const reads = ['fragile', 'count'].map((name) => ({ name, parameters: { type: 'object' } }) as unknown as Tool);
  expect(await findReader(brittle, planFor(reads, { tool: 'add', arguments: {} }))).toMatchObject({ reader: null });
  expect(writes).toBe(1);
});

test.each<[what: string, read: (names: readonly string[], server: number) => string, shows: readonly string[]]>([
  ['ids', (names, server) => names.map((name) => `${name} #${server}`).join(), ['write']],
  ['times', () => `as of ${clock.next().value}`, []],
])('a text with %s is not the reader, and is named', async (_, read, shows) => {
  const servers = counter();
  const notes = async (): Promise<ToolSource> => {
    const names: string[] = [];
    const server = servers.next().value;
    return {
      tools: [],
      call: async (_tool, { name }) => {
        names.push(String(name));
        return { content: 'written', isError: false };
      },
      read: async () => read(names, server),
      close: async () => undefined,
    };
  };
  const reads = [{ name: 'names', parameters: { type: 'object' } } as unknown as Tool];
  const found = await findReader(notes, planFor(reads, { tool: 'write', arguments: { name: 'milk.txt' } }));
  expect(found).toEqual({ reader: null, unsteady: { tool: 'names', shows, isText: true } });
});

function* counter(): Generator<number, never> {
  for (let number = 1; ; number++) yield number;
}
const clock = counter();

test('an argument that the state does not show is named', async () => {
  const notes = async (): Promise<ToolSource> => {
    const names: string[] = [];
    return {
      tools: [],
      call: async (_, { name }) => {
        names.push(String(name));
        return { content: 'written', isError: false };
      },
      read: async () => [...names],
      close: async () => undefined,
    };
  };
  const reads = [{ name: 'names', parameters: { type: 'object' } } as unknown as Tool];
  const write = { tool: 'write', arguments: { name: 'milk.txt', content: 'two bottles' } };
  expect((await findReader(notes, planFor(reads, write))).reader).toMatchObject({
    shows: ['write'],
    misses: { write: ['content'] },
  });
});

test.each([
  ['rows of all sessions', (names: readonly string[]) => [...names]],
  ['a number of all sessions', (names: readonly string[]) => ({ count: names.length })],
])('a state that sessions share is found: %s', async (_, read) => {
  const names: string[] = [];
  const session = async (): Promise<ToolSource> => ({
    tools: [],
    call: async (_tool, { name }) => {
      names.push(String(name));
      return { content: 'written', isError: false };
    },
    read: async () => read(names),
    close: async () => undefined,
  });
  const reads = [{ name: 'names', parameters: { type: 'object' } } as unknown as Tool];
  const found = await findReader(session, planFor(reads, { tool: 'write', arguments: { name: 'milk.txt' } }));
  expect(found.reader).toMatchObject({ tool: 'names', volatile: [], shows: ['write'], misses: {}, isShared: true });
});

test.each<[what: string, atStart: readonly string[], added: readonly string[]]>([
  ['no row at the start', [], ['{"name": "milk"}']],
  ['one row at the start', ['{"name": "milk"}'], ['{"name": "tea"}']],
  ['a list as a whole', ['[]'], ['[{"name": "tea"}]']],
])('the reader of a list is declared with rows: %s', async (_, atStart, added) => {
  const found = await foundIn(atStart, (kept) => (kept[0] === '[]' ? added : [...kept, ...added]));
  expect(found).toMatchObject({ tool: 'list', shows: ['add'], isShared: false, volatile: [], misses: {}, rows: true });
});

test.each<[what: string, atStart: readonly string[], after: readonly string[], outputSchema?: object]>([
  ['an object', ['{"count": 0}'], ['{"count": 1}']],
  ['a text', ['No notes.'], ['milk']],
  ['a list with an output schema', ['[]'], ['[{"name": "milk"}]'], { type: 'object' }],
])('the reader of %s is declared without rows', async (_, atStart, after, outputSchema) => {
  const found = await foundIn(atStart, () => after, outputSchema);
  expect(found).toMatchObject({ tool: 'list', shows: ['add'] });
  expect(found).not.toHaveProperty('rows');
});

/** Returns the reader that is found for a server whose tool `list` gives each of its texts as a part. */
async function foundIn(
  atStart: readonly string[],
  add: (kept: readonly string[]) => readonly string[],
  outputSchema?: object,
) {
  let kept = atStart;
  const { url } = await scriptedMcpServer({
    list: { tools: [{ name: 'list', outputSchema }, { name: 'add' }] },
    call: ({ name }) => {
      if (name === 'add') kept = add(kept);
      return { content: kept.map((text) => ({ type: 'text', text })) };
    },
  });
  const start = async () => {
    kept = atStart;
    return startMcpServer('notes', declaredHttp(url), process.cwd());
  };
  const source = await start();
  await source.close();
  const reads = source.tools.filter(({ name }) => name === 'list');
  return (await findReader(start, planFor(reads, { tool: 'add', arguments: {} }))).reader;
}
