import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { linksOf } from '../../../src/language/links.ts';
import {
  definitionsOf,
  highlightsOf,
  referenceAt,
  referencesOf,
  referencesOfFile,
  workspaceSymbols,
} from '../../../src/language/symbols/symbols.ts';
import { tokensOfFile } from '../../../src/language/tokens.ts';
import { load } from '../../engine/shell/load/domainFolder.ts';
import { markedAt, office, shownPlaces } from '../marked.ts';

it.each([
  ['a tool of a gold action', 'tasks/second.task.yaml', 'cancel_order', 'tool cancel_order'],
  ['a persona', 'tasks/second.task.yaml', 'plain', 'persona plain'],
  ['a fact that the user knows', 'tasks/second.task.yaml', 'order: W2 }', 'fact order'],
  ['a fact that the user does not know', 'tasks/second.task.yaml', 'reason', 'fact reason'],
  ['a table in a state', 'tasks/second.task.yaml', 'orders, W2', 'field agent:orders'],
  ['a row in a state', 'tasks/second.task.yaml', 'W2, status', 'row agent:orders.W2'],
  ['a field in a state', 'tasks/second.task.yaml', 'status], value', 'field agent:orders.*.status'],
  ['a field of the user', 'tasks/second.task.yaml', 'battery', 'field user:phone.battery'],
  ['a field in a path', 'tasks/second.task.yaml', 'status, equals', 'field agent:orders.*.status'],
  [
    'a field of an element that has no name',
    'tasks/second.task.yaml',
    'status == "done"',
    'field agent:orders.*.status',
  ],
  ['an argument of a gold action', 'tasks/second.task.yaml', 'order: W2 } }', 'argument find_order.order'],
  ['a verifier', 'tasks/second.task.yaml', 'tidy', 'verifier tidy'],
  ['a rule of a check', 'rules.yaml', 'look-up', 'rule look-up'],
  ['a field in a folded expression', 'rules.yaml', 'status ==', 'field agent:orders.*.status'],
  ['a tool that calls are compared with', 'rules.yaml', 'find_order" and', 'tool find_order'],
  ['an argument of the call', 'rules.yaml', 'order].status', 'argument *.order'],
  ['a list of phrases', 'rules.yaml', 'soon)', 'phrases soon'],
  ['the list itself', 'phrases.yaml', 'soon:', 'phrases soon'],
  ['a tool that the policy names', 'policy.md', 'find_order', 'tool find_order'],
  ['an id mark', 'policy.md', 'confirm}', 'rule confirm'],
  ['a tool of the lexicon', 'domain.yaml', 'cancel_order', 'tool cancel_order'],
  ['a path of a simulated tool', 'tools/weather.tool.yaml', 'status]', 'field agent:orders.*.status'],
  ['the export of a tool', 'tools.ts', 'cancel_order', 'tool cancel_order'],
  ['a row of the database', 'database.json', 'W1', 'row agent:orders.W1'],
  ['a field of the database', 'database.json', 'status', 'field agent:orders.*.status'],
])('%s is known', (_, path, words, expected) => {
  const { domain, at } = markedAt(path, words, 1);
  const mention = referenceAt(domain, at);
  expect(mention && `${mention.kind} ${mention.name}`).toBe(expected);
});

it.each([
  ['tool', 'tasks/second.task.yaml', 'cancel_order', ['tools.ts:5 cancel_order']],
  ['persona', 'tasks/second.task.yaml', 'plain', ['personas/plain.persona.yaml:1 plain']],
  ['rule', 'rules.yaml', 'confirm', ['policy.md:4 confirm']],
  ['verifier', 'tasks/second.task.yaml', 'tidy', ['verifiers.ts:2 tidy']],
  ['fact of the lexicon', 'tasks/first.task.yaml', 'order:', ['domain.yaml:6 order']],
  ['list of phrases', 'rules.yaml', 'soon)', ['phrases.yaml:1 soon']],
  ['fact without words', 'tasks/second.task.yaml', 'reason', ['tasks/second.task.yaml:6 reason']],
  ['field', 'tasks/second.task.yaml', 'status]', ['database.json:1 status']],
  ['row', 'tasks/second.task.yaml', 'W2, status', ['database.json:1 W2']],
])('the definition of a %s', (_, path, words, expected) => {
  const { domain, at } = markedAt(path, words, 1);
  expect(shownPlaces(domain, definitionsOf(domain, at))).toEqual(expected);
});

it('a quote of the policy leads to what it quotes', () => {
  const files = { ...office, 'rules.yaml': '- { rule: Ask for a yes, check: oneCall }\n' };
  const { domain, at } = markedAt('rules.yaml', 'Ask', 1, files);
  expect(shownPlaces(domain, definitionsOf(domain, at))).toEqual([
    'policy.md:4 - Ask for a yes before you call `cancel_order`. {#confirm}',
  ]);
});

