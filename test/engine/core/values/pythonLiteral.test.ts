import { expect, test } from 'vitest';
import type { Json } from '../../../../src/engine/core/values/json.ts';
import { pythonLiteral } from '../../../../src/engine/core/values/pythonLiteral.ts';

test.each<[string, Json]>([
  ["[{'id': 1, 'paid': True, 'due': None}]", [{ id: 1, paid: true, due: null }]],
  [`{"it's": 'a "quote"', 'b': (1, 2.5, -3)}`, { "it's": 'a "quote"', b: [1, 2.5, -3] }],
  ["['a\\nb', 'caf\\xe9', '\\u20ac', 'it\\'s', '\\\\']", ['a\nb', 'café', '€', "it's", '\\']],
  ['[]', []],
  ['(1,)', [1]],
  ["{1: {'__proto__': 2}, }", { 1: JSON.parse('{"__proto__":2}') as Json }],
])('%s is data', (text, value) => {
  expect(pythonLiteral(text)).toEqual(value);
});

test.each([
  'one [1]',
  '[1] two',
  '[1',
  "['a",
  "['\\x4']",
  '[1 2]',
  "{'a' 1}",
  '{1, 2}',
  '{[1]: 2}',
  '[nan]',
  '[datetime.date(2026, 3, 2)]',
  '[FILE] a.txt',
  '['.repeat(100_000),
  '',
])('%s is a text', (text) => {
  expect(pythonLiteral(text)).toBeUndefined();
});
