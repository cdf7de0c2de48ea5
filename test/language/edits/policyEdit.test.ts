import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../src/engine/core/domain/policy.ts';
import {
  addRuleEdits,
  inParagraphs,
  markEdits,
  moveRuleEdits,
  removeRuleEdits,
  ruleEdits,
  ruleTextOf,
} from '../../../src/language/edits/policyEdit.ts';
import { type TextEdits, withEdits } from '../../../src/language/symbols/textEdit.ts';
import { runs } from '../../support/runs.ts';
import { inFullSuite } from '../../support/suite.ts';

const after = (source: string, edits: TextEdits) =>
  'problem' in edits ? edits.problem : withEdits(source, edits.edits);

const source = `# Desk

Words without a rule.

- Look the order up
  before you change it. {#look-first}
1. {#second} Say *so*.
- A mark {#within} in the words.
* No id
## Refunds {#refunds}
`;

test('the words of a rule are what a person writes, without bullet, mark and indentation', () => {
  const { blocks, marks } = parsePolicy(source);
  expect(blocks.map((block) => [block.line, ruleTextOf(source, block, marks)?.text ?? null])).toEqual([
    [1, 'Desk'],
    [3, 'Words without a rule.'],
    [5, 'Look the order up\nbefore you change it.'],
    [7, 'Say *so*.'],
    [8, null],
    [9, 'No id'],
    [10, 'Refunds'],
  ]);
});

test.each([
  [
    5,
    'Look it up\nfirst.',
    '- Look the order up\n  before you change it. {#look-first}',
    '- Look it up\n  first. {#look-first}',
  ],
  [7, 'Say nothing.', '{#second} Say *so*.', '{#second} Say nothing.'],
  [9, 'Still none', '* No id', '* Still none'],
  [10, 'Returns', '## Refunds {#refunds}', '## Returns {#refunds}'],
])('the rule on line %i gets other words, and every other byte stays', (line, text, from, to) => {
  expect(after(source, ruleEdits(source, line, text))).toBe(source.replace(from, to));
});

test('a rule is shown in paragraphs, and the same words change nothing', () => {
  const { blocks, marks } = parsePolicy(source);
  const shown = blocks.map((block) => inParagraphs(ruleTextOf(source, block, marks)?.text ?? ''));
  expect(shown[2]).toBe('Look the order up before you change it.');
  expect(ruleEdits(source, 5, shown[2] ?? '')).toEqual({ edits: [] });
});

test.each([
  ['One\ntwo\n\n**Three**\n*four*.', 'One two\n\n**Three** *four*.'],
  ['One\n- two\n1. three\n# four\n> five\n| six |', 'One\n- two\n1. three\n# four\n> five\n| six |'],
  ['One  \ntwo\\\nthree \nfour', 'One  \ntwo\\\nthree four'],
  ['One\n\n```\na\nb\n```', 'One\n\n```\na\nb\n```'],
])('%j has the paragraphs %j', (text, shown) => {
  expect(inParagraphs(text)).toBe(shown);
});

test.each([
  ['Look the order up before you change it, always.', 'Look the order up\n  before you change it, always.'],
  ['Always look the order up before you change it.', 'Always look the order up\n  before you change it.'],
  ['Look the order up and wait before you change it.', 'Look the order up\n  and wait before you change it.'],
  ['Look the order up, then change it.', 'Look the order up, then change it.'],
  ['Look the order up - twice before you change it.', 'Look the order up - twice before you change it.'],
])('%j keeps the line breaks in the words that stay', (text, written) => {
  expect(after(source, ruleEdits(source, 5, text))).toBe(
    source.replace('Look the order up\n  before you change it.', written),
  );
});

test.each([
  [5, '', /a rule has words/],
  [5, 'One\n\n- Two', /no longer be one rule/],
  [5, 'One {#two}', /no longer be one rule/],
  [8, 'anything', /edit the text/],
  [99, 'anything', /no rule of line 99/],
])('line %i can not become %j', (line, text, problem) => {
  expect(ruleEdits(source, line, text)).toEqual({ problem: expect.stringMatching(problem) });
});

test('a rule gets an id, a free and good one', () => {
  expect(after(source, markEdits(source, 9, 'last'))).toBe(source.replace('* No id', '* No id {#last}'));
  expect(markEdits(source, 9, 'second')).toEqual({ problem: expect.stringContaining('must be unique') });
  expect(markEdits(source, 9, 'not good')).toEqual({ problem: expect.stringContaining('is not an id') });
  expect(markEdits(source, 5, 'other')).toEqual({ problem: expect.stringContaining('begins no rule that has no id') });
});

test('lines end as they do in the file', () => {
  const windows = source.replaceAll('\n', '\r\n');
  expect(after(windows, ruleEdits(windows, 5, 'Look it up\nfirst.'))).toBe(
    source.replace('Look the order up\n  before you change it.', 'Look it up\n  first.').replaceAll('\n', '\r\n'),
  );
});

