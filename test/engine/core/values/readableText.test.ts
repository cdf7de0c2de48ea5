import { expect, test } from 'vitest';
import { readableText } from '../../../../src/engine/core/values/json.ts';

const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;

test.each([
  [
    'an object',
    '{"id":"W1","items":[{"price":5,"is new":true}],"note":null}',
    'id: "W1", items: [{price: 5, "is new": true}], note: null',
  ],
  ['a list', '["a", {"b": 1}]', '["a", {b: 1}]'],
  ['an empty object', '{}', '{}'],
  ['a text', 'Error: {no order}', 'Error: {no order}'],
  ['a text that only begins like JSON', '[W1] is late', '[W1] is late'],
  [
    'a number with more digits than a JavaScript number keeps',
    '{"id":12345678901234567890}',
    '{"id":12345678901234567890}',
  ],
  ['lists in thousands of lists', deep, deep],
])('%s reads as a person would write it', (_, text, expected) => {
  expect(readableText(text)).toBe(expected);
});
