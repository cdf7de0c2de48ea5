import { expect, it } from 'vitest';
import type { Tool } from '../../../src/engine/core/domain/tool.ts';
import { edited } from '../../../src/engine/shell/domain/fixes.ts';
import { parseYaml } from '../../../src/engine/shell/source/yaml.ts';
import { completionsAt } from '../../../src/language/completion/completion.ts';
import { deskTools } from '../../engine/shell/load/domainFolder.ts';
import { labelsAt, marked, offeredAt, office } from '../marked.ts';

const taskWith = (lines: string) => `- id: third
  persona: plain
  user:
    goal: Cancel order W1.
    known: { order: W1 }
${lines}`;

it.each([
  [
    'a tool of a gold action',
    taskWith('  actions:\n    - { tool: | }\n'),
    ['find_order', 'cancel_order', 'find_weather'],
  ],
  [
    'a tool of which a part is written',
    taskWith('  actions:\n    - { tool: can| }\n'),
    ['find_order', 'cancel_order', 'find_weather'],
  ],
  ['a tool in a block', taskWith('  actions:\n    - tool: |\n'), ['find_order', 'cancel_order', 'find_weather']],
  ['a persona', '- id: a\n  persona: |\n  user: { goal: G. }\n', ['plain']],
  ['a split', '- id: a\n  split: |\n  persona: plain\n', ['train', 'test']],
  ['a verifier', taskWith('  verifiers: [|]\n'), ['tidy']],
  ['a basis', taskWith('  evaluate: [|]\n'), ['database', 'assertions', 'communicate']],
  ['an argument of a gold action', taskWith('  actions:\n    - { tool: cancel_order, arguments: { | } }\n'), ['order']],
  [
    'an argument of a simulated tool',
    taskWith('  actions:\n    - { tool: find_weather, arguments: { | } }\n'),
    ['day'],
  ],
  [
    'an argument in a block',
    taskWith('  actions:\n    - tool: cancel_order\n      arguments:\n        |\n'),
    ['order'],
  ],
  [
    'what the user knows, then rows',
    taskWith('  actions:\n    - { tool: cancel_order, arguments: { order: | } }\n'),
    ['W1', 'W2'],
  ],
  ['a table of a state', taskWith('  state:\n    - { path: [|], value: done }\n'), ['orders']],
  ['a row of a state', taskWith('  state:\n    - { path: [orders, |], value: done }\n'), ['W1', 'W2']],
  ['a field of a state', taskWith('  state:\n    - { path: [orders, W1, |], value: done }\n'), ['status']],
  ['a value of a state', taskWith('  state:\n    - { path: [orders, W1, status], value: | }\n'), ['pending', 'done']],
  ['a place of the user', taskWith('  state:\n    - { side: user, path: [phone, |], value: 1 }\n'), ['battery']],
  [
    'a path of an assertion',
    taskWith('  assertions:\n    - { path: orders.W1.|, equals: done }\n'),
    ['orders.W1.status'],
  ],
  [
    'a value of an assertion',
    taskWith('  assertions:\n    - { path: orders.W1.status, equals: | }\n'),
    ['pending', 'done'],
  ],
  ['a fact', taskWith('').replace('known: { order: W1 }', 'unknown: [|]'), ['order', 'reason']],
])('offers %s', (_, text, expected) => {
  expect(labelsAt('tasks/third.task.yaml', text).slice(0, expected.length)).toEqual(expected);
});

