import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { edited } from '../../../../src/engine/shell/domain/fixes.ts';
import { desk, deskTools, load } from './domainFolder.ts';

const rules = `- rule: confirm
  check: onlyIf
  tools: [cancel_order]
  condition: db.orders[args.order] != null
- { rule: look-up, check: before, tools: [cancel_order], require: [find_order], same: [order] }
`;
const task = `id: cancel
split: train
persona: plain
user:
  goal: Cancel order W1.
  opening: Please cancel W1.
  known: { order: W1 }
state:
  - { path: [orders, W1, status], value: pending }
actions:
  - { tool: find_order, arguments: { order: W1 } }
  - { tool: cancel_order, arguments: { order: W1 } }
receipts:
  - { tool: cancel_order, when: result == "ok", times: 1 }
verifiers: [tidy]
evaluate: [database, custom, receipts]
`;
const files = {
  ...desk,
  'personas/plain.persona.yaml': 'id: plain\ndescription: "Someone who waits."\n',
  'rules.yaml': rules,
  'tasks/first.task.yaml': task,
  'verifiers.ts': "import { verifier } from 'rehearsal';\nexport const tidy = verifier(() => true);\n",
  'domain.yaml':
    'name: desk\nturnCap: 12\nagent: gold\nuser: agenda\nlexicon: { facts: { order: { label: order number } }, tools: { cancel_order: { done: ["Done, {order} {order.status} {result.status}."] } } }\n',
};

it('the files without misspellings have no findings', () => {
  expect(load(files, deskTools).diagnostics).toEqual([]);
});

it.each([
  ['task/unknown-key', 'tasks/first.task.yaml', 'receipts:\n', 'reciepts:\n'],
  ['task/wrong-value', 'tasks/first.task.yaml', 'split: train', 'split: trian'],
  ['task/unknown-tool', 'tasks/first.task.yaml', 'tool: find_order', 'tool: find_ordr'],
  ['task/unknown-persona', 'tasks/first.task.yaml', 'persona: plain', 'persona: plian'],
  ['task/unknown-verifier', 'tasks/first.task.yaml', '[tidy]', '[tiddy]'],
  ['task/unknown-path', 'tasks/first.task.yaml', '[orders, W1', '[ordres, W1'],
  ['task/bad-arguments', 'tasks/first.task.yaml', 'find_order, arguments: { order:', 'find_order, arguments: { odrer:'],
  ['task/unknown-name', 'tasks/first.task.yaml', 'when: result', 'when: reslut'],
  ['rule/unknown-rule', 'rules.yaml', 'rule: look-up', 'rule: look-pu'],
  ['rule/unknown-tool', 'rules.yaml', 'require: [find_order]', 'require: [find_oder]'],
  ['rule/unknown-argument', 'rules.yaml', 'same: [order]', 'same: [ordr]'],
  ['rule/unknown-argument', 'rules.yaml', 'args.order', 'args.ordr'],
  ['rule/unknown-name', 'rules.yaml', 'db.orders', 'bd.orders'],
  ['rule/unknown-table', 'rules.yaml', 'db.orders', 'db.order'],
  ['rule/unknown-key', 'rules.yaml', 'condition:', 'conditon:'],
  ['domain/unknown-key', 'domain.yaml', 'turnCap', 'turncap'],
  ['domain/wrong-type', 'domain.yaml', 'turnCap: 12', 'turnCap: "12"'],
  ['domain/bad-seat', 'domain.yaml', 'agent: gold', 'agent: glod'],
  ['domain/bad-seat', 'domain.yaml', 'user: agenda', 'user: agneda'],
  ['domain/unknown-argument', 'domain.yaml', '{order}', '{ordr}'],
  ['domain/unknown-field', 'domain.yaml', '{order.status}', '{order.statsu}'],
  ['domain/unknown-field', 'domain.yaml', '{result.status}', '{result.stats}'],
  ['domain/unknown-field', 'domain.yaml', 'facts: { order:', 'facts: { ordr:'],
  ['persona/stop-word', 'personas/plain.persona.yaml', 'Someone who waits.', 'Someone ## who waits.'],
  ['policy/bad-mark', 'policy.md', '{#look-up}', '{#look up}'],
  ['policy/unclosed-mark', 'policy.md', '{#look-up}', '{#look-up'],
])('%s in %s is fixed: %j was %j', (code, path, right, wrong) => {
  const text = String(files[path as keyof typeof files]);
  expect(text).toContain(right);
  const loaded = load({ ...files, [path]: text.replace(right, wrong) }, deskTools);
  const found = loaded.diagnostics.find((each) => each.code === code && each.fix);
  const { edits = [] } = found?.fix ?? {};
  expect(edits.length, JSON.stringify(loaded.diagnostics.map(({ message }) => message))).toBeGreaterThan(0);
  expect(edited(readFileSync(join(loaded.folder, path), 'utf8'), edits)).toBe(text);
});

it.each([
  ['a number where a text is expected', 'tasks/first.task.yaml', 'goal: Cancel order W1.', 'goal: 42', 'goal: "42"'],
  ['a second mark', 'policy.md', '{#look-up}', '{#look-up} {#two}', '{#look-up}'],
])('fixes %s', (_, path, right, wrong, after) => {
  const text = String(files[path as keyof typeof files]);
  const loaded = load({ ...files, [path]: text.replace(right, wrong) });
  const edits = loaded.diagnostics.flatMap(({ fix }) => fix?.edits ?? []);
  expect(edited(text.replace(right, wrong), edits)).toBe(text.replace(right, after));
});

it('a file in Python under `tools` is refused with the right key', () => {
  const domain = { ...files, 'domain.yaml': `${files['domain.yaml']}tools: tools.py\n` };
  expect(load(domain, deskTools).diagnostics.map(({ code, message }) => [code, message])).toEqual([
    ['domain/wrong-value', 'tools is "tools.py": This is a file in Python. Write `pythonTools` in place of `tools`.'],
  ]);
});
