import { expect, test } from 'vitest';
import { phrasePattern } from '../../../../src/engine/core/dialogue/phrase.ts';
import { plain } from '../../../../src/engine/core/text/text.ts';
import { linearPattern, UnsupportedPattern } from '../../../../src/engine/core/values/linearPattern.ts';

test.each([
  ['^[A-Z]{3}-\\d+$', 'ABC-12', 'abc-12'],
  ['^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$', '2026-03', '2026-13'],
  ['^/rows/[^/]+$', '/rows/a', '/rows/a/b'],
  ['^\\p{L}+$', 'Zürich', 'a1'],
  ['^\\u0041\\x42$', 'AB', 'ab'],
  ['(^|\\W)end$', 'the end', 'bend'],
])('%s fits %s and not %s', (source, fits, other) => {
  expect([fits, other].map(linearPattern(source).test)).toEqual([true, false]);
});

// A backtracking matcher would need years for each of these texts.
test.each(['^(a|a)*$', '^(a+)+$', '^(?:a?){900}a*b$', '(x+x+)+y', '^(\\w+\\s?)*$'])(
  '%s ends on a text that it does not fit',
  (source) => {
    expect(linearPattern(source).test(`${'a'.repeat(50)}!${'x'.repeat(50)}`)).toBe(false);
  },
);

test.each([
  ['(a)\\1', 'it uses a backreference'],
  ['(?<n>a)\\k<n>', 'it uses a backreference'],
  ['a(?=b)', 'it uses lookahead or lookbehind'],
  ['(?<!a)b', 'it uses lookahead or lookbehind'],
  ['^.{1,2000}$', 'it counts above 1000'],
])('%s does not run in linear time', (source, reason) => {
  expect(() => linearPattern(source)).toThrow(new UnsupportedPattern(reason));
});

test.each(['(', '[b-a]', '+'])('%s is not a regular expression', (source) => {
  expect(() => linearPattern(source)).toThrow(SyntaxError);
});

test('a phrase of a lexicon with many places ends on a long text', () => {
  const phrase = phrasePattern(`${'{a} '.repeat(30)}end`);
  expect(phrase.test(`${'. '.repeat(2000)}`)).toBe(false);
});

test('a phrase of a lexicon fits whole words', () => {
  const phrase = phrasePattern("I can't do {anything} for you");
  expect(phrase.test(plain("Well, I can't do that now for you."))).toBe(true);
  expect(phrase.test(plain("I can't do that for yourself"))).toBe(false);
});