it.each([
  ['a rule', '- { rule: |, check: oneCall }\n', ['look-up', 'confirm']],
  ['a check', '- { rule: confirm, check: | }\n', ['before', 'confirmed', 'oneCall']],
  [
    'tools of a check',
    '- { rule: confirm, check: before, tools: [|] }\n',
    ['find_order', 'cancel_order', 'find_weather'],
  ],
  ['words for tools', '- { rule: confirm, check: before, tools: | }\n', ['writes', 'all']],
  ['what must be named', '- { rule: confirm, check: confirmed, names: [|] }\n', ['order', 'day', 'db', 'user']],
  ['tables for what must be named', '- { rule: confirm, check: confirmed, names: [db.|] }\n', ['orders']],
  [
    'arguments of the tools for what must be named',
    '- rule: confirm\n  check: confirmed\n  tools: [find_weather]\n  names:\n    - db.orders[args.|\n',
    ['day'],
  ],
  [
    'fields of a row that must be named',
    '- { rule: confirm, check: confirmed, names: ["db.orders[args.order].|"] }\n',
    ['status'],
  ],
  ['lists of phrases', '- { rule: confirm, check: never, when: "says(message, phrases.|)" }\n', ['soon', 'late']],
  ['tables', '- { rule: confirm, check: judge, question: Q, when: db.| }\n', ['orders']],
  ['fields of a row', '- { rule: confirm, check: judge, question: Q, when: "db.orders[args.order].|" }\n', ['status']],
  ['rows in brackets', '- { rule: confirm, check: judge, question: Q, when: \'db.orders["|"]\' }\n', ['W1', 'W2']],
  ['nothing of what objects inherit', '- { rule: confirm, check: judge, question: Q, when: "constructor[0].|" }\n', []],
  ['arguments', '- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: args.|\n', ['order']],
  [
    'values of a field',
    '- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders.W1.status == "|"\n',
    ['pending', 'done'],
  ],
  [
    'tools in last',
    '- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: last("|") != null\n',
    ['find_order', 'cancel_order'],
  ],
  [
    'tools that calls are compared with',
    '- rule: confirm\n  check: never\n  when: any(calls, c, c.tool == "|")\n',
    ['find_order', 'cancel_order'],
  ],
  [
    'what a call has',
    '- rule: confirm\n  check: never\n  when: any(calls, c, c.|)\n',
    ['tool', 'args', 'result', 'failed', 'by', 'step'],
  ],
  [
    'fields of an element in a folded text',
    '- rule: confirm\n  check: never\n  when: >-\n    turn > 1 and\n    any(db.orders, o, o.|)\n',
    ['status'],
  ],
  ['names', '- { rule: confirm, check: never, when: | }\n', ['db', 'user', 'calls']],
])('offers %s in rules.yaml', (_, text, expected) => {
  expect(labelsAt('rules.yaml', text).slice(0, expected.length)).toEqual(expected);
});

const sentence = (tool: string, lines: string) => `name: desk
policy: policy.md
userDatabase: user.json
lexicon:
  tools:
    ${tool}: ${lines}
`;
const weather = `name: find_weather
description: Weather of a day.
behaviour: Sunny.
owner: user
parameters: { type: object, properties: { day: { type: string } }, required: [day] }
result: { type: object, properties: { sky: { type: string }, day: { type: string } } }
`;

it.each([
  ['behind an open brace', sentence('cancel_order', "{ propose: ['Shall I cancel {|?'] }"), '{order}?'],
  [
    'of which a part is written',
    sentence('cancel_order', "{ done: ['Done, {or| is gone.'] }"),
    'Done, {order} is gone.',
  ],
  ['within the word', sentence('cancel_order', "{ done: ['Done, {o|r} is gone.'] }"), 'Done, {order} is gone.'],
  [
    'between braces that are closed',
    sentence('cancel_order', '{ instruct: ["Cancel {|}, please."] }'),
    'Cancel {order}, please.',
  ],
  [
    'behind signs that are escaped',
    sentence('cancel_order', '{ propose: ["\\"It\'s\\" {|}?"] }'),
    '"It\'s\\" {order}?',
  ],
  [
    'without quotes',
    sentence('cancel_order', '\n      propose:\n        - Shall I cancel {|'),
    'Shall I cancel {order}\n',
  ],
  [
    'in a block',
    sentence('cancel_order', '\n      propose:\n        - >-\n          Shall I\n          cancel {|?'),
    'cancel {order}?',
  ],
])('offers an argument in a sentence of the lexicon %s', (_, text, expected) => {
  expect(labelsAt('domain.yaml', text)).toEqual(['order']);
  expect(taken('domain.yaml', text, 'order')).toContain(expected);
});

it.each([
  ['nothing outside of braces', "{ propose: ['Shall I cancel |?'] }"],
  ['nothing behind a brace that is closed', "{ propose: ['Shall I cancel {order}|?'] }"],
  ['nothing in words that ask for it', "{ synonyms: ['{|'] }"],
])('offers %s', (_, text) => {
  expect(labelsAt('domain.yaml', sentence('cancel_order', text))).toEqual([]);
});

