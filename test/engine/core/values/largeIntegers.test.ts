import { expect, test } from 'vitest';
import { parsedArguments } from '../../../../src/engine/core/events/message.ts';
import {
  approximated,
  exactArguments,
  exactJson,
  exactText,
  isLargeInteger,
  largeIntegerPlaces,
  losesDigits,
} from '../../../../src/engine/core/values/largeIntegers.ts';
import { pythonLiteral } from '../../../../src/engine/core/values/pythonLiteral.ts';

const large = '9007199254740993';
const schema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    ids: { type: 'array', items: { $ref: '#/$defs/id' } },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    either: { type: ['integer', 'string'] },
    free: {},
    nullable: { oneOf: [{ type: 'object', properties: { id: { type: 'integer' } } }, { type: 'null' }] },
    both: { allOf: [{ $ref: '#/$defs/row' }, { properties: { name: { type: 'string' } } }] },
    tuple: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    to: { $ref: '#/properties/id' },
    byPattern: { type: 'object', patternProperties: { '^x': { type: 'integer' } } },
    oldTuple: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: { type: 'integer' } },
  },
  $defs: {
    id: { type: 'number' },
    row: { type: 'object', properties: { id: { $ref: '#/$defs/id' }, parent: { $ref: '#/$defs/row' } } },
  },
};

test.each([
  [`{"id":${large}}`, { id: large }],
  [`[-${large},12345678901234567890]`, [`-${large}`, '12345678901234567890']],
  [
    '[9007199254740991,9007199254740992,1e20,0.1234567890123456789]',
    [9007199254740991, '9007199254740992', 1e20, 0.12345678901234568],
  ],
  [`"a ${large} b"`, `a ${large} b`],
  [`"${large}"`, large],
])('%s is read with all its digits', (text, value) => {
  expect(exactJson(text)).toEqual(value);
  expect(losesDigits(text)).toBe(JSON.stringify(value) !== JSON.stringify(JSON.parse(text)));
});

test.each([
  ['0123456789012345678', false],
  ['1234567890123456', false],
  ['1234567890123456789', true],
  ['9'.repeat(100_000), true],
  ['12345678901234567890.5', false],
  ['', false],
])('%s is a number that is too large: %s', (text, isLarge) => {
  expect(isLargeInteger(text)).toBe(isLarge);
});

test('a part of a text keeps its digits', () => {
  const text = `{"result": {"structuredContent": {"id": ${large}, "n": 1.50}}}`;
  expect(exactText(text, (value: { result: { structuredContent: object } }) => value.result.structuredContent)).toBe(
    `{"id":${large},"n":1.5}`,
  );
});

test.each([
  ['free', true],
  ['either', true],
  ['id', true],
  ['name', false],
])('a text of digits that was a number is one again in the argument %s: %s', (name, isNumber) => {
  const written = (places: readonly string[]) => JSON.stringify(exactArguments(schema, { [name]: large }, places));
  expect(written([`/${name}`])).toBe(`{"${name}":${isNumber ? large : `"${large}"`}}`);
  expect(written(['/other'])).toBe(written([]));
});

test('the places of numbers that are too large are kept apart from texts of digits', () => {
  const text = `{"a":${large},"b":"${large}","c/d":[1,{"e":-${large}}]}`;
  expect(largeIntegerPlaces(text)).toEqual(['/a', '/c~1d/1/e']);
  expect(largeIntegerPlaces(large)).toEqual(['']);
  expect(largeIntegerPlaces(`{"b":"${large}"`)).toEqual([]);
});

test('arguments are numbers again where the schema has numbers alone', () => {
  const given = { id: large, name: large, ids: [large, 1], maybe: large, either: large, free: large, to: large };
  expect(JSON.stringify(exactArguments(schema, given))).toBe(
    `{"id":${large},"name":"${large}","ids":[${large},1],"maybe":${large},"either":"${large}","free":"${large}","to":${large}}`,
  );
  expect(approximated(schema, given)).toMatchObject({ id: 2 ** 53, name: large, ids: [2 ** 53, 1] });
  const nested = {
    nullable: { id: large },
    both: { id: large, name: large, parent: { id: large } },
    tuple: [large, large, large],
    byPattern: { x1: large, y1: large },
    oldTuple: [large, large, large],
  };
  expect(JSON.stringify(exactArguments(schema, nested))).toBe(
    `{"nullable":{"id":${large}},"both":{"id":${large},"name":"${large}","parent":{"id":${large}}},"tuple":["${large}",${large},"${large}"],"byPattern":{"x1":${large},"y1":"${large}"},"oldTuple":["${large}",${large},${large}]}`,
  );
  const small = { id: 1, name: 'a' };
  expect([exactArguments(schema, small), approximated(schema, small)]).toEqual([small, small]);
});

test('arguments of a model and rows of Python are read the same way', () => {
  expect(parsedArguments(`{"id":${large}}`)).toEqual({ id: large });
  expect(parsedArguments('{"id":1e400}')).toBe('{"id":1e400}');
  expect(pythonLiteral(`[{'id': ${large}, 'n': 7}]`)).toEqual([{ id: large, n: 7 }]);
});
