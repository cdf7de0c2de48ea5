import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { desk, deskTools, type Files, load, shown } from '../load/domainFolder.ts';

const rules = (text: string): Files => ({ 'rules.yaml': text });
const task = (text: string): Files => ({ 'tasks/first.task.yaml': `${String(desk['tasks/first.task.yaml'])}${text}` });

const members: Files = {
  'database.json':
    '{"orders": {"W1": {"member": "M1", "tags": []}, "W2": {"member": "M1", "tags": []}}, "members": {"M1": {"name": "Ann"}}}',
};

const cases: readonly (readonly [string, Files, readonly string[], string])[] = [
  [
    'a condition that cannot be read',
    rules('- { rule: confirm, check: onlyIf, tools: writes, condition: "args.order = 1" }'),
    ['rules.yaml:1:73 error rule/bad-expression'],
    'This is not an expression: = compares nothing: write ==.',
  ],
  [
    'a date that does not exist',
    rules('- { rule: confirm, check: onlyIf, tools: writes, condition: "days(\'2025-02-30\', now) < 3" }'),
    ['rules.yaml:1:61 warning rule/type-mismatch'],
    'Here days needs two dates, and "2025-02-30" does not exist.',
  ],
  [
    'a column without dates',
    rules(
      '- { rule: confirm, check: onlyIf, tools: writes, condition: "days(db.orders[args.order].status, now) < 3" }',
    ),
    ['rules.yaml:1:61 warning rule/type-mismatch'],
    'Here days needs two dates, and "pending" is not a date.',
  ],
  [
    'a sum of a date and a number',
    rules('- { rule: confirm, check: onlyIf, tools: writes, condition: "now + 2 > db.orders[args.order].status" }'),
    ['rules.yaml:1:61 warning rule/type-mismatch'],
    'Here + adds two numbers or joins two texts, not a text and a number.',
  ],
  [
    'a name that is not known',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: dp.orders != null\n'),
    ['rules.yaml:4:14 error rule/unknown-name'],
    'Did you mean "db"?',
  ],
  [
    'the text of a message where a call is checked',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: says(message, "yes")\n'),
    ['rules.yaml:4:19 error rule/unknown-name'],
    'message is not known here.',
  ],
  [
    'an argument that no tool has',
    rules('- rule: confirm\n  check: never\n  tools: [cancel_order]\n  when: args.ordre == "W1"\n'),
    ['rules.yaml:4:14 error rule/unknown-argument'],
    'Did you mean "order"?',
  ],
  [
    'an argument to share that no tool has',
    rules('- { rule: confirm, check: before, tools: writes, require: [find_order], same: [ordre] }'),
    ['rules.yaml:1:80 error rule/unknown-argument'],
    'Did you mean "order"?',
  ],
  [
    'a map in place of a list',
    rules('- { rule: confirm, check: confirmed, names: { order: W1 } }'),
    ['rules.yaml:1:45 error rule/wrong-type'],
    'names is a map, but a list is expected. Write its entries on lines that begin with "- ".',
  ],
  [
    'phrases that are not there',
    rules('- rule: confirm\n  check: never\n  when: says(message, phrases.late)\n'),
    ['rules.yaml:3:31 error rule/unknown-phrases'],
    'Write its phrases into phrases.yaml.',
  ],
  [
    'a table that is not there',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.oders[args.order] != null\n'),
    ['rules.yaml:4:17 error rule/unknown-table'],
    'Did you mean "orders"?',
  ],
  [
    'a table that only the types of the tools have',
    {
      ...rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.vacations[args.order] == null\n'),
      'tools.ts': String(desk['tools.ts']).replace('agent: object', 'agent: { orders: object; vacations: object }'),
    },
    ['rules.yaml:4:17 warning rule/unknown-table'],
    'The database has no vacations. It has orders.',
  ],
  [
    'a field that no row has',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders[args.order].staus == null\n'),
    ['rules.yaml:4:36 error rule/unknown-field'],
    'A row of orders has no field staus. Did you mean "status"?',
  ],
  [
    'a field that no row has, on the second line of a condition',
    rules(
      '- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: >-\n    db.orders[args.order] != null\n      and any(db.orders, it.staus != null)\n',
    ),
    ['rules.yaml:6:29 error rule/unknown-field'],
    'Did you mean "status"?',
  ],
  [
    'a value that no row has',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders[args.order].status != "pendng"\n'),
    ['rules.yaml:4:47 warning rule/unknown-value'],
    'No row has the value "pendng" here. Did you mean "pending"?',
  ],
  [
    'a tool whose calls are looked for',
    rules('- rule: confirm\n  check: never\n  tools: writes\n  when: not any(calls, it.tool == "find_oder")\n'),
    ['rules.yaml:4:36 error rule/unknown-tool'],
    'Did you mean "find_order"?',
  ],
  [
    'an argument of a call of a tool',
    rules(
      '- rule: confirm\n  check: never\n  tools: writes\n  when: any(calls, c, c.tool == "find_order" and c.args.oder == "W1")\n',
    ),
    ['rules.yaml:4:57 error rule/unknown-argument'],
    'Did you mean "order"?',
  ],
  [
    'a row that is not there',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders.W7.status == null\n'),
    ['rules.yaml:4:24 warning rule/unknown-row'],
    'Orders has no row W7. It has W1, W2.',
  ],
  [
    'the side of a user that has no database',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: user.vip == true\n'),
    ['rules.yaml:4:19 error rule/unknown-table'],
    'user.vip is always null: this domain has no user database. Read db,',
  ],
  [
    'an id of another table as a key',
    {
      ...rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.members[args.order] == null\n'),
      ...members,
    },
    ['rules.yaml:4:14 warning rule/unknown-row'],
    'The ids here are those of orders, and members has other ids, so no row is found. Read db.orders,',
  ],
  [
    'an id of another table that is looked for',
    {
      ...rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: not (args.order in db.members)\n'),
      ...members,
    },
    ['rules.yaml:4:14 warning rule/unknown-row'],
    'The ids here are those of orders,',
  ],
  [
    'an id of another table as a value',
    {
      ...rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders.W1.member != "W2"\n'),
      ...members,
    },
    ['rules.yaml:4:38 warning rule/unknown-value'],
    '"W2" is an id of orders, and the values here are ids of members. Known are M1.',
  ],
  [
    'a field of an element of a list of texts that all rows have empty',
    {
      ...rules(
        '- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: not any(db.orders.W1.tags, it.name != null)\n',
      ),
      ...members,
      'tools.ts': String(desk['tools.ts']).replace(
        'agent: object',
        'agent: { orders: Record<string, { member: string; tags: string[] }> }',
      ),
    },
    ['rules.yaml:4:44 warning rule/type-mismatch'],
    'name is read from a text, which has no fields, so it is always null.',
  ],
  [
    'a field that a tool does not return, although the rows that it reads have it',
    {
      ...rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: last("find_order").member != null\n'),
      ...members,
      'tools.ts': String(desk['tools.ts']).replace(
        'z.string() }), run: () => 1 });\nexport const cancel',
        'z.string() }), run: ({ order }, { db }) => ({ order, from: db.orders[order]?.member }) });\nexport const cancel',
      ),
    },
    ['rules.yaml:4:33 warning rule/unknown-field'],
    'The result of find_order has no field member.',
  ],
  [
    'a text that is compared with a number',
    rules('- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders[args.order].status >= 2\n'),
    ['rules.yaml:4:14 warning rule/type-mismatch'],
    'Here >= compares two numbers or two texts, not a text with a number.',
  ],
  [
    'a field of a text',
    rules(
      '- rule: confirm\n  check: onlyIf\n  tools: writes\n  condition: db.orders[args.order].status.name == null\n',
    ),
    ['rules.yaml:4:43 warning rule/type-mismatch'],
    'name is read from a text',
  ],
  [
    'a path of an assertion, and a value that cannot be there',
    task(
      'assertions:\n  - { path: orders.W1.staus, exists: true }\n  - { path: orders.W1.status, equals: doen }\nevaluate: [assertions]\n',
    ),
    ['tasks/first.task.yaml:10:23 error task/unknown-field', 'tasks/first.task.yaml:11:39 warning task/unknown-value'],
    'Did you mean "status"?',
  ],
  [
    'a value of an assertion of another kind',
    task(
      'assertions:\n  - { path: orders.W1.status, equals: 3 }\n  - { path: orders, equals: done }\nevaluate: [assertions]\n',
    ),
    [
      'tasks/first.task.yaml:10:39 warning task/type-mismatch',
      'tasks/first.task.yaml:11:29 warning task/type-mismatch',
    ],
    'Here a number is never equal to a text.',
  ],
  [
    'a state that goes into a field that no row has',
    task('state:\n  - { path: [orders, W1, staus], value: done }\n  - { path: [orders, W1, status], value: doen }\n'),
    ['tasks/first.task.yaml:10:26 error task/unknown-field', 'tasks/first.task.yaml:11:42 warning task/unknown-value'],
    'Did you mean "status"?',
  ],
  [
    'a tool to speak after that is not there',
    rules('- { rule: confirm, check: mustSay, says: done, after: [cancle_order] }'),
    ['rules.yaml:1:56 error rule/unknown-tool'],
    'Did you mean "cancel_order"?',
  ],
  [
    'an expression in a phrase',
    rules(
      '- { rule: confirm, check: mustSay, says: [done, "{it.title}"] }\n- { rule: confirm, check: never, says: "db.orders[args.order].status" }\n- { rule: confirm, check: confirmed, yes: ["ok {args.order}"] }',
    ),
    [
      'rules.yaml:1:49 warning rule/phrase-template',
      'rules.yaml:2:40 warning rule/phrase-template',
      'rules.yaml:3:44 warning rule/phrase-template',
    ],
    'A phrase in says: is matched word by word, so {it.title} in "{it.title}" is not evaluated.',
  ],
  [
    'a number to say that the policy does not have',
    {
      'policy.md': '# Desk\n\n- Ask before you cancel. {#confirm}\n- A refund takes twelve days. {#refund}\n',
      ...rules(
        '- { rule: refund, check: mustSay, says: [twelve days, 12 days, 14 days] }\n- { rule: confirm, check: mustSay, says: 2 minutes }',
      ),
    },
    ['rules.yaml:1:64 warning rule/other-number'],
    'The agent must say "14 days", but the rule in the policy says 12, not 14. Correct the phrase here or the sentence in policy.md.',
  ],
  [
    'checks that demand nothing',
    rules('- { rule: confirm, check: never }\n- { rule: confirm, check: handOff }'),
    ['rules.yaml:1:27 error rule/empty-check', 'rules.yaml:2:27 error rule/empty-check'],
    'This never requires nothing. Add tools:, says: or when:.',
  ],
  [
    'two checks in one',
    rules('- { rule: confirm, check: mustSay, says: ok, before: [cancel_order], after: [cancel_order] }'),
    ['rules.yaml:1:27 error rule/two-checks'],
    'Write two checks of the same rule.',
  ],
  [
    'an assertion that cannot be read',
    task('assertions:\n  - that: state.orders.W1.status == cancelled\nevaluate: [assertions]\n'),
    ['tasks/first.task.yaml:10:37 error task/unknown-name'],
    'cancelled is not known here.',
  ],
  [
    'an assertion with a path and an expression',
    task('assertions:\n  - { that: now != null, path: orders, exists: true }\nevaluate: [assertions]\n'),
    ['tasks/first.task.yaml:10:5 error task/assertion-twice'],
    'Write two assertions.',
  ],
  [
    'a receipt with an argument that is not there',
    task('receipts:\n  - { tool: cancel_order, arguments: { ordre: W1 } }\nevaluate: [receipts]\n'),
    ['tasks/first.task.yaml:10:40 error task/bad-arguments'],
    'Did you mean "order"?',
  ],
  [
    'a verifier that is not there',
    task('verifiers: [tidy]\nevaluate: [custom]\n'),
    ['tasks/first.task.yaml:9:13 error task/unknown-verifier'],
    'There is no verifiers.ts with any.',
  ],
  [
    'a basis without anything to verify',
    task('evaluate: [judge]\n'),
    ['tasks/first.task.yaml:9:12 error task/empty-basis'],
    'Write judge:',
  ],
  [
    'receipts that count for nothing',
    task('receipts:\n  - { tool: cancel_order }\n'),
    ['tasks/first.task.yaml:9:1 warning task/unused-demand'],
    'Add receipts to evaluate:.',
  ],
];

