import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { argumentsOf } from '../../../../src/engine/shell/source/note.ts';

const withA = { properties: { a: { type: 'string' } }, required: ['a'] };
const withB = { properties: { b: { type: 'string' } } };

test.each<[string, JsonObject, readonly string[]]>([
  ['properties', withA, ['a']],
  ['forms', { anyOf: [withA, withB] }, ['a', 'b']],
  // `then` is a part of a condition.
  ['a condition', { ...withA, if: {}, ...JSON.parse('{"then":{"required":["c"]}}') }, ['a', 'c']],
  ['a reference', { $ref: '#/$defs/b', $defs: { b: withB } }, ['b']],
  ['nothing', {}, []],
])('the arguments of a schema with %s', (_, parameters, names) => {
  expect(argumentsOf({ parameters } as never)).toEqual(names);
});