test.each<[string, string, number, string, string, string]>([
  [
    'below its heading',
    '# A\n\n- One {#one}\n\n# B\n\n- Two\n',
    1,
    'New.',
    'new',
    '# A\n\n- One {#one}\n- New. {#new}\n\n# B\n\n- Two\n',
  ],
  ['as the last of the file', '# A\n\n- One', 1, 'New.', '', '# A\n\n- One\n- New.'],
  ['with the next number', '1. One\n2. Two\n', 1, 'New.', '', '1. One\n2. Two\n3. New.\n'],
  [
    'as deep as the others',
    '# A\n\n  * One\n    more\n',
    1,
    'Two\nlines',
    '',
    '# A\n\n  * One\n    more\n  * Two lines\n',
  ],
  ['after the words of a section', '# A\n\nWords.\n\n# B\n', 1, 'New.', '', '# A\n\nWords.\n\n- New.\n\n# B\n'],
  ['below a heading that is a rule', '## A {#a}\n', 1, 'New.', 'b', '## A {#a}\n\n- New. {#b}\n'],
  ['before the first heading', '# A\n\n- One\n', 0, 'New.', '', '- New.\n\n# A\n\n- One\n'],
  ['in an empty file', '', 1, 'New.', 'new', '- New. {#new}'],
  ['with the line ends of the file', '- One\r\n', 1, 'New.', '', '- One\r\n- New.\r\n'],
])('a new rule is written %s', (_, from, section, text, id, to) => {
  expect(after(from, addRuleEdits(from, section, text, id))).toBe(to);
});

test.each([
  ['', '', /has words/],
  ['New.', 'not good', /is not an id/],
  ['New.', 'second', /another rule has the id/],
  ['# Title', '', /would not be one new rule/],
  ['New {#two}', 'one', /another rule has the id|would not be one new rule/],
])('%j with the id %j is not a new rule', (text, id, problem) => {
  expect(addRuleEdits(source, 1, text, id)).toEqual({ problem: expect.stringMatching(problem) });
});

test('a rule is taken out with its lines', () => {
  expect(after(source, removeRuleEdits(source, 5))).toBe(
    source.replace('- Look the order up\n  before you change it. {#look-first}\n', ''),
  );
  expect(after('- One\n- Two', removeRuleEdits('- One\n- Two', 2))).toBe('- One\n');
  expect(removeRuleEdits(source, 10)).toEqual({
    problem: expect.stringContaining('no rule of line 10 can be taken out'),
  });
  expect(removeRuleEdits('- One\n\n  More of it.\n- Two\n', 1)).toEqual({ edits: [expect.anything()] });
  expect(removeRuleEdits('- One\n  > quoted\n- Two\n', 1)).toEqual({
    problem: expect.stringContaining('other lines belong to this rule'),
  });
});

test('two rules change places, and their bullets stay', () => {
  const from = '# A\n\n1. One {#one}\n2. Two\n   more\n3. Three\n';
  const up = '# A\n\n1. Two\n   more\n2. One {#one}\n3. Three\n';
  expect(after(from, moveRuleEdits(from, 4, 'up'))).toBe(up);
  expect(after(from, moveRuleEdits(from, 3, 'down'))).toBe(up);
  expect(moveRuleEdits(from, 3, 'up')).toEqual({ problem: expect.stringContaining('no rule to change places with') });
  expect(moveRuleEdits(from, 6, 'down')).toEqual({ problem: expect.stringContaining('no rule to change places with') });
  const nested = '- One\n  - Inner\n- Two\n';
  expect(moveRuleEdits(nested, 3, 'up')).toEqual({ problem: expect.stringContaining('not written alike') });
  expect(moveRuleEdits(nested, 1, 'down')).toEqual({ problem: expect.stringContaining('not written alike') });
});

const policies = ['order-desk', 'parcel-desk', 'help-line'].map((name) =>
  readFileSync(`domains/${name}/policy.md`, 'utf8'),
);

test('any rule of the sample domains takes any words and gives them back', () => {
  const rule = fc
    .constantFrom(...policies)
    .chain((text) =>
      fc.constantFrom(...parsePolicy(text).blocks.filter(({ isRule }) => isRule)).map((block) => ({ text, block })),
    );
  fc.assert(
    fc.property(rule, fc.lorem({ maxCount: 30 }), ({ text, block }, words) => {
      const { marks, policy } = parsePolicy(text);
      const old = ruleTextOf(text, block, marks);
      if (!old) throw new Error(`the rule of line ${block.line} can't be changed`);
      const changed = after(text, ruleEdits(text, block.line, words));
      const [at, length] = [old.offset, old.length];
      expect(changed).toBe(text.slice(0, at) + words + text.slice(at + length));
      expect(parsePolicy(changed).policy.rules.map(({ id }) => id)).toEqual(policy.rules.map(({ id }) => id));
      expect(after(changed, ruleEdits(changed, block.line, old.text))).toBe(text);
    }),
    { numRuns: runs(30) },
  );
});

test('a rule that is added to a sample domain and taken out again leaves every byte as it was', () => {
  fc.assert(
    fc.property(fc.constantFrom(...policies), fc.lorem({ maxCount: 12 }), fc.nat(), (text, words, number) => {
      const headings = parsePolicy(text).blocks.filter(({ line }) => text.split('\n')[line - 1]?.startsWith('#'));
      const section = headings[number % headings.length]?.line ?? 1;
      const added = after(text, addRuleEdits(text, section, words, 'brand-new'));
      const rule = parsePolicy(added).policy.rules.find(({ id }) => id === 'brand-new');
      expect(rule?.text).toBe(words);
      const left = after(added, removeRuleEdits(added, rule?.line ?? 0));
      expect(left.replace(/\n+/g, '\n')).toBe(text.replace(/\n+/g, '\n'));
    }),
    { numRuns: runs(30) },
  );
});

inFullSuite('a rule of a sample domain that is moved down and up again is where it was', () => {
  for (const text of policies)
    for (const { line, id } of parsePolicy(text).policy.rules) {
      const edits = moveRuleEdits(text, line, 'down');
      if ('problem' in edits) continue;
      const moved = after(text, edits);
      const now = parsePolicy(moved).policy.rules.find((rule) => rule.id === id);
      expect(after(moved, moveRuleEdits(moved, now?.line ?? 0, 'up'))).toBe(text);
    }
});