it('offers in what a user tells also the fields of the result, and all of it', () => {
  const files = { ...office, 'tools/weather.tool.yaml': weather };
  const text = sentence('find_weather', "{ tell: ['It is {|}.'] }");
  expect(labelsAt('domain.yaml', text, files)).toEqual(['day', 'sky', 'result']);
  const told = offeredAt('domain.yaml', text, files).map(({ label, detail }) => `${label}: ${detail}`);
  expect(told).toEqual(['day: string', 'sky: of the result, string', 'result: all of the result']);
  expect(labelsAt('domain.yaml', sentence('cancel_order', "{ tell: ['{|}'] }"))).toEqual(['order', 'result']);
});

it('offers the keys that a check has, and none of another one', () => {
  const labels = labelsAt('rules.yaml', '- rule: confirm\n  check: before\n  |\n');
  expect(labels).toEqual(expect.arrayContaining(['tools', 'require', 'same', 'gate']));
  expect(labels).not.toContain('question');
  expect(labels).not.toContain('rule');
});

it('offers the keys of a task that are not there yet, required ones first, and what they mean', () => {
  const offers = offeredAt('tasks/third.task.yaml', '- id: third\n  |\n');
  const keys = offers.filter(({ kind }) => kind === 'key').toSorted((a, b) => a.rank - b.rank);
  expect(keys.slice(0, 2).map(({ label }) => label)).toEqual(['persona', 'user']);
  expect(keys.find(({ label }) => label === 'setUp')?.documentation).toMatch(/environment/);
  expect(keys.map(({ label }) => label)).not.toContain('id');
});

it.each([
  ['personas/other.persona.yaml', '|'],
  ['personas/other.persona.yaml', 'de|'],
  ['tasks/third.task.yaml', '|'],
  ['rules.yaml', '- |\n'],
  ['rules.yaml', '- rule: confirm\n  |\n'],
  ['tasks/third.task.yaml', taskWith('  faults:\n    - |\n')],
])('offers each key once in %s at %j', (path, text) => {
  const keys = offeredAt(path, text).flatMap(({ kind, label }) => (kind === 'key' ? [label] : []));
  expect(keys.length).toBeGreaterThan(0);
  expect(keys).toEqual([...new Set(keys)]);
});

it('a key of an empty file is written without a dash', () => {
  expect(taken('personas/other.persona.yaml', '|', 'id')).toBe('id: ');
});

it('offers the keys of a rule in the order of its schema, those that every check has first', () => {
  const labels = labelsAt('rules.yaml', '- |\n');
  expect(labels.slice(0, 8)).toEqual(['rule', 'check', 'gate', 'when', 'layer', 'tools', 'require', 'same']);
  expect(offeredAt('rules.yaml', '- |\n').find(({ label }) => label === 'tools')?.detail).not.toContain('required');
});

/** Returns the text after a completion is accepted. */
function taken(path: string, text: string, label: string): string {
  const { at, insert } = offeredAt(path, text).find((each) => each.label === label) ?? expect.fail(`no ${label}`);
  return edited(text.replace('|', ''), [{ ...at, text: insert.replace('$0', '') }]);
}

it.each([
  ['nothing is written of it', '- id: third\n  |\n  user: { goal: G. }\n'],
  ['a part is written', '- id: third\n  pe|\n  user: { goal: G. }\n'],
  ['the cursor is within the word', '- id: third\n  pe|r\n  user: { goal: G. }\n'],
  ['a blank line follows', '- id: third\n  pe|\n\n  user: { goal: G. }\n'],
  ['lines end as on Windows', '- id: third\r\n  pe|\r\n  user: { goal: G. }\r\n'],
  ['it is the first of an item', '- |\n  id: third\n  user: { goal: G. }\n'],
])('a key between others leaves them as they are where %s', (_, text) => {
  const made = text.replace(/(?:pe)?\|r?/, 'persona: ');
  expect(taken('tasks/third.task.yaml', text, 'persona')).toBe(made);
  const labels = labelsAt('tasks/third.task.yaml', text);
  expect(labels).not.toContain('user');
  expect(labels).not.toContain('id');
});

