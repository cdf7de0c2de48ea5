import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { describedDomain } from '../../../../src/engine/shell/describe.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { dataOf, readResult } from '../../../../src/engine/shell/mcp/result.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { connectTo, rawMcpServer, resultBody } from '../../../support/rawMcpServer.ts';
import { scriptedMcpServer } from '../../../support/scriptedMcpServer.ts';

const pythons: JsonObject = {
  title: 'list_rowsOutput',
  type: 'object',
  properties: { result: { title: 'Result', type: 'array' } },
};
const own: JsonObject = { type: 'object', properties: { result: { type: 'array' } } };
const text = (words: string) => ({ type: 'text', text: words });
const file = (words: string) => ({ type: 'resource', resource: { uri: 'a:b', text: words } });
const row = (id: number) => ({ type: 'text', text: `{"id": ${id}}` });

/** Results of a server, the schema that its tool declares, and the value that a reader returns. */
const cases: readonly (readonly [what: string, sent: object, schema: JsonObject | undefined, value: Json])[] = [
  ['no rows of Python', { content: [], structuredContent: { result: [] } }, pythons, []],
  ['a row of Python', { content: [row(1)], structuredContent: { result: [{ id: 1 }] } }, pythons, [{ id: 1 }]],
  [
    'two rows of Python',
    { content: [row(1), row(2)], structuredContent: { result: [{ id: 1 }, { id: 2 }] } },
    pythons,
    [{ id: 1 }, { id: 2 }],
  ],
  [
    'rows of an older Python SDK',
    { content: [row(1)], structuredContent: { result: [{ id: 1 }] } },
    { 'x-fastmcp-wrap-result': true },
    [{ id: 1 }],
  ],
  ['a text of Python', { content: [{ type: 'text', text: 'a' }], structuredContent: { result: 'a' } }, undefined, 'a'],
  ['JSON in a text of Python', { content: [row(1)], structuredContent: { result: row(1).text } }, undefined, { id: 1 }],
  ['a text under another key', { content: [row(1)], structuredContent: { content: row(1).text } }, own, { id: 1 }],
  ['an object', { content: [row(1)], structuredContent: { id: 1 } }, undefined, { id: 1 }],
  ['an object with the key result', { content: [row(1)], structuredContent: { result: [1] } }, own, { result: [1] }],
  ['words about data', { content: [{ type: 'text', text: 'One.' }], structuredContent: { n: 1 } }, undefined, { n: 1 }],
  ['JSON without structured content', { content: [row(1)] }, undefined, { id: 1 }],
  ['rows as separate texts', { content: [row(1), row(2)] }, undefined, [{ id: 1 }, { id: 2 }]],
  [
    'rows with numbers that are too large',
    { content: [{ type: 'text', text: '{"id":9007199254740993}' }, row(2)] },
    undefined,
    [{ id: '9007199254740993' }, { id: 2 }],
  ],
  ['two texts of which one is not data', { content: [row(1), text('One.')] }, undefined, '{"id": 1}\nOne.'],
  ['two numbers', { content: [text('1'), text('2')] }, undefined, '1\n2'],
  ['an embedded file in JSON', { content: [file('{"id": 1}')] }, undefined, { id: 1 }],
  ['an embedded file in words', { content: [file('One.')] }, undefined, 'One.'],
  ['rows in embedded files', { content: [file('{"id": 1}'), file('[2]')] }, undefined, [{ id: 1 }, [2]]],
  ...['1.10', '1e2', '2.0', '-0', '"hello"'].map(
    (words) =>
      [`the text ${words}, whose value is another text`, { content: [text(words)] }, undefined, words] as const,
  ),
  ...[7, true, null].map(
    (value) => [`the text ${value}`, { content: [text(`${value}\n`)] }, undefined, value] as const,
  ),
  ['a number in a text of Python', { content: [text('7')], structuredContent: { result: '7' } }, undefined, '7'],
  ['a text without structured content', { content: [{ type: 'text', text: 'None.' }] }, undefined, 'None.'],
];

