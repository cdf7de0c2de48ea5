import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { desk, deskTools, type Files, load, shown } from '../load/domainFolder.ts';

const good = String(desk['tasks/first.task.yaml']);
const task = (text: string): Files => ({ 'tasks/first.task.yaml': text });
const more = (text: string): Files => ({ 'tasks/second.task.yaml': text });
const second = good.replace('id: cancel', 'id: second').replaceAll('W1', 'W2');
const server = 'mcpServers:\n  memory: { command: x }\n';

it('corrects a field of a result to one of the tool rather than to the name of a table', () => {
  const files: Files = {
    'domain.yaml': 'name: desk\nlexicon: { tools: { cancel_order: { done: ["{result.refund} is paid."] } } }\n',
    'tools.ts': String(desk['tools.ts']).replace(
      /(name|cancel_order.*)run: \(\) => 1/,
      '$1run: () => ({ refunded: 1 })',
    ),
    'database.json': '{"orders": {"W1": {"status": "pending"}}, "refunds": {"R1": {"sum": 3}}}',
  };
  const [found] = load(files, deskTools).diagnostics.filter(({ code }) => code === 'domain/unknown-field');
  expect(found?.hint).toBe('Did you mean "refunded"?');
});

it('takes a task that refuses a tool as one that tries its rule', () => {
  const refusal = good.replace(/ {2}- \{ tool: cancel_order.*\n/, '').replace('order W1.', 'order W1. Accept a no.');
  expect(shown(load(task(refusal), deskTools)).filter((line) => line.includes('uncovered-rule'))).toEqual([]);
});

it('warns of a change of mind that fills no argument, and accepts one that only asks for more', () => {
  const files = (known: string, changed: string): Files => ({
    'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\nbehaviours: { changes: true }\n',
    'tasks/first.task.yaml': good.replace(
      'known: { order: W1 }',
      `known: { ${known} }\n  change: { when: done, say: No the chair.${changed} }`,
    ),
  });
  const found = (known: string, changed: string) => shown(load(files(known, changed), deskTools));
  const warned = found('order: W1, item: lamp', ', known: { item: chair }');
  expect(warned.filter((line) => line.includes('change'))).toEqual([
    'tasks/first.task.yaml:6:54 warning task/change-without-argument',
  ]);
  expect(found('order: W2', ', known: { order: W1 }').filter((line) => line.includes('change-without'))).toEqual([]);
  const changes = (known: string, changed: string) =>
    found(known, changed).filter((line) => / task\/(?:same|former)-/.test(line));
  expect(changes('order: W1', ', known: { order: W1 }')).toEqual([
    'tasks/first.task.yaml:6:61 warning task/same-change',
  ]);
  expect(changes('order: W1', ', known: { order: W2 }')).toEqual([
    'tasks/first.task.yaml:8:45 warning task/former-value',
  ]);
  expect(found('order: W1', '').filter((line) => line.includes('error'))).toEqual([]);
});

it.each([
  ['TypeScript', 'tools.ts', 'type Desk = { orders: Record<string, { status: string }> };\n', 'db.orders'],
  ['Python', 'tools.py', '', 'db["orders"]'],
])('names the table that the tools in %s read and the database does not have', (_, file, types, read) => {
  const tools = file === 'tools.ts' ? {} : { 'domain.yaml': 'name: desk\npythonTools: tools.py\n' };
  const code = `${types}${file === 'tools.ts' ? "import { defineTools } from 'rehearsal';\nconst { tool } = defineTools<{ agent: Desk }>();\n" : ''}`;
  const loaded = load({ ...tools, [file]: `${code}x = ${read}[id]\n`, 'database.json': ordersIn('order', 3) });
  const [found] = loaded.diagnostics.filter(({ code: each }) => each === 'database/missing-table');
  expect(found).toMatchObject({ line: 2, column: 2, severity: 'error', fix: { title: 'Change order to orders' } });
  expect(found?.message).toContain('reads a table orders');
});

it.each([
  ['tools.ts', 'db.notes ??= {};'],
  ['tools.ts', 'x = db.notes?.[id];'],
  ['tools.ts', 'if (!db.notes) db.notes = {};\nx = db.notes[id];'],
  ['tools.ts', 'if (id && db.notes) x = db.notes[id];'],
  ['tools.ts', "if (!Object.hasOwn(db, 'notes')) db.notes = {};\nx = db.notes[id];"],
  ['tools.ts', "const about = 'Reads db.notes.';"],
  ['tools.py', 'db.setdefault("notes", {})\nx = db["notes"][id]'],
  ['tools.py', 'x = db["notes"][id] if db.get("notes") else None'],
  ['tools.py', 'def f():\n    """Reads db.notes."""'],
])('accepts in %s a missing table that the tools create, expect to be missing or only name: %s', (file, use) => {
  const python = file === 'tools.py' ? { 'domain.yaml': 'name: desk\npythonTools: tools.py\n' } : {};
  const loaded = load({ ...python, [file]: `x = db["orders"][id]\n${use}\n`, 'database.json': ordersIn('orders', 3) });
  expect(shown(loaded).filter((line) => line.includes('missing-table'))).toEqual([]);
});

it.each([
  ['context.db.order[id]', 'tools.ts'],
  ['({ order }) => 1', 'database.json'],
  ['0; const { order } = db', 'tools.ts'],
  ['db.order?.[id]', 'tools.ts'],
])('with `x = %s`, a table with almost the same name is read, or it is the one to rename', (use, named) => {
  const loaded = load({ 'tools.ts': `x = ${use};\ny = db.orders[id];\n`, 'database.json': ordersIn('order', 3) });
  const found = loaded.diagnostics.filter(({ code }) => code === 'database/missing-table');
  expect(found.map(({ file }) => basename(file))).toEqual([named]);
});

it('a misspelt table in a tool is an error although another tool reads the table', () => {
  const code = 'x = db.orders[id];\ny = db.order[id];\n';
  const found = shown(load({ 'tools.ts': code })).filter((line) => line.includes('missing-table'));
  expect(found).toEqual(['tools.ts:2:8 error database/missing-table']);
});

it('a tool that is confirmed and has no sentence for a proposal is named', () => {
  const found = (words: string) =>
    shown(load({ 'domain.yaml': `name: desk\nlexicon:\n  tools:\n    cancel_order: { ${words} }\n` }, deskTools));
  const line = 'domain.yaml:4:5 info domain/no-proposal';
  expect(found('done: [It is gone.]')).toContain(line);
  expect(found('done: [It is gone.], propose: ["Shall I cancel {order}?"]')).not.toContain(line);
});

it('names the row that lacks a field of all other rows', () => {
  const found = (rows: number, code = '') =>
    shown(load({ 'tools.ts': code, 'database.json': ordersIn('orders', rows, 'W2') })).filter((line) =>
      line.includes('missing-field'),
    );
  expect(found(3)).toEqual(['database.json:4:2 info database/missing-field']);
  expect(found(2)).toEqual([]);
  expect(found(3, 'type Order = { status?: string };')).toEqual([]);
});

function ordersIn(table: string, rows: number, lacking = ''): string {
  const each = Array.from({ length: rows }, (_, index) => {
    const id = `W${index + 1}`;
    return `"${id}": {"sum": 1${id === lacking ? '' : ', "status": "a"'}}`;
  });
  return `{\n"${table}": {\n${each.join(',\n')}\n}}\n`;
}

it('finds a field that one row has in place of the field of all other rows', () => {
  const rows = (field: string) =>
    `{\n"orders": {"W1": {"status": "a"}, "W2": {"status": "b"}},\n"rooms": {"R1": {"free": 1}, "R2": {"free": 2, "note": "old"},\n  "R3": {"${field}": 3}}\n}\n`;
  const loaded = load({ 'database.json': rows('fre') });
  expect(shown(loaded)).toEqual(['database.json:4:11 warning database/other-field']);
  expect(loaded.diagnostics[0]).toMatchObject({
    message: 'Only the row R3 of rooms has a field fre. All others have free.',
    hint: 'Did you mean "free"?',
    fix: expect.anything(),
  });
  expect(shown(load({ 'database.json': rows('seats') }))).toEqual(['database.json:4:4 info database/missing-field']);
});

it.each([
  ['a number in quotes', '"seats": "80"', 'seats of S3 in shows is the text "80". All other rows have numbers there.'],
  [
    'a word for a truth value',
    '"late": "true"',
    'late of S3 in shows is the text "true". All other rows have true or false there.',
  ],
  [
    'a date in words',
    '"day": "8 May 2026"',
    'day of S3 in shows is the text "8 May 2026". All other rows have dates in ISO 8601 there.',
  ],
  [
    'an id of nothing',
    '"hall": "H9"',
    'hall of S3 in shows is H9, which halls does not have. All other rows have an id of halls there.',
  ],
])('finds the value of one row that is not like those of all others: %s', (_, wrong, message) => {
  const right = { seats: '"seats": 80', late: '"late": true', day: '"day": "2026-05-08"', hall: '"hall": "H1"' };
  const row = (own: object) => `{${Object.values({ ...right, ...own }).join(', ')}}`;
  const data = (own: object) =>
    `{"orders": {"W1": {"status": "a"}, "W2": {"status": "b"}}, "halls": {"H1": {"of": "a"}, "H2": {"of": "b"}},\n"shows": {"S1": ${row({})}, "S2": ${row({})},\n"S3": ${row(own)}}}\n`;
  const [field = ''] = /\w+/.exec(wrong) ?? [];
  const loaded = load({ 'database.json': data({ [field]: wrong }) });
  expect(loaded.diagnostics.map(({ line, message: said }) => [line, said])).toEqual([[3, `The ${message}`]]);
  expect(shown(load({ 'database.json': data({}) }))).toEqual([]);
  expect(shown(load({ 'database.json': data({ hall: '"hall": "the yard"', seats: '"seats": "none"' }) }))).toEqual([]);
});

it('compares a field of a result with what that tool can return', () => {
  const files = (field: string): Files => ({
    'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { orders: Record<string, { status: string }> } }>();
const input = z.object({ order: z.string() });
const answer = (order: string, row: object) => ({ order_id: order, ...row });
export const find_order = tool({
  description: 'Find.', effect: 'read', input, run: ({ order }, { db }) => answer(order, db.orders[order]!),
});
export const cancel_order = tool({ description: 'Cancel.', effect: 'write', input, run: () => ({ order: 1, refund: 2 }) });
`,
    'rules.yaml': `- { rule: confirm, check: never, tools: [cancel_order], when: 'last("find_order").${field} == null' }\n`,
    'tasks/first.task.yaml': good.replace(/(cancel_order, arguments: \{ order: )W1/, `$1"{result.${field}}"`),
  });
  for (const field of ['order_id', 'status']) expect(shown(load(files(field), deskTools))).toEqual([]);
  const loaded = load(files('refund'), deskTools);
  expect(shown(loaded)).toEqual([
    'rules.yaml:1:83 warning rule/unknown-field',
    'tasks/first.task.yaml:8:56 warning task/unknown-field',
  ]);
  expect(loaded.diagnostics[0]?.message).toBe('The result of find_order has no field refund.');
});

it.each([
  ['unordered: [tikets]', 'tikets', 'tickets'],
  ['unordered: [orders.*.tikets]', 'tikets', 'tickets'],
  ['tolerance: { amout: 0.5 }', 'amout', 'amount'],
])('compares a name under compare with the fields of the domain: %s', (compare, wrong, meant) => {
  const files = (text: string): Files => ({
    'domain.yaml': `name: desk\ncompare: { ${text} }\n`,
    'database.json': '{"orders": {"W1": {"status": "pending", "tickets": ["T1"], "amount": 3}}}',
  });
  const loaded = load(files(compare));
  expect(shown(loaded)).toEqual([expect.stringMatching(/^domain\.yaml:2:\d+ warning domain\/unknown-field$/)]);
  expect(loaded.diagnostics[0]).toMatchObject({
    message: expect.stringContaining(wrong),
    hint: `Did you mean "${meant}"?`,
  });
  expect(shown(load(files(compare.replace(wrong, meant))))).toEqual([]);
  expect(shown(load(files(compare.replace(wrong, 'elsewhere'))))).toEqual([]);
});

it('suggests the argument that is the id of a name, and not a value in place of itself', () => {
  const owner = { type: 'object', properties: { owner_id: { type: 'string' } }, required: ['owner_id'] };
  const tools = deskTools.map((each) => (each.name === 'cancel_order' ? { ...each, parameters: owner } : each));
  const hints = (name: string) => {
    const files = {
      'rules.yaml': `- { rule: confirm, check: confirmed, names: [${name}] }\n`,
      'database.json': '{"orders": {"W1": {"status": "pending", "owner": "Ada Brunner"}}}',
      ...task(
        good.replace(/actions:[\s\S]*/, 'actions: [{ tool: cancel_order, arguments: { owner_id: Ada Brunner } }]\n'),
      ),
    };
    return load(files, tools).diagnostics.map(({ code, hint }) => `${code} ${hint}`);
  };
  expect(hints('owner')).toContain('rule/unknown-argument Did you mean "owner_id"?');
  expect(hints('owner_id')).toContain(
    'task/untold-argument Add owner_id to user.known, or an action that looks it up.',
  );
});

it('finds the quote of a field of a text', () => {
  const source = { type: 'simulated', result: { type: 'string' } } as never;
  const tools = deskTools.map((each) => (each.name === 'find_order' ? { ...each, source } : each));
  const quoting = task(
    `${good.replace(/(cancel_order, arguments: \{ order: )W1/, '$1"{result.id}"')}evaluate: [actions]\ntrain: [actions]\n`,
  );
  const found = load({ ...quoting, 'rules.yaml': null }, tools).diagnostics.find(
    ({ code }) => code === 'task/unknown-name',
  );
  expect(`${found?.message} ${found?.hint}`).toMatch(
    /^\{result\.id\} quotes a field, and what the tools before it return is a text\. Only the fields of a result in JSON/,
  );
});

it('finds a state value of another kind than the rows have', () => {
  const files = (value: string): Files => ({
    'database.json': '{"orders": {"W1": {"status": "pending", "seats": 4}, "W2": {"status": "pending", "seats": 7}}}',
    ...task(`${good}state: [{ path: [orders, W1, seats], value: ${value} }]\n`),
  });
  const loaded = load(files('"3"'));
  expect(shown(loaded)).toEqual(['tasks/first.task.yaml:9:45 warning task/type-mismatch']);
  expect(loaded.diagnostics[0]?.message).toBe(
    'orders.W1.seats gets a text, and seats is a number in the rows of orders.',
  );
  expect(shown(load(files('3')))).toEqual([]);
});

it('finds a date of a row that does not exist, where other rows have dates', () => {
  const rows = (day: string) =>
    `{\n"slots": {"T1": {"day": "2026-02-28", "code": "4711-42-99"},\n  "T2": {"day": "${day}", "code": "4711-42-98"}}\n}\n`;
  const loaded = load({ 'database.json': rows('2026-02-30') });
  expect(shown(loaded)).toEqual(['database.json:3:18 warning database/wrong-date']);
  expect(loaded.diagnostics[0]?.message).toContain('2026-02-30 of slots.T2.day does not exist');
  expect(shown(load({ 'database.json': rows('2026-03-02') }))).toEqual([]);
});

it('reports a problem of an anchor once, also where aliases repeat it', () => {
  const again = `${second.replace(/known: .*/, 'known: *facts')}`;
  const tasks = [good.replace('known: { order: W1 }', 'known: &facts { order: { valu: W1 } }'), again];
  const listed = tasks.map((text) => text.replace(/^/gm, '  ').replace('  ', '- ').trimEnd());
  expect(shown(load({ 'tasks/first.task.yaml': `${listed.join('\n')}\n` }))).toEqual([
    'tasks/first.task.yaml:5:30 error task/unknown-key',
  ]);
});

describe('without running any code', () => {
  const cases: readonly [string, Files, readonly string[], string][] = [
    [
      'an unknown tool in a task',
      task(good.replace('tool: cancel_order', 'tool: cancle_order')),
      ['tasks/first.task.yaml:8:13 error task/unknown-tool'],
      'There is no tool cancle_order. Did you mean "cancel_order"?',
    ],
    [
      'an unknown tool in a script',
      task(`${good}script: [[{ tool: fly }]]\n`),
      ['tasks/first.task.yaml:9:19 error task/unknown-tool'],
      'There is no tool fly. The tools are find_order, cancel_order.',
    ],
    [
      'an unknown tool in an imported task, which stays as it is',
      task(`${good}script: [[{ tool: fly }]]\norigin: { benchmark: tau2, id: '1' }\n`),
      ['tasks/first.task.yaml:9:19 warning task/unknown-tool'],
      'There is no tool fly.',
    ],
    [
      'an unknown tool in a rule',
      { 'rules.yaml': '- { rule: confirm, check: before, tools: [cancel_order], require: [find_ordr] }' },
      ['rules.yaml:1:68 error rule/unknown-tool'],
      'There is no tool find_ordr. Did you mean "find_order"?',
    ],
    [
      'an unknown tool in the lexicon',
      { 'domain.yaml': 'name: desk\nlexicon: { tools: { fly: { done: [ok] } } }\n' },
      ['domain.yaml:2:21 error domain/unknown-tool'],
      'There is no tool fly.',
    ],
    [
      'an unknown rule',
      { 'rules.yaml': '- { rule: confrim, check: oneCall }' },
      ['rules.yaml:1:11 error rule/unknown-rule'],
      'The policy has no rule confrim. Did you mean "confirm"?',
    ],
    [
      'a mark without braces',
      {
        'policy.md': '# Desk\n\n- Ask for a yes. (#confirm)\n',
        'rules.yaml': '- { rule: confirm, check: oneCall }',
      },
      ['rules.yaml:1:11 error rule/unknown-rule'],
      'The policy has no rule confirm. policy.md:3 has (#confirm). Write the mark as {#confirm}.',
    ],
    [
      'an unknown persona',
      task(good.replace('persona: plain', 'persona: plane')),
      ['tasks/first.task.yaml:2:10 error task/unknown-persona'],
      'There is no persona plane. Did you mean "plain"?',
    ],
    [
      'a task id twice',
      more(second.replace('id: second', 'id: cancel')),
      ['tasks/second.task.yaml:1:5 error task/duplicate-id'],
      'The task id cancel is taken by ',
    ],
    [
      'two task ids that are one file on many disks',
      more(second.replace('id: second', 'id: Cancel')),
      ['tasks/second.task.yaml:1:5 warning task/same-file'],
      'The task id Cancel differs from cancel (',
    ],
    [
      'a task id that no file name holds',
      task(good.replace('id: cancel', `id: ${'a'.repeat(161)}`)),
      ['tasks/first.task.yaml:1:5 error task/wrong-value'],
      'a task id is at most 160 letters',
    ],
    [
      'a state in a text',
      task(`${good}state: [{ path: [orders, W1, status, by], value: me }]\n`),
      ['tasks/first.task.yaml:9:38 error task/unknown-path'],
      'orders.W1.status is "pending" in the agent database, so it has no fields.',
    ],
    [
      'a new table on the side of a user without database',
      task(`${good}state: [{ side: user, path: [lamp], value: {} }]\n`),
      ['tasks/first.task.yaml:9:9 error task/no-user-database'],
      'Name one in domain.yaml: userDatabase: user.json.',
    ],
    [
      'a persona id twice',
      { 'personas/other.persona.yaml': String(desk['personas/plain.persona.yaml']) },
      ['personas/plain.persona.yaml:1:5 error persona/duplicate-id'],
      'other.persona.yaml:1',
    ],
    [
      'the same task under two names',
      more(good.replace('id: cancel', 'id: second')),
      ['tasks/second.task.yaml:1:5 warning task/duplicate-content'],
      'says the same as cancel',
    ],
    [
      'the same task in two splits',
      more(`${good.replace('id: cancel', 'id: second')}split: test\n`),
      ['tasks/second.task.yaml:1:5 error task/split-leak'],
      'Keep it in one split',
    ],
    [
      'a fact known and unknown',
      task(good.replace('{ order: W1 }\n', '{ order: W1 }\n  unknown: [order]\n')),
      ['tasks/first.task.yaml:6:13 error task/fact-known-and-unknown'],
      'order is in both user.known and user.unknown',
    ],
    [
      'a change of an unknown fact',
      {
        ...task(
          good.replace('{ order: W1 }\n', '{ order: W1 }\n  change: { when: done, say: x, known: { ordr: W2 } }\n'),
        ),
        'personas/plain.persona.yaml': 'id: plain\ndescription: x\nbehaviours: { changes: true }\n',
      },
      ['tasks/first.task.yaml:6:42 error task/unknown-fact'],
      'Did you mean "order"?',
    ],
    [
      'a behaviour without words',
      { 'personas/plain.persona.yaml': 'id: plain\ndescription: x\nbehaviours: { insists: true }\n' },
      ['tasks/first.task.yaml:2:10 warning task/insist-missing'],
      'Write user.insist',
    ],
    [
      'words without a behaviour',
      task(good.replace('{ order: W1 }\n', '{ order: W1 }\n  insist: { say: x }\n')),
      ['tasks/first.task.yaml:6:3 warning task/insist-unused'],
      'does not have `insists: true`',
    ],
    [
      'a scripted task without script',
      task(`${good}agent: scripted\n`),
      ['tasks/first.task.yaml:9:8 error task/script-missing'],
      'The agent of this task is scripted',
    ],
    [
      'a scripted domain without scripts',
      { 'domain.yaml': 'name: desk\nagent: scripted\n' },
      ['tasks/first.task.yaml:1:5 error task/script-missing'],
      'The agent of the domain is scripted',
    ],
    [
      'a bad time',
      task(`${good}now: tomorrow\n`),
      ['tasks/first.task.yaml:9:6 error task/wrong-date'],
      'not a date and time',
    ],
    [
      'a time on a day that does not exist',
      task(`${good}now: 2026-04-31T08:30:00Z\n`),
      ['tasks/first.task.yaml:9:6 error task/wrong-date'],
      'that date or time does not exist',
    ],
    [
      'a number that has lost a zero',
      task(
        good
          .replace('{ order: W1 }\n', '{ order: W1, phone: 0791112233 }\n')
          .replace('arguments: { order: W1 }', 'arguments: { order: W1, phone: "0791112233" }'),
      ),
      [
        'tasks/first.task.yaml:5:30 warning task/number-for-text',
        'tasks/first.task.yaml:7:56 warning task/untold-argument',
      ],
      'phone is the number 791112233, and a gold action has the text "0791112233". Put the value in quotes',
    ],
    [
      'a misspelt quote of a result',
      task(
        good.replace(
          /tool: cancel_order, arguments: \{ order: W1 \}/,
          'tool: cancel_order, arguments: { order: "{reslt.order}" }',
        ),
      ),
      ['tasks/first.task.yaml:8:47 warning task/unknown-name'],
      '{reslt.order} is passed on as this text. Did you mean "{result.order}"?',
    ],
    [
      'a time in words',
      task(`${good}now: 1 May 2026\n`),
      ['tasks/first.task.yaml:9:6 error task/wrong-date'],
      'not a date and time in ISO 8601',
    ],
    [
      'a time that can be read in two ways',
      task(`${good}now: 03/04/2026 10:00\n`),
      ['tasks/first.task.yaml:9:6 error task/wrong-date'],
      'not a date and time',
    ],
    [
      'a time zone that is not one',
      { 'domain.yaml': 'name: desk\ntimeZone: Europe/Zürich\n' },
      ['domain.yaml:2:11 error domain/wrong-value'],
      'timeZone is "Europe/Zürich", but the name of a time zone is expected. Did you mean "Europe/Zurich"?',
    ],
    [
      'a bad time of the domain',
      { 'domain.yaml': 'name: desk\nnow: soon\n' },
      ['domain.yaml:2:6 error domain/wrong-date'],
      'not a date and time',
    ],
    [
      'state at a place that is not there',
      task(`${good}state: [{ path: [orders, W9, status], value: x }]\n`),
      ['tasks/first.task.yaml:9:26 error task/unknown-path'],
      'There is no W9 in orders.',
    ],
    [
      'removing what is not there',
      task(`${good}state: [{ path: [orders, W9], value: null }]\n`),
      ['tasks/first.task.yaml:9:26 error task/unknown-path'],
      'There is no W9 in orders.',
    ],
    [
      'state of a new entry',
      task(`${good}state: [{ path: [orders, W9], value: {} }, { path: [orders, W9, status], value: x }]\n`),
      [],
      '',
    ],
    [
      'state of a user without database',
      task(`${good}state: [{ side: user, path: [phone, on], value: true }]\n`),
      ['tasks/first.task.yaml:9:9 error task/no-user-database'],
      'Name one in domain.yaml: userDatabase: user.json.',
    ],
    [
      'an assertion that demands nothing',
      task(`${good}assertions: [{ path: a }]\nevaluate: [assertions]\n`),
      ['tasks/first.task.yaml:9:14 error task/assertion-empty'],
      'equals:, contains: or exists:',
    ],
    [
      'an assertion on an unknown source',
      task(`${good}assertions: [{ in: memory, path: a, exists: true }]\nevaluate: [assertions]\n`),
      ['tasks/first.task.yaml:9:20 error task/unknown-source'],
      'There is no state of memory.',
    ],
    [
      'an assertion that counts for nothing',
      task(`${good}assertions: [{ path: orders, exists: true }]\n`),
      ['tasks/first.task.yaml:9:1 warning task/unused-demand'],
      'Add assertions to evaluate:',
    ],
    [
      'a reward that rests on nothing',
      task(`${good}evaluate: [assertions]\n`),
      ['tasks/first.task.yaml:9:12 error task/empty-basis'],
      'so it always holds',
    ],
    [
      'a task that needs nothing',
      {
        ...task(good.replace(/actions[\s\S]*/, '').replace('Cancel', 'Ask about')),
        'tools.ts': null,
        'rules.yaml': null,
      },
      ['tasks/first.task.yaml:1:5 warning task/nothing-to-do'],
      'does nothing gets reward 1',
    ],
    [
      'a tool misspelt in the policy',
      { 'policy.md': '- Call `find_orders` first. {#confirm}\n' },
      ['policy.md:1:9 warning policy/unknown-tool'],
      'Did you mean "find_order"?',
    ],
    [
      'a tool that is not exported',
      { 'tools.ts': `${desk['tools.ts']}const refund = tool({ description: 'Refunds.' });\n` },
      ['tools.ts:6:1 warning tool/not-exported'],
      'Write `export const refund`, or remove it.',
    ],
    [
      'a tool that another one is made of',
      { 'tools.ts': `${desk['tools.ts']}const refund = tool({ description: 'Refunds.' });\nuse(refund);\n` },
      [],
      '',
    ],
    [
      'names that only a server knows',
      { 'domain.yaml': `name: desk\n${server}`, ...task(good.replace('tool: find_order', 'tool: read_graph')) },
      ['tools.ts:4:14 info tool/unused'],
      '',
    ],
  ];
  it.each(cases)('%s', (_, files, findings, words) => {
    const loaded = load(files);
    expect(shown(loaded)).toEqual(findings);
    expect(loaded.diagnostics.map(({ message, hint }) => `${message} ${hint}`).join()).toContain(words);
  });
});

describe('with the tools described', () => {
  const call = (text: string) => task(good.replace('tool: cancel_order, arguments: { order: W1 }', text));
  const cases: readonly [string, Files, readonly string[], string][] = [
    [
      'a missing argument',
      call('tool: cancel_order'),
      ['tasks/first.task.yaml:8:5 error task/bad-arguments'],
      'cancel_order: the argument order is missing.',
    ],
    [
      'an unknown argument',
      call('tool: cancel_order, arguments: { order: W1, ordr: 1 }'),
      ['tasks/first.task.yaml:8:51 error task/bad-arguments'],
      'the argument ordr is unknown. Did you mean "order"?',
    ],
    [
      'an argument of another type',
      call('tool: cancel_order, arguments: { order: 1 }'),
      ['tasks/first.task.yaml:8:47 error task/bad-arguments'],
      'order must be of type string. Write it in quotes: "1" is a text',
    ],
    [
      'a quote of a result without quotation marks',
      call('tool: cancel_order, arguments: { order: {result.order} }'),
      ['tasks/first.task.yaml:8:47 error task/bad-arguments'],
      'order must be of type string. Write it in quotes: "{result.order}".',
    ],
    [
      'a bad script is only a warning',
      task(`${good}script: [[{ tool: find_order }]]\n`),
      ['tasks/first.task.yaml:9:11 warning task/bad-arguments'],
      'the argument order is missing',
    ],
    [
      'the wrong seat',
      call('tool: cancel_order, by: user, arguments: { order: W1 }'),
      ['tasks/first.task.yaml:8:5 error task/wrong-seat'],
      'Write `by: agent`.',
    ],
    [
      'an unknown argument in a check',
      { 'rules.yaml': '- { rule: confirm, check: confirmed, names: [ordr] }' },
      ['rules.yaml:1:46 error rule/unknown-argument'],
      'Did you mean "order"?',
    ],
    [
      'an unknown argument in the lexicon',
      { 'domain.yaml': "name: desk\nlexicon: { tools: { cancel_order: { propose: ['{odrer}?'] } } }\n" },
      ['domain.yaml:2:47 error domain/unknown-argument'],
      '{odrer} is not an argument of cancel_order. Did you mean "order"?',
    ],
    [
      'a field that a simulated tool does not return, in the lexicon',
      {
        'tools/weather.tool.yaml': `name: find_weather
description: Weather of a day.
behaviour: Sunny.
owner: user
parameters: { type: object, properties: { day: { type: string } }, required: [day] }
result: { type: object, properties: { sky: { type: string } } }
`,
        'domain.yaml':
          "name: desk\nuserDatabase: user.json\nlexicon: { tools: { find_weather: { tell: ['{day} {sky} {result} {sku}'] } } }\n",
        'user.json': '{}',
      },
      ['domain.yaml:3:44 error domain/unknown-argument', 'tools/weather.tool.yaml:1:7 warning tool/no-simulator'],
      '{sku} is not an argument or result of find_weather. Did you mean "sky"?',
    ],
    [
      'a tool that no task uses',
      task(good.replace(/ {2}- \{ tool: find_order.*\n/, '')),
      ['tools.ts:4:14 info tool/unused'],
      'No task has find_order',
    ],
    [
      'only reads',
      task(good.replace(/ {2}- \{ tool: cancel_order.*\n/, '').replace('Cancel', 'Ask about')),
      [
        'policy.md:4:1 info policy/uncovered-rule',
        'tasks/first.task.yaml:1:5 warning task/nothing-to-do',
        'tools.ts:5:14 info tool/unused',
      ],
      'only tools with effect: read (find_order). If one of them changes the database, declare effect: write',
    ],
  ];
  it.each([
    ['Look it up, then use find_order.', ['policy.md:6:22 warning policy/user-tool'], {}],
    ['Ask the customer to find the order.', [], {}],
    ['Look it up, then use cancel_order.', [], {}],
    [
      'Look it up, then use find_order.',
      [],
      { environments: { shop: { adapter: 'tau2', settings: {}, state: 'database' } } },
    ],
  ])('a policy that says %j to an agent without find_order', (line, found, more) => {
    const tools = deskTools.map((each) => (each.name === 'find_order' ? { ...each, owner: 'user' as const } : each));
    const files = {
      'policy.md': `${desk['policy.md']}\n${line}\n`,
      'domain.yaml': `name: desk\nuserDatabase: user.json\n${Object.keys(more).length > 0 ? JSON.stringify(more).slice(1, -1) : ''}\n`,
      'user.json': '{}',
    };
    const codes = shown(load(files, tools)).filter((each) => each.includes('policy/user-tool'));
    expect(codes).toEqual(found);
  });

  it.each(cases)('%s', (_, files, findings, words) => {
    const loaded = load(files, deskTools);
    expect(shown(loaded)).toEqual(findings);
    expect(loaded.diagnostics.map(({ message, hint }) => `${message} ${hint}`).join()).toContain(words);
  });

  it('checks the names of tools that a server lists', () => {
    const [first, other] = deskTools;
    if (!first || !other) throw new Error('the desk has two tools');
    const remote = { ...first, source: { type: 'mcp', server: 'memory' } as const };
    const loaded = load({ 'domain.yaml': `name: desk\n${server}` });
    const complete = completeDomain(
      loaded,
      [...deskTools],
      [
        remote,
        { ...remote, name: 'a_b', source: { ...remote.source, tool: 'a b' } },
        { ...remote, name: 'list', parameters: { type: 'object', $ref: '#/none' } },
        {
          ...remote,
          name: 'endless',
          parameters: { $ref: '#/$defs/a', type: 'object', $defs: { a: { $ref: '#/$defs/a' } } },
        },
        { ...remote, name: 'odd', leftOut: { reason: 'it has no name', hint: 'Report it.' } },
        ...['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...remote, name, leftOut: { reason: 'it is slow', hint: '' } })),
      ],
    );
    expect(shown(complete)).toEqual([
      'domain.yaml:3:3 error tool/duplicate-name',
      'domain.yaml:3:3 warning tool/left-out',
      'domain.yaml:3:3 warning tool/left-out',
      'domain.yaml:3:3 info tool/renamed',
      'domain.yaml:3:3 warning tool/unchecked-schema',
      'domain.yaml:3:3 warning tool/unchecked-schema',
    ]);
    const messages = complete.diagnostics.map(({ message }) => message);
    expect(messages).toContain('The tool "odd" is left out: it has no name.');
    expect(messages).toContain('5 tools ("a", "b", "c" and 2 more) are left out, each for this reason: it is slow.');
    expect(messages).toContain(
      'The arguments of endless are not checked before a call: its JSON Schema cannot be compiled (the reference #/$defs/a leads back to itself).',
    );
    const names = complete.domain.tools.map(({ name }) => name);
    expect(names).toEqual(['find_order', 'cancel_order', 'a_b', 'list', 'endless']);
  });

  it('does not check names of a server that was not asked', () => {
    const loaded = load({
      'domain.yaml': `name: desk\n${server}`,
      ...task(good.replace('tool: find_order', 'tool: read_graph')),
    });
    expect(shown(completeDomain(loaded, deskTools, null))).toEqual(['tools.ts:4:14 info tool/unused']);
    expect(shown(completeDomain(loaded, deskTools, []))).toContain(
      'tasks/first.task.yaml:7:13 error task/unknown-tool',
    );
  });
});

describe('tools are found by a light scan', () => {
  const cases: readonly [string, Files, readonly string[]][] = [
    ['a type of the constant', { 'tools.ts': 'export const a: Tool = tool({});' }, ['a']],
    ['a maker with a name', { 'tools.ts': 'export const a = desk.tool({});' }, ['a']],
    [
      'comments',
      { 'tools.ts': '// export const a = tool({});\n/* export const b = tool({}); */\nexport const c = tool({});' },
      ['c'],
    ],
    [
      'a list of exports',
      { 'tools.ts': 'const a = tool({});\nconst b = tool({});\nexport { a, b as c };' },
      ['a', 'c'],
    ],
    [
      'another file',
      { 'tools.ts': "export * from './more.ts';\nexport const a = tool({});", 'more.ts': 'export const b = tool({});' },
      ['a', 'b'],
    ],
    [
      'one name of another file',
      { 'tools.ts': "export { b as d } from './more.ts';", 'more.ts': 'export const b = tool({});' },
      ['d'],
    ],
    [
      'files that import each other',
      {
        'tools.ts': "export * from './more.ts';",
        'more.ts': "export * from './tools.ts';\nexport const b = tool({});",
      },
      ['b'],
    ],
  ];
  it.each(cases)('%s', (_, files, names) => {
    expect(load(files).toolNames.toSorted()).toEqual(names);
  });

  it('does not check names if an export is not understood', () => {
    expect(shown(load({ 'tools.ts': 'export const find_order = make();' }))).toEqual([]);
  });
});

describe('one mistake does not hide another one', () => {
  const wrongGoal = good.replace('goal: Cancel order W1.', 'goal: 5');
  const rule = String(desk['rules.yaml']);
  const peek = 'name: peek\ndescription: Looks.\neffect: reed\nbehaviour: It looks.\n';
  const cases: readonly [string, Files, readonly string[]][] = [
    [
      'a persona, a tool and an argument beside a wrong type in a task',
      task(
        wrongGoal
          .replace('persona: plain', 'persona: plane')
          .replace('tool: find_order', 'tool: find_ordr')
          .replace('cancel_order, arguments: { order', 'cancel_order, arguments: { ordr'),
      ),
      [
        'tasks/first.task.yaml:2:10 error task/unknown-persona',
        'tasks/first.task.yaml:4:9 error task/wrong-type',
        'tasks/first.task.yaml:7:13 error task/unknown-tool',
        'tasks/first.task.yaml:8:27 error task/bad-arguments',
        'tasks/first.task.yaml:8:40 error task/bad-arguments',
      ],
    ],
    [
      'a required key that is misspelt is not missing as well',
      task(good.replace('persona: plain', 'persna: plain')),
      ['tasks/first.task.yaml:2:1 error task/unknown-key'],
    ],
    [
      'a key that is missing, and a tool',
      task(good.replace('persona: plain\n', '').replace('tool: find_order', 'tool: find_ordr')),
      ['tasks/first.task.yaml:1:1 error task/missing-key', 'tasks/first.task.yaml:6:13 error task/unknown-tool'],
    ],
    [
      'the elements of a list with a wrong one are not judged',
      task(`${good}assertions: [5, { that: "db.orders.W1.state == 1", in: nowhere }]\n`),
      ['tasks/first.task.yaml:9:14 error task/wrong-type'],
    ],
    [
      'a draft',
      task(`${wrongGoal.replace('persona: plain', 'persona: plane')}draft: true\n`),
      ['tasks/first.task.yaml:2:10 warning task/unknown-persona', 'tasks/first.task.yaml:4:9 warning task/wrong-type'],
    ],
    [
      'two tasks of one file',
      task(
        [wrongGoal, second.replace('plain', 'plane')]
          .map((text) => `- ${text.trim().replaceAll('\n', '\n  ')}\n`)
          .join(''),
      ),
      ['tasks/first.task.yaml:4:11 error task/wrong-type', 'tasks/first.task.yaml:10:12 error task/unknown-persona'],
    ],
    [
      'a rule and a task',
      {
        'rules.yaml': rule.replace('check: confirmed', 'check: confirmd'),
        ...task(wrongGoal),
        ...more(second.replace('plain', 'plane')),
      },
      [
        'rules.yaml:1:27 error rule/wrong-value',
        'tasks/first.task.yaml:4:9 error task/wrong-type',
        'tasks/second.task.yaml:2:10 error task/unknown-persona',
      ],
    ],
    [
      'the name, the tools and the keys of a rule',
      { 'rules.yaml': '- { rule: confrm, check: before, toolz: [cancel_order], require: [find_ordr], gates: true }\n' },
      [
        'rules.yaml:1:11 error rule/unknown-rule',
        'rules.yaml:1:34 error rule/unknown-key',
        'rules.yaml:1:67 error rule/unknown-tool',
        'rules.yaml:1:79 error rule/unknown-key',
      ],
    ],
    [
      'the condition of a rule, whose arguments depend on the tools, is not judged without them',
      { 'rules.yaml': '- { rule: confirm, check: onlyIf, toolz: [cancel_order], condition: "args.ordr == 1" }\n' },
      ['rules.yaml:1:35 error rule/unknown-key'],
    ],
    [
      'domain.yaml and what the other files say',
      {
        'domain.yaml': 'name: desk\nturnCap: ten\nlexicon: { tools: { cancl_order: {} } }\n',
        'rules.yaml': rule.replace('names: [order]', 'names: [ordr]'),
        ...task(good.replace('plain', 'plane')),
      },
      [
        'domain.yaml:2:10 error domain/wrong-type',
        'domain.yaml:3:21 error domain/unknown-tool',
        'rules.yaml:1:46 error rule/unknown-argument',
        'tasks/first.task.yaml:2:10 error task/unknown-persona',
      ],
    ],
    [
      'a key of domain.yaml that names files: each file is judged alone',
      {
        'domain.yaml': 'name: desk\ntoolz: other.ts\n',
        'tools.ts': null,
        'policy.md': null,
        ...task(wrongGoal.replace('plain', 'plane')),
      },
      ['domain.yaml:2:1 error domain/unknown-key', 'tasks/first.task.yaml:4:9 error task/wrong-type'],
    ],
    [
      'a domain.yaml that is not YAML: each file is judged alone, where it names it',
      {
        'domain.yaml': 'name: desk\ntasks: cases\nlexicon: { facts\n',
        'cases/first.task.yaml': wrongGoal,
        'tasks/first.task.yaml': null,
        'personas/plain.persona.yaml': 'id: plain\ndescription: 5\n',
      },
      [
        'cases/first.task.yaml:4:9 error task/wrong-type',
        'domain.yaml:3:10 error domain/syntax',
        'personas/plain.persona.yaml:2:14 error persona/wrong-type',
      ],
    ],
    [
      'a simulated tool that cannot be read is known by its name',
      {
        'tools/peek.tool.yaml': peek,
        ...task(good.replace('persona: plain', 'persona: plane').replace('tool: find_order', 'tool: peek')),
      },
      ['tasks/first.task.yaml:2:10 error task/unknown-persona', 'tools/peek.tool.yaml:3:9 error tool/wrong-value'],
    ],
  ];
  it.each(cases)('%s', (_, files, expected) => {
    expect(shown(load(files, deskTools)).toSorted()).toEqual(expected.toSorted());
  });
});