it('a key between those of a check is one that this check has', () => {
  const text = '- rule: confirm\n  ga|\n  check: before\n  tools: writes\n';
  const labels = labelsAt('rules.yaml', text);
  expect(labels).toEqual(expect.arrayContaining(['gate', 'require', 'same']));
  expect(labels).not.toContain('question');
  expect(taken('rules.yaml', text, 'gate')).toBe(text.replace('ga|', 'gate: '));
});

it('a fact and an argument between others are written with their colons', () => {
  const known = '- id: a\n  persona: plain\n  user:\n    goal: G.\n    known:\n      |\n      order: W1\n';
  expect(taken('tasks/third.task.yaml', known, 'reason')).toBe(known.replace('|', 'reason: '));
  const args = taskWith('  actions:\n    - tool: cancel_order\n      arguments:\n        or|\n      by: agent\n');
  expect(taken('tasks/third.task.yaml', args, 'order')).toBe(args.replace('or|', 'order: '));
});

it.each([
  ['agent: |', ['gold', 'scripted', 'human', 'openai:MODEL', 'openai:MODEL@BASE_URL', 'agent:FILE']],
  ['user: |', ['agenda', 'scripted', 'human', 'openai:MODEL', 'openai:MODEL@BASE_URL']],
  ['user: { train: | }', ['agenda', 'scripted', 'human', 'openai:MODEL', 'openai:MODEL@BASE_URL']],
  ['simulator: |', ['openai:MODEL', 'openai:MODEL@BASE_URL']],
])('offers who can speak at %s of domain.yaml', (text, expected) => {
  expect(labelsAt('domain.yaml', `name: desk\n${text}\n`).slice(0, expected.length)).toEqual(expected);
});

it('offers only the arguments of the tools that a check or a receipt is about', () => {
  const check = '- rule: confirm\n  check: onlyIf\n  tools: [find_weather]\n  condition: args.|\n';
  expect(labelsAt('rules.yaml', check)).toEqual(['day']);
  const receipt = taskWith('  receipts:\n    - { tool: find_weather, when: args.| }\n');
  expect(labelsAt('tasks/third.task.yaml', receipt)).toEqual(['day']);
});

it('does not take words of a text with several lines for keys', () => {
  expect(labelsAt('tasks/third.task.yaml', '- id: a\n  user:\n    goal: You want\n      to|\n      know\n')).toEqual(
    [],
  );
  expect(
    labelsAt('tasks/third.task.yaml', '- id: a\n  user:\n    goal: >-\n      You\n      to|\n      know\n'),
  ).toEqual([]);
});

it('what is chosen behind a quote that is open stays on its line', () => {
  const text = taskWith('  actions:\n    - { tool: cancel_order, arguments: { order: "| } }\n  evaluate: [database]\n');
  for (const { at } of offeredAt('tasks/third.task.yaml', text)) expect(at.endLine).toBe(at.line);
});

it('a row is offered with the name of its table', () => {
  const text = taskWith('  actions:\n    - { tool: cancel_order, arguments: { order: | } }\n');
  expect(offeredAt('tasks/third.task.yaml', text).find(({ label }) => label === 'W2')?.detail).toBe('row of orders');
});

it.each([
  ['behind a backtick', '- Use `| first.\n', ['find_order', 'cancel_order']],
  ['of which two letters are written', '- Use fi| first.\n', ['find_order', 'cancel_order']],
])('offers tools in the policy %s', (_, text, expected) => {
  expect(labelsAt('policy.md', text).slice(0, expected.length)).toEqual(expected);
});

it('offers the names that tools have on their server under rename:', () => {
  const tool: Tool = {
    ...(deskTools[0] as Tool),
    name: 'ship_order',
    source: { type: 'mcp', server: 'post', tool: 'ship.order' },
  };
  const text = 'name: desk\nmcpServers:\n  post:\n    command: x\n    rename:\n      |\n';
  const { domain, at } = marked('domain.yaml', text, office, [...deskTools, tool]);
  expect(completionsAt(domain, at).map(({ label }) => label)).toContain('ship.order');
});

it('offers ids in the policy that checks wait for', () => {
  expect(labelsAt('policy.md', '# Desk\n\n- Look the order up. {#|}\n')).toEqual(['confirm', 'look-up']);
});

