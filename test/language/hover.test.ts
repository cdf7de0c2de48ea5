import { join } from 'node:path';
import { expect, it } from 'vitest';
import { foldsOf } from '../../src/language/folding.ts';
import { hoverAt } from '../../src/language/hover.ts';
import { type OutlineItem, outlineOf } from '../../src/language/outline.ts';
import { load } from '../engine/shell/load/domainFolder.ts';
import { markedAt, office } from './marked.ts';

it.each([
  [
    'a tool',
    'tasks/second.task.yaml',
    'cancel_order',
    ['**cancel_order** (write, TypeScript)', '`order`: string', 'Named 2 times in tasks'],
  ],
  ['a simulated tool', 'tools/weather.tool.yaml', 'find_weather', ['simulated by a model', '`day`: string']],
  ['a rule', 'rules.yaml', 'confirm', ['Ask for a yes', '`confirmed` (a violation makes the reward 0)']],
  ['a persona', 'tasks/second.task.yaml', 'plain', ['Someone.', '2 tasks', 'patience 4']],
  ['a fact', 'tasks/first.task.yaml', 'order:', ['order number', 'Which order?']],
  ['a fact without words', 'tasks/second.task.yaml', 'reason', ['Not in the lexicon']],
  ['a table', 'tasks/second.task.yaml', 'orders, W2', ["the agent's database", 'Rows with status']],
  ['a field', 'rules.yaml', 'status ==', ['orders.*.status', '"pending", "done"']],
  ['a row', 'tasks/second.task.yaml', 'W2, status', ['"status": "done"']],
  ['an argument', 'tasks/second.task.yaml', 'order: W2 } }', ['`order`: string', '(find_order)']],
  ['an argument in a sentence of the lexicon', 'domain.yaml', 'order} is', ['`order`: string', '(cancel_order)']],
  ['a row that an argument names', 'tasks/second.task.yaml', 'W2 } }', ['**orders.W2**', '"status": "done"']],
  ['a key', 'tasks/second.task.yaml', 'verifiers', ['Names of verifiers that verifiers.ts exports']],
  ['a key of a check', 'rules.yaml', 'gate', ['boolean, false by default', 'makes the reward 0']],
  ['a word of the schema', 'rules.yaml', 'confirmed', ['"confirmed"', 'The user has agreed to the call before.']],
])('describes %s', (_, path, words, expected) => {
  const { domain, at } = markedAt(path, words, 1);
  const { markdown = '' } = hoverAt(domain, at) ?? {};
  for (const each of expected) expect(markdown).toContain(each);
});

it('shows for an undescribed tool how to get its description', () => {
  const { domain, at } = markedAt('tasks/second.task.yaml', 'cancel_order', 1);
  expect(hoverAt({ ...domain, described: new Map() }, at)?.markdown).toContain('once its code has run');
});

it('a fact that is called as objects call something of theirs is a fact like others', () => {
  const task = 'tasks/third.task.yaml';
  const files = { ...office, [task]: 'id: third\npersona: plain\nuser: { goal: G., known: { constructor: W2 } }\n' };
  const { domain, at } = markedAt(task, 'constructor', 1, files);
  expect(hoverAt(domain, at)?.markdown).toContain('Not in the lexicon');
});

it.each([
  ['plain words', 'policy.md', 'first'],
  ['an item of a list that has a type alone', 'domain.yaml', 'Which order'],
])('tells nothing of %s', (_, path, words) => {
  const { domain, at } = markedAt(path, words, 1);
  expect(hoverAt(domain, at)).toBeNull();
});

const names = (items: readonly OutlineItem[]): unknown[] =>
  items.map(({ name, detail, children }) =>
    children.length > 0 ? [`${name} ${detail}`.trim(), names(children)] : `${name} ${detail}`.trim(),
  );

it('the outline of tasks', () => {
  const domain = { loaded: load(office), described: new Map() };
  const [first] = outlineOf(domain, join(domain.loaded.folder, 'tasks/second.task.yaml'));
  expect(first?.name).toBe('second');
  expect(first?.detail).toBe('plain');
  expect(names(first?.children ?? []).slice(2, 5)).toEqual([
    ['user', ['goal Cancel order W2.', ['known', ['order W2']], 'unknown 1']],
    ['state 2', ['state 1', 'state 2']],
    ['actions 2', ['find_order', 'cancel_order']],
  ]);
});

it('the outlines of rules, checks, personas and the domain', () => {
  const domain = { loaded: load(office), described: new Map() };
  const of = (path: string) =>
    outlineOf(domain, join(domain.loaded.folder, path)).map(({ name, detail }) => `${name} ${detail}`.trim());
  expect(of('policy.md')).toEqual([
    'look-up Look the order up with find_order first.',
    'confirm Ask for a yes before you call cancel_order.',
  ]);
  expect(of('rules.yaml')).toEqual(['confirm confirmed', 'look-up onlyIf', 'look-up before', 'confirm never']);
  expect(of('personas/plain.persona.yaml')).toEqual(['plain']);
  expect(of('domain.yaml')).toEqual(['name desk', 'policy policy.md', 'userDatabase user.json', 'lexicon']);
});

it('every name of the outline lies within its part', () => {
  const domain = { loaded: load(office), described: new Map() };
  const check = (item: OutlineItem) => {
    const { at, nameAt } = item;
    expect(at.line < nameAt.line || (at.line === nameAt.line && at.column <= nameAt.column)).toBe(true);
    expect(at.endLine > nameAt.endLine || (at.endLine === nameAt.endLine && at.endColumn >= nameAt.endColumn)).toBe(
      true,
    );
    for (const child of item.children) check(child);
  };
  for (const file of domain.loaded.parts.texts.keys()) for (const item of outlineOf(domain, file)) check(item);
});

it('folds items, long texts and comments', () => {
  const text = '# one\n# two\n- id: a\n  user:\n    goal: >-\n      G.\n      H.\n\n- id: b\n  persona: p\n';
  expect(
    foldsOf({ file: 'f', text }).map(
      ({ line, endLine, isComment }) => `${line}-${endLine}${isComment ? ' comment' : ''}`,
    ),
  ).toEqual(['1-2 comment', '3-7', '4-7', '5-7', '9-10']);
});
