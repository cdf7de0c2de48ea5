import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandWords } from '../../../src/authoring/domains/commandWords.ts';
import { exampleArguments } from '../../../src/authoring/domains/exampleArguments.ts';
import { judged } from '../../../src/authoring/domains/judgedTools.ts';
import {
  factsIn,
  type McpDomainOptions,
  mcpDomainFiles,
  serverName,
} from '../../../src/authoring/domains/mcpDomain.ts';
import { soundsReading } from '../../../src/authoring/domains/soundsReading.ts';
import { draftText } from '../../../src/authoring/draftText.ts';
import { domainFileSchema } from '../../../src/engine/core/domain/domain.ts';
import type { Tool } from '../../../src/engine/core/domain/tool.ts';
import type { JsonObject } from '../../../src/engine/core/values/json.ts';
import { misfitOf } from '../../../src/engine/shell/load/arguments.ts';
import { runs } from '../../support/runs.ts';

const toolOf = (parameters: JsonObject, name = 'do_it'): Tool => ({
  name,
  description: 'Does it. And more.',
  parameters,
  effect: 'read',
  owner: 'agent',
  source: { type: 'mcp', server: 's' },
  timeoutMs: 1000,
  idempotent: false,
});

describe('arguments made of a JSON Schema', () => {
  const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
    type: 'object',
    properties,
    required,
  });
  test.each<[string, JsonObject, unknown]>([
    [
      'what is required, and no more',
      object({ a: { type: 'string' }, b: { type: 'string' } }, ['a']),
      { a: 'example a' },
    ],
    ['nothing where nothing is', object({ a: { type: 'string' } }), {}],
    [
      'its own defaults and examples',
      object({ a: { default: 7 }, b: { examples: ['x'] }, c: { enum: ['y', 'z'] }, d: { const: 1 } }, [
        'a',
        'b',
        'c',
        'd',
      ]),
      { a: 7, b: 'x', c: 'y', d: 1 },
    ],
    [
      'words of a name',
      object({ entityType: { type: 'string' } }, ['entityType']),
      { entityType: 'example entity type' },
    ],
    ['formats', object({ day: { type: 'string', format: 'date' } }, ['day']), { day: '2026-03-02' }],
    [
      'numbers',
      object({ n: { type: 'integer', minimum: 5 }, x: { type: 'number' }, b: { type: 'boolean' } }, ['n', 'x', 'b']),
      { n: 5, x: 1, b: true },
    ],
    [
      'lists',
      object({ entries: { type: 'array', minItems: 2, items: { type: 'string' } } }, ['entries']),
      { entries: ['example entry', 'example entry'] },
    ],
    [
      'nested objects',
      object({ o: object({ p: { type: 'string' }, q: { type: 'string' } }) }, ['o']),
      { o: { p: 'example p', q: 'example q' } },
    ],
    ['references', { ...object({ o: { $ref: '#/$defs/it' } }, ['o']), $defs: { it: { type: 'integer' } } }, { o: 1 }],
    [
      'one of several forms',
      object({ o: { anyOf: [{ type: 'null' }, { type: 'integer' }] }, t: { type: ['null', 'boolean'] } }, ['o', 't']),
      { o: 1, t: true },
    ],
    [
      'an end of what has none',
      { ...object({ o: { $ref: '#/$defs/o' } }, ['o']), $defs: { o: object({ o: { $ref: '#/$defs/o' } }, ['o']) } },
      expect.anything(),
    ],
    [
      'multiples',
      object({ m: { type: 'number', multipleOf: 0.5, minimum: 1.2 }, n: { type: 'integer', multipleOf: 5 } }, [
        'm',
        'n',
      ]),
      { m: 1.5, n: 5 },
    ],
    [
      'lists that repeat nothing',
      object(
        Object.fromEntries(
          [
            { type: 'string' },
            { type: 'integer', multipleOf: 3 },
            { enum: ['x', 'y'] },
            object({ p: { type: 'string' } }),
          ].map((items, at) => [`l${at}`, { type: 'array', minItems: 2, uniqueItems: true, items }]),
        ),
        ['l0', 'l1', 'l2', 'l3'],
      ),
      {
        l0: ['example l0', 'example l0 2'],
        l1: [3, 6],
        l2: ['x', 'y'],
        l3: [{ p: 'example p' }, { p: 'example p 2' }],
      },
    ],
    [
      'patterns',
      object(
        {
          sku: { type: 'string', pattern: '^[A-Z]{3}-\\d{2,}$' },
          word: { type: 'string', pattern: '^[a-z_]+$', minLength: 4 },
          free: { type: 'string', pattern: 'x' },
        },
        ['sku', 'word', 'free'],
      ),
      { sku: 'AAA-11', word: 'aaaa', free: 'example free' },
    ],
    ['unknown formats', object({ a: { type: 'string', format: 'constructor' } }, ['a']), { a: 'example a' }],
  ])('%s', (_, parameters, expected) => {
    expect(exampleArguments(toolOf(parameters))).toEqual(expected);
  });

  const node = (children: JsonObject, more: JsonObject = {}) => ({
    ...object({ tree: { $ref: '#/$defs/node' } }, ['tree']),
    $defs: { node: { type: 'object', properties: { name: { type: 'string' }, children }, ...more } },
  });
  const itself = { $ref: '#/$defs/node' };
  const pair = [{ type: 'number' }, { type: 'string' }];
  test.each<[string, JsonObject, JsonObject]>([
    ['a list of itself', node({ type: 'array', items: itself }), { tree: { name: 'example name', children: [] } }],
    ['itself where it may be', node(itself), { tree: { name: 'example name' } }],
    [
      'itself or null',
      node({ anyOf: [itself, { type: 'null' }] }, { required: ['name', 'children'] }),
      { tree: { name: 'example name', children: null } },
    ],
    ['the root itself', object({ name: { type: 'string' }, next: { $ref: '#' } }, ['name']), { name: 'example name' }],
    ['a tuple of draft 7', object({ at: { type: 'array', items: pair } }, ['at']), { at: [1, 'example at'] }],
    [
      'a tuple of 2020-12',
      object({ at: { prefixItems: pair, items: false, minItems: 2 } }, ['at']),
      { at: [1, 'example at'] },
    ],
    [
      'a tuple with more items',
      object({ at: { type: 'array', items: pair, additionalItems: { type: 'boolean' }, minItems: 3 } }, ['at']),
      { at: [1, 'example at', true] },
    ],
    [
      'as many places as a tuple has',
      object({ at: { prefixItems: pair.slice(0, 1), items: false } }, ['at']),
      { at: [1] },
    ],
    ['an empty list', object({ none: { type: 'array', maxItems: 0 } }, ['none']), { none: [] }],
    [
      'a reference with escapes',
      { ...object({ a: { $ref: '#/$defs/x~1y' } }, ['a']), $defs: { 'x/y': { type: 'integer' } } },
      { a: 1 },
    ],
  ])('%s', (_, parameters, expected) => {
    const tool = toolOf(parameters);
    expect(exampleArguments(tool)).toEqual(expected);
    expect(misfitOf(tool, expected)).toBeNull();
  });

  test.each<[string, JsonObject]>([
    ['a list of a billion items', object({ a: { type: 'array', minItems: 1e9, items: { type: 'string' } } }, ['a'])],
    [
      'an object of eight objects like itself',
      object(Object.fromEntries([...'abcdefgh'].map((name) => [name, { $ref: '#' }])), [...'abcdefgh']),
    ],
    [
      'lists of lists of lists',
      object({ a: [1, 2, 3, 4, 5, 6].reduce<JsonObject>((items) => ({ type: 'array', minItems: 20, items }), {}) }, [
        'a',
      ]),
    ],
  ])('a schema that asks for more than anybody fills in: %s', (_, parameters) => {
    expect(JSON.stringify(exampleArguments(toolOf(parameters))).length).toBeLessThan(100_000);
  });

  const leaf = fc.constantFrom<JsonObject>(
    { type: 'string' },
    { type: 'integer', minimum: 3 },
    { type: 'boolean' },
    { enum: ['a', 'b'] },
    { type: 'string', format: 'date' },
  );
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      tie('schema').map((items) => ({ type: 'array', items, minItems: 1 })),
      tie('schema').map((contains) => ({ type: 'array', contains, minItems: 2 })),
      fc.tuple(tie('schema'), tie('schema')).map((anyOf) => ({ anyOf })),
      fc
        .dictionary(fc.constantFrom('one', 'two', 'three'), tie('schema') as fc.Arbitrary<JsonObject>)
        .map((properties) => object(properties, Object.keys(properties))),
    ),
  }));
  const forms = (names: readonly string[]): JsonObject => {
    const [first = '', ...others] = names;
    const either = { oneOf: [{ required: [first] }, { not: { required: [first] }, required: others }] };
    return others.length > 0 ? { ...either, dependentRequired: { [first]: others } } : {};
  };
  test('fit the schema that they are made of', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), schema), (properties) => {
        const names = Object.keys(properties);
        for (const parameters of [object(properties, names), { ...object(properties), ...forms(names) }]) {
          const tool = toolOf(parameters);
          expect(misfitOf(tool, exampleArguments(tool))).toBeNull();
        }
      }),
      { numRuns: runs(50) },
    );
  });
});