it.each([
  ['tasks/third.task.yaml', '', 'task'],
  ['tasks/third.task.yaml', '|', 'task'],
  ['personas/other.persona.yaml', '|', 'persona'],
  ['rules.yaml', '- { rule: confirm, check: oneCall }\n|', 'check: before'],
  ['tools/other.tool.yaml', '|', 'simulated tool'],
  ['tasks/third.task.yaml', taskWith('  faults:\n    - |\n'), 'fault: outage'],
  ['domain.yaml', 'name: desk\nmcpServers:\n  |\n', 'MCP server (stdio)'],
])('offers a snippet in %s at %j', (path, text, label) => {
  expect(labelsAt(path, text === '' ? '|' : text)).toContain(label);
});

it.each([
  ['name: desk\ncompare: { | }\n', ['unordered', 'tolerance']],
  ['name: desk\n|\n', ['timeZone', 'compare']],
])('offers the keys of domain.yaml at %j', (text, keys) => {
  expect(labelsAt('domain.yaml', text)).toEqual(expect.arrayContaining(keys));
});

it('a snippet with its places filled in is read without a fault of form', () => {
  for (const [path, text] of [
    ['tasks/third.task.yaml', '|'],
    ['tasks/third.task.yaml', '- id: a\n  persona: plain\n  user: { goal: G. }\n\n|'],
    ['personas/other.persona.yaml', '|'],
    ['tools/other.tool.yaml', '|'],
    ['rules.yaml', '- { rule: confirm, check: oneCall }\n|'],
  ] as const) {
    const snippets = offeredAt(path, text).filter(({ kind }) => kind === 'snippet');
    expect(snippets.length).toBeGreaterThan(0);
    for (const { at, insert } of snippets) {
      const filled = insert
        .replace(/\$\{\d+\|([^,|]+)[^}]*\|\}/g, '$1')
        .replace(/\$\{\d+:([^{}]*)\}/g, '$1')
        .replace(/\$\{?\d+\}?/g, '');
      const made = edited(text.replace('|', ''), [{ ...at, text: filled }]);
      expect([made, parseYaml({ file: path, text: made }, 'task').problem]).toEqual([made, null]);
    }
  }
});

it('a value that YAML would read as something else is put in quotes, and none within quotes', () => {
  const files = {
    ...office,
    'database.json': '{"orders": {"1": {"status": "pending"}, "2": {"status": "true"}, "n": {"status": "done"}}}',
  };
  const inserts = (text: string) => offeredAt('tasks/third.task.yaml', text, files).map(({ insert }) => insert);
  expect(inserts(taskWith('  actions:\n    - { tool: cancel_order, arguments: { order: | } }\n'))).toEqual(
    expect.arrayContaining(['"1"', '"n"']),
  );
  expect(inserts(taskWith('  state:\n    - { path: [orders, "1", status], value: "|" }\n'))).toContain('true');
});

it('offers what the user knows before the row with the same value', () => {
  const [first] = offeredAt(
    'tasks/third.task.yaml',
    taskWith('  actions:\n    - { tool: cancel_order, arguments: { order: | } }\n'),
  );
  expect(first).toMatchObject({ label: 'W1', detail: 'what the user knows', rank: 0 });
});

it.each([
  ['the first gold action', '', []],
  ['a later gold action', '    - { tool: find_order, arguments: { order: W1 } }\n', ['{result.order}']],
])('what an earlier gold action returned, in %s', (_, earlier, labels) => {
  const text = taskWith(`  actions:\n${earlier}    - { tool: cancel_order, arguments: { order: | } }\n`);
  expect(labelsAt('tasks/third.task.yaml', text).filter((label) => label.startsWith('{'))).toEqual(labels);
});

it('offers nothing in a comment', () => {
  expect(labelsAt('tasks/third.task.yaml', '- id: a\n  # pers|\n  persona: plain\n')).toEqual([]);
});

it('what is chosen takes the place of what is written of it', () => {
  const text = taskWith('  actions:\n    - { tool: can|x }\n');
  const [, chosen] = offeredAt('tasks/third.task.yaml', text);
  expect(edited(text.replace('|', ''), [{ ...(chosen?.at ?? expect.fail()), text: chosen?.insert ?? '' }])).toContain(
    '{ tool: cancel_order }',
  );
});