test.each<[object, string]>([
  [{ temperature: 20 }, '{"temperature":20}'],
  [{ content: null, result: 5 }, '{"result":5}'],
  [{ type: 'text', text: { ok: true } }, '{"type":"text","text":{"ok":true}}'],
  [{ content: [{ type: 'text', text: { ok: true } }] }, '{"ok":true}'],
  [{ content: [{ type: 'text', text: 42 }] }, '42'],
  [{ content: [{ type: 'text', text: null }] }, ''],
  [{}, ''],
])('the agent reads %j, which is not a result of MCP, as data', (sent, text) => {
  expect(readResult(sent)).toMatchObject({ content: text, isError: false });
});

test.each(cases)('a reader gets the data of %s', (_, sent, schema, value) => {
  expect(dataOf(readResult(sent), schema)).toEqual(value);
});

test.each<[what: string, content: readonly object[], lines: string, value: Json]>([
  ['a number', [text('42')], '^(?<id>\\d+)$', [{ id: '42' }]],
  ['numbers', [text('42\n43'), text('44')], '^(?<id>\\d+)$', [{ id: '42' }, { id: '43' }, { id: '44' }]],
  ['a line of JSONL', [text('{"id":7}')], '"id":(?<id>\\d+)', [{ id: '7' }]],
  ['lines of JSONL', [row(7), row(8)], '"id": (?<id>\\d+)', [{ id: '7' }, { id: '8' }]],
])('a reader with lines gets the rows of %s', async (_, content, lines, value) => {
  const { url } = await rawMcpServer({
    reply: ({ id, method }) =>
      method === 'tools/call' ? { body: resultBody(id, JSON.stringify({ content })) } : undefined,
  });
  const source = await connectTo(url, { reader: { tool: 'look', arguments: {}, lines } });
  expect(await source.read()).toEqual(value);
});

/** A server of FastMCP whose tool returns a list without a type. */
const untyped = (content: readonly object[]) =>
  scriptedMcpServer({
    list: { tools: [{ name: 'look', inputSchema: { type: 'object', properties: {}, title: 'lookArguments' } }] },
    call: () => ({ content }),
  });

test.each<[what: string, content: readonly object[], rows: boolean, value: Json]>([
  ['two rows', [row(1), row(2)], true, [{ id: 1 }, { id: 2 }]],
  ['one row', [row(1)], true, [{ id: 1 }]],
  ['no row', [], true, []],
  ['a row that is a text', [text('One.')], true, ['One.']],
  ['a list as a whole', [text('[{"id": 1}]')], true, [{ id: 1 }]],
  ['an object', [row(1)], false, { id: 1 }],
  ['objects', [row(1), row(2)], false, [{ id: 1 }, { id: 2 }]],
  ['nothing', [], false, ''],
])('a reader that declares rows gets the rows of %s', async (_, content, rows, value) => {
  const { url } = await untyped(content);
  const source = await connectTo(url, { reader: { tool: 'look', arguments: {}, rows } });
  expect(await source.read()).toEqual(value);
});

const table = text('{"o1": {"id": 1}, "o2": {"id": 2}}');

test.each<[what: string, content: readonly object[], takesRows: boolean]>([
  ['2 texts', [row(1), row(2)], false],
  ['an empty result', [], false],
  ['an object, of which assertions take rows', [row(1)], true],
])('a reader that does not declare rows is refused where its result is %s', async (what, content, takesRows) => {
  const { url } = await untyped(content);
  const source = await connectTo(url, { reader: { tool: 'look', arguments: {} } });
  await expect(source.read(undefined, takesRows)).rejects.toMatchObject({
    failure: {
      code: 'mcp/unclear-rows',
      message: expect.stringContaining(
        `its reader look gives ${what}, so a list with one row would be an object. Write`,
      ),
    },
  });
});

test.each<[what: string, content: readonly object[]]>([
  ['a list', [text('[{"id": 1}]')]],
  ['a table', [table]],
  ['a text', [text('No orders.')]],
])('a reader that does not declare rows can give %s where assertions take rows', async (_, content) => {
  const { url } = await untyped(content);
  const source = await connectTo(url, { reader: { tool: 'look', arguments: {} } });
  expect(await source.read(undefined, true)).toEqual(dataOf(readResult({ content })));
});