it('a tool is found in every kind of file', () => {
  const { domain, at } = markedAt('tools.ts', 'cancel_order', 1);
  expect(shownPlaces(domain, referencesOf(domain, at, true)).toSorted()).toEqual([
    'domain.yaml:8 cancel_order',
    'policy.md:4 cancel_order',
    'rules.yaml:1 cancel_order',
    'rules.yaml:8 cancel_order',
    'tasks/first.task.yaml:8 cancel_order',
    'tasks/second.task.yaml:12 cancel_order',
    'tools.ts:5 cancel_order',
  ]);
  expect(referencesOf(domain, at, false)).toHaveLength(6);
});

it('a field is found in the database, the state, paths and expressions', () => {
  const { domain, at } = markedAt('rules.yaml', 'status ==', 1);
  expect(shownPlaces(domain, referencesOf(domain, at, true)).toSorted()).toEqual([
    'database.json:1 status',
    'database.json:1 status',
    'rules.yaml:6 status',
    'tasks/second.task.yaml:14 status',
    'tasks/second.task.yaml:15 status',
    'tasks/second.task.yaml:8 status',
    'tools/weather.tool.yaml:5 status',
  ]);
});

it('a list of phrases is found where a rule listens for it', () => {
  const { domain, at } = markedAt('phrases.yaml', 'soon:', 1);
  expect(shownPlaces(domain, referencesOf(domain, at, true)).toSorted()).toEqual([
    'phrases.yaml:1 soon',
    'rules.yaml:9 soon',
  ]);
});

it('highlights stay in the file', () => {
  const { domain, at } = markedAt('rules.yaml', 'cancel_order', 1);
  expect(shownPlaces(domain, highlightsOf(domain, at))).toEqual([
    'rules.yaml:1 cancel_order',
    'rules.yaml:8 cancel_order',
  ]);
});

it('what is declared is found by the letters of its name', () => {
  const domain = { loaded: load(office), described: new Map() };
  const found = (query: string) => workspaceSymbols(domain, query).map(({ kind, name }) => `${kind} ${name}`);
  expect(found('cncl').toSorted()).toEqual(['task cancel', 'tool cancel_order']);
  expect(found('conf')).toEqual(['rule confirm']);
  expect(found('nothing here')).toEqual([]);
});

it('files that the domain names are links', () => {
  const domain = {
    loaded: load({
      ...office,
      'domain.yaml': 'name: d\npolicy: policy.md\nagent: agent:own.agent.yaml\ntasks: tasks\n',
    }),
    described: new Map(),
  };
  const links = linksOf(domain, join(domain.loaded.folder, 'domain.yaml'));
  expect(links.map(({ at, target }) => `${at.line}:${at.column} ${relative(domain.loaded.folder, target)}`)).toEqual([
    '2:9 policy.md',
    '3:14 own.agent.yaml',
  ]);
});

it('names have colours in the order of the text, and overlap nowhere', () => {
  const domain = { loaded: load(office), described: new Map() };
  for (const path of ['rules.yaml', 'policy.md', 'domain.yaml', 'tasks/second.task.yaml']) {
    const tokens = tokensOfFile(domain, join(domain.loaded.folder, path));
    expect(tokens.length).toBeGreaterThan(1);
    for (const [index, { line, column }] of tokens.entries()) {
      const before = tokens[index - 1];
      expect(!before || before.line < line || before.column + before.length <= column).toBe(true);
    }
  }
});

it('an expression of what must be named has the colours of its parts', () => {
  const rules = "- { rule: confirm, check: confirmed, names: [order, 'count(db.orders[args.order].status)'] }\n";
  const domain = { loaded: load({ ...office, 'rules.yaml': rules }), described: new Map() };
  const tokens = tokensOfFile(domain, join(domain.loaded.folder, 'rules.yaml'));
  expect(tokens.map(({ column, length, kind }) => `${kind} ${rules.slice(column - 1, column - 1 + length)}`)).toEqual([
    'rule confirm',
    'argument order',
    'function count',
    'field orders',
    'argument order',
    'field status',
  ]);
});

it('a file with faults still mentions what can be read of it', () => {
  const domain = {
    loaded: load({ ...office, 'tasks/second.task.yaml': '- id: second\n  persona: plain\n  user: [\n' }),
    described: new Map(),
  };
  const kinds = referencesOfFile(domain, join(domain.loaded.folder, 'tasks/second.task.yaml')).map(({ kind }) => kind);
  expect(kinds).toEqual(['task', 'persona']);
});
