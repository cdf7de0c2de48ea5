import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectsInText } from '../../../../src/engine/core/values/jsonInText.ts';

test.each([
  ['none here', []],
  ['{"a": 1}', [{ a: 1 }]],
  ['```json\n{"a": {"b": "}"}}\n```', [{ a: { b: '}' } }]],
  ['first {"a": "\\"}{"} then {"b": 2}', [{ a: '"}{' }, { b: 2 }]],
  ['wrote {holds} itself: {"holds": false}', [{ holds: false }]],
  ['never closed: {"a": 1', []],
  ['never closed: { {"a": 1}', [{ a: 1 }]],
])('%j holds %j', (text, expected) => expect(objectsInText(text)).toEqual(expected));

test('property: an object is found between any words without braces', () => {
  const words = fc.string().map((text) => text.replaceAll(/[{}"]/g, ''));
  fc.assert(
    fc.property(words, fc.dictionary(fc.string(), fc.string()), words, (before, value, after) => {
      expect(objectsInText(`${before}${JSON.stringify(value)}${after}`)).toEqual([JSON.parse(JSON.stringify(value))]);
    }),
  );
});

test('a text of braces alone is given up', () => expect(objectsInText('{'.repeat(2_000_000))).toEqual([]));