const plain = { inputSchema: { type: 'object' } };
const unclear = 'domain/unclear-rows';
const ofRows = 'any(state, it.id == 1)';

/** Returns the codes of the findings about a server, and about the types in its tasks. */
async function codesOf(keys: string, that: string, listed: object): Promise<readonly string[]> {
  const takes = (type: unknown, description = 'The state') => ({
    inputSchema: { type: 'object', properties: { to: { type, description } } },
  });
  const { url } = await scriptedMcpServer({
    list: {
      tools: [
        { name: 'look', inputSchema: { type: 'object', title: 'lookArguments' }, ...listed },
        { name: 'put_list', ...takes(['array', 'null']) },
        { name: 'put_any', ...takes(['array', 'string']) },
        { name: 'put_text', ...takes('string') },
        { name: 'put_notes', ...takes('string', 'A list of notes, as JSON') },
      ],
    },
  });
  const folder = mcpDomain(
    'raw',
    `  raw: { type: http, url: "${url}", ${keys} }`,
    `user: { goal: Go. }\nassertions: [{ in: raw, that: '${that}' }]\n`,
  );
  const { diagnostics } = await describedDomain(loadDomain(approveDomain(folder)));
  return diagnostics.map(({ code }) => code).filter((code) => /^domain\/|mismatch$/.test(code));
}

test.each<[rows: string, that: string, listed: object, codes: readonly string[]]>([
  ['', 'true', {}, [unclear]],
  [', rows: true', 'true', {}, []],
  [', rows: false', 'true', {}, []],
  ['', 'true', { outputSchema: pythons }, []],
  ['', 'true', plain, []],
  ['', ofRows, plain, [unclear]],
  ['', ofRows, { ...plain, outputSchema: pythons }, []],
  [', rows: true', ofRows, plain, []],
  [', rows: false', ofRows, plain, []],
  [', rows: true', 'state.count == 1', plain, ['task/type-mismatch']],
  [', rows: true', 'state[0].count == 1', plain, []],
])('`check` compares a reader%s with the assertion %s and the tool %j', async (rows, that, listed, codes) => {
  expect(await codesOf(`reader: { tool: look${rows} }`, that, listed)).toEqual(codes);
});

test.each<[snapshot: string, restore: string, codes: readonly string[], listed?: object]>([
  ['', 'put_list', [unclear]],
  [', rows: true', 'put_list', []],
  [', rows: false', 'put_list', []],
  ['', 'put_any', []],
  ['', 'put_text', []],
  ['', 'put_notes', [unclear]],
  [', rows: false', 'put_notes', []],
  ['', 'put_text', [unclear], { description: 'Lists all notes.' }],
  ['', 'put_text', [], { description: 'Exports everything, such as listeners.' }],
  [', rows: true', 'put_text', [], { description: 'Lists all notes.' }],
])('`check` compares a snapshot%s with what %s takes', async (rows, restore, codes, listed = {}) => {
  const keys = `state: snapshot, snapshot: { tool: look${rows} }, restore: { tool: ${restore}, argument: to }`;
  expect(await codesOf(`reader: { tool: put_any, rows: true }, ${keys}`, 'true', { ...plain, ...listed })).toEqual(
    codes,
  );
});

test.each(['put_list', 'put_text'])('a snapshot is a list where %s takes the rows of the reader', async (restore) => {
  const keys = `state: snapshot, snapshot: { tool: look }, restore: { tool: ${restore}, argument: to }`;
  expect(await codesOf(`reader: { tool: look, rows: true }, ${keys}`, 'true', plain)).toEqual([unclear]);
});

test('a snapshot with one row is refused where the reader declares rows of the same tool', async () => {
  const { url } = await untyped([row(1)]);
  const look = { tool: 'look', arguments: {} };
  const source = await connectTo(url, {
    state: 'snapshot',
    reader: { ...look, rows: true },
    snapshot: look,
    restore: { tool: 'put', argument: 'to' },
  });
  await expect(source.snapshot?.()).rejects.toMatchObject({
    failure: {
      code: 'mcp/unclear-rows',
      message: expect.stringContaining('its snapshot look gives an object, and reader has rows: true for look, so'),
    },
  });
});