test.each<[string, readonly string[] | RegExp]>([
  ['node server.js --flag', ['node', 'server.js', '--flag']],
  ['  npx  -y  a/b ', ['npx', '-y', 'a/b']],
  ['"/a b/node" \'c "d"\' e\\ f', ['/a b/node', 'c "d"', 'e f']],
  ['C:\\tools\\server.exe', ['C:\\tools\\server.exe']],
  ['a "" b', ['a', '', 'b']],
  ['', []],
  ["it's", /a quote \('\) in it has no end/],
])('the words of the command %j', (text, expected) => {
  const words = commandWords(text);
  if (expected instanceof RegExp) expect(words).toMatch(expected);
  else expect(words).toEqual(expected);
});

const program = (command: string, ...args: readonly string[]) => ({ command, args, env: {} });
test.each([
  [program('npx', '-y', '@modelcontextprotocol/server-memory@latest'), 'memory'],
  [program('node', '/x/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', '/data'), 'filesystem'],
  [program('npx', '-y', 'filesystem-server', '/home/ann/mcp/data'), 'filesystem'],
  [program('node', '/home/ann/tools/notes.mjs', '/home/ann/mcp-data/real'), 'notes'],
  [program('uvx', '--with', 'mcp<2', 'ai-todo', 'serve'), 'ai-todo'],
  [program('uvx', 'mcp-server-git', '--repository', '.'), 'git'],
  [program('docker', 'run', '-i', 'ghcr.io/acme/tickets-mcp'), 'tickets'],
  [program('./tickets'), 'tickets'],
  [program('node', 'server.mjs'), 'server'],
  [{ type: 'http' as const, url: 'https://mcp.example.com/mcp', headers: {} }, 'example'],
  [{ type: 'http' as const, url: 'http://127.0.0.1:8000/mcp', headers: {} }, 'server'],
])('%j is called %s', (server, name) => {
  expect(serverName(server)).toBe(name);
});

test.each([
  'get_order find_user list_tags searchNodes read-graph show fetch look_up lookup query count_rows check_stock view describe',
  'calculate verify validate is_open hasPaid git_show git-list-branches github_get_issue notesList server_search get_status',
  'search_and_list get_name_and_address check_refund_status list_updates issues_read',
  'memory_bank_read todo_item_list filter_by_project',
])('names of tools that read: %s', (names) => {
  expect(names.split(' ').filter((name) => !soundsReading(name))).toEqual([]);
});

test.each([
  'refund_order transfer_money return_item charge_card create_entities sendNote notes do_it order_pizza book-flight mark_read',
  'get_or_create find_and_replace search_and_book check_out checkIn delete_list clear_view write_query github_create_issue',
  'mark_as_read escalate_customer_query checkout getaway request_check account_close',
  'memory_bank_write mark_item_read',
])('names of tools that may change something: %s', (names) => {
  expect(names.split(' ').filter(soundsReading)).toEqual([]);
});

test('what a tool changes is what the server says, else what its name says, else what a person says', () => {
  const listed = [
    { tool: toolOf({}, 'get_note'), isReadOnly: undefined },
    { tool: toolOf({}, 'createNote'), isReadOnly: undefined },
    { tool: toolOf({}, 'notes-delete'), isReadOnly: true },
    { tool: toolOf({}, 'read'), isReadOnly: false },
  ];
  const shown = (writes?: readonly string[]) =>
    judged(listed, writes).map(({ isWrite, isSure }) => `${isWrite ? 'write' : 'read'}${isSure ? '' : '?'}`);
  expect(shown()).toEqual(['read?', 'write?', 'read', 'write']);
  expect(shown(['get_note'])).toEqual(['write', 'read', 'read', 'read']);
});

test('facts have the names of their arguments, and each value once', () => {
  expect(
    factsIn({
      list: [
        { name: 'a', kind: 'b' },
        { name: 'c', kind: 'b' },
      ],
      n: 1,
    }),
  ).toEqual({ name: 'a', kind: 'b', name_2: 'c', n: 1 });
});

test('tools whose names are not valid file names get distinct files', () => {
  const tools = judged([
    { tool: toolOf({}, 'notes/add'), isReadOnly: false },
    { tool: toolOf({}, 'notes add'), isReadOnly: false },
  ]);
  const files = mcpDomainFiles({
    name: 'x: y',
    now: '2026-03-02T09:00:00Z',
    serverName: 's',
    server: program('s'),
    tools,
  });
  expect(Object.keys(files).filter((name) => name.startsWith('tasks/'))).toEqual([
    'tasks/notes-add.task.yaml',
    'tasks/notes-add-2.task.yaml',
  ]);
  expect(parse(files['domain.yaml'] ?? '')).toMatchObject({
    name: 'x: y',
    mcpServers: { s: { command: 's', writes: ['notes/add', 'notes add'] } },
  });
});

describe('the draft of a declaration', () => {
  const drafted = (
    env: Record<string, string>,
    names: readonly string[],
    unsteady: McpDomainOptions['unsteady'] = null,
  ) =>
    mcpDomainFiles({
      name: 'x',
      now: '2026-03-02T09:00:00Z',
      serverName: 's',
      server: { command: 's', args: [], env },
      tools: judged(names.map((name) => ({ tool: toolOf({}, name), isReadOnly: undefined }))),
      unsteady,
    })['domain.yaml'] ?? '';

  test('a server that gets the folder of the rollout can be forked by replay', () => {
    expect(parse(drafted({ FILE: '${instanceFolder}/a.json' }, ['add']))).toMatchObject({
      mcpServers: { s: { state: 'replay' } },
    });
    expect(parse(drafted({}, ['add']))).toMatchObject({ mcpServers: { s: { state: 'none' } } });
  });

  test('the tools that a reader can be are offered, the likeliest first', () => {
    const offered = (names: readonly string[]) =>
      [...drafted({}, names).matchAll(/# reader: \{ tool: (\w+) \}/g)].map(([, name]) => name);
    expect(offered(['get_version', 'list_tasks', 'read_graph', 'add_task'])).toEqual([
      'read_graph',
      'list_tasks',
      'get_version',
    ]);
    expect(offered(['search', 'add_task'])).toEqual([]);
  });

  test.each([
    [
      'a text',
      true,
      ['add_task'],
      /when add_task was called\. It also differs from server to server, as\n *# text with ids/,
    ],
    ['a text that never repeats', true, [], /list_tasks differs from call to call, as text with ids or times does/],
    ['data', false, ['add_task'], /write assertions that do not name what differs/],
  ])('a reader that is not declared has its reason, and is right without the #: %s', (_, isText, shows, reason) => {
    const text = drafted({}, ['list_tasks', 'add_task'], { tool: 'list_tasks', shows, isText });
    expect(text).toMatch(reason);
    const chosen = parse(text.replace(/# (?=reader:|volatile:)/g, ''));
    expect(domainFileSchema.parse(chosen).mcpServers['s']).toMatchObject({
      reader: { tool: 'list_tasks' },
      ...(isText ? { reader: { lines: '(?<id>\\S+) (?<name>.+)' }, volatile: ['id'] } : {}),
    });
  });
});

test('a value that nothing is found for is still to be done', () => {
  const sku = { type: 'string', pattern: '^[^\\s\\S]$' };
  const tool = toolOf({ type: 'object', properties: { sku }, required: ['sku'] });
  const tools = judged([{ tool, isReadOnly: false }]);
  const now = '2026-03-02T09:00:00Z';
  const files = mcpDomainFiles({ name: 'x', now, serverName: 's', server: program('s'), tools });
  const [description] = /^description: .*$/m.exec(files['tasks/do_it.task.yaml'] ?? '') ?? [];
  expect(description).toMatch(/Does it\. TODO: the arguments of do_it do not fit: sku must match pattern/);
});

test('what a comment above a draft quotes stays in the comment', () => {
  const text = draftText([{ id: 'a' }], ['Drafted from a.traj.jsonl\nid: b\r\nactions: []']);
  expect(text).toBe('# Drafted from a.traj.jsonl id: b actions: []\nid: a\n');
});