describe('rules and verifiers against the rest of the domain', () => {
  it.each(cases)('%s', (_, files, findings, words) => {
    const loaded = load(files, deskTools);
    expect(shown(loaded)).toEqual(findings);
    const [first] = loaded.diagnostics;
    expect(`${first?.message} ${first?.hint}`).toContain(words);
  });

  it('names the tool of an argument that the check does not bind', () => {
    const [cancel, find] = deskTools as readonly [Tool, Tool];
    const properties = { note: { type: 'string' } };
    const note: Tool = { ...find, name: 'read_note', parameters: { type: 'object', properties, required: ['note'] } };
    const loaded = load(rules('- { rule: confirm, check: confirmed, names: [order, note] }'), [cancel, find, note]);
    expect(loaded.diagnostics.find(({ code }) => code === 'rule/unknown-argument')?.hint).toBe(
      'read_note has it: name a tool in tools:, declare effect: write for a tool that changes something, or remove note.',
    );
  });

  it.each([
    ['the id of a row', 'W2'],
    ['what a gold action gives', 'W9'],
  ])('knows %s as a value that another row can have', (_, value) => {
    const database = { orders: { W1: { status: 'pending' }, W2: {} }, notes: { N1: { order: 'W1' } } };
    const own = String(desk['tasks/first.task.yaml']).replaceAll('order: W1 }', `order: ${value} }`);
    const found = (compared: string) =>
      load(
        {
          'database.json': JSON.stringify(database),
          'tasks/first.task.yaml': `${own}assertions: [{ that: 'any(state.notes, it.order == "${compared}")' }]\nevaluate: [assertions]\n`,
        },
        deskTools,
      ).diagnostics.map(({ code }) => code);
    expect(found(value)).not.toContain('task/unknown-value');
    expect(found('W7')).toContain('task/unknown-value');
  });

  it.each([
    ['a word', '', true],
    ['a path', '/notes/', false],
  ])('takes %s for a misspelling of another one only if it is not a path', (_, before, isNoted) => {
    const own = String(desk['tasks/first.task.yaml']).replace(
      'find_order, arguments: { order: W1 }',
      'find_order, arguments: { order: PLACE/spring }',
    );
    const text = own.replace(
      'cancel_order, arguments: { order: W1 }',
      'cancel_order, arguments: { order: PLACE/sprint }',
    );
    const files = { 'tasks/first.task.yaml': text.replaceAll('PLACE/', before) };
    const codes = load(files, deskTools).diagnostics.map(({ code }) => code);
    expect(codes.includes('task/unknown-value')).toBe(isNoted);
  });

  it('knows the verifiers that verifiers.ts exports', () => {
    const verifiers = "export const tidy = verifier({ description: 'Tidy.', verify: () => true });\n";
    const files = { ...task('verifiers: [tidy]\nevaluate: [custom]\n'), 'verifiers.ts': verifiers };
    const loaded = load(files, deskTools);
    expect(shown(loaded)).toEqual([]);
    expect(loaded.domain.hash).not.toBe(load(task('verifiers: [tidy]\nevaluate: [custom]\n')).domain.hash);
  });
});
