import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../src/engine/core/policy.ts';
import { markEdits, ruleEdits, ruleTextOf } from '../../../src/engine/language/policyEdit.ts';
import { type TextEdits, withEdits } from '../../../src/engine/language/textEdit.ts';

const after = (source: string, edits: TextEdits) =>
  'problem' in edits ? edits.problem : withEdits(source, edits.edits);

const source = `# Desk

Words of nobody.

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
    [3, 'Words of nobody.'],
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
  expect(markEdits(source, 9, 'second')).toEqual({ problem: expect.stringContaining('no other rule has it') });
  expect(markEdits(source, 9, 'not good')).toEqual({ problem: expect.stringContaining('is no id') });
  expect(markEdits(source, 5, 'other')).toEqual({ problem: expect.stringContaining('begins no rule that has no id') });
});

test('lines end as they do in the file', () => {
  const windows = source.replaceAll('\n', '\r\n');
  expect(after(windows, ruleEdits(windows, 5, 'Look it up\nfirst.'))).toBe(
    source.replace('Look the order up\n  before you change it.', 'Look it up\n  first.').replaceAll('\n', '\r\n'),
  );
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
  );
});
