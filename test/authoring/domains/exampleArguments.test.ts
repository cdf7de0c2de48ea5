import { expect, test } from 'vitest';
import { exampleArguments } from '../../../src/authoring/domains/exampleArguments.ts';
import { schemaWithDigits } from '../../../src/engine/core/values/exactSchema.ts';
import type { Json, JsonObject } from '../../../src/engine/core/values/json.ts';
import { rawJson } from '../../../src/engine/core/values/largeIntegers.ts';
import { misfitOf } from '../../../src/engine/shell/load/arguments.ts';
import { sentArguments } from '../../../src/engine/shell/load/exactErrors.ts';

const draft4 = 'http://json-schema.org/draft-04/schema#';
const bounded = (n: Json) => ({
  type: 'object',
  properties: { n: { type: 'integer', ...(n as object) } },
  required: ['n'],
});
const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

test.each<[string, Record<string, Json>, Record<string, Json>?]>([
  ['a minimum', { type: 'integer', minimum: 3 }],
  ['an exclusive minimum', { type: 'integer', exclusiveMinimum: 3 }],
  ['an exclusive minimum of draft 4', { type: 'integer', minimum: 3, exclusiveMinimum: true }, { $schema: draft4 }],
  ['an exclusive maximum', { type: 'integer', minimum: -9, exclusiveMaximum: -7 }],
  ['multiples', { type: 'integer', exclusiveMinimum: 10, multipleOf: 5 }],
  [
    'all of several schemas',
    { allOf: [{ $ref: '#/$defs/place' }, { properties: { zip: { type: 'integer' } }, required: ['zip'] }] },
  ],
  [
    'all of schemas of schemas',
    { allOf: [{ allOf: [place] }, { required: ['zip'], properties: { zip: { type: 'number' } } }] },
  ],
  ['a map that may not be empty', { type: 'object', additionalProperties: { type: 'number' }, minProperties: 2 }],
  ['contains', { type: 'array', contains: { type: 'integer', minimum: 5 }, minItems: 2 }],
  ['minContains', { type: 'array', items: { type: 'integer' }, contains: { minimum: 7 }, minContains: 3 }],
  ['contains behind a tuple', { prefixItems: [{ type: 'string' }], contains: { type: 'integer' } }],
  ['contains in a tuple', { prefixItems: [{ enum: ['a', 'b'] }, true], items: false, contains: { const: 'b' } }],
  ['a number between limits', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ['a number that may only be small', { type: 'number', exclusiveMaximum: 0.5 }],
  ['an integer above a fraction', { type: 'integer', minimum: 0.5 }],
  ['an integer that is a multiple of a fraction', { type: 'integer', multipleOf: 1.5, minimum: 2 }],
  ['limits of several schemas', { type: 'integer', allOf: [{ minimum: 3 }, { minimum: 7 }, { maximum: 7 }] }],
  ['a property in several schemas', { allOf: [bounded({ minimum: 3 }), bounded({ maximum: 3 })] }],
  ['a default of another type', { type: 'integer', default: '' }],
  ['an example that is too short', { type: 'string', minLength: 300, examples: ['x'] }],
  ['an enum and a pattern', { enum: ['a', 'bb', 'ccc'], type: 'string', minLength: 3 }],
  ['null alone', { enum: [null] }],
  ['a constant that is null', { const: null }],
  ['a pattern with choices', { type: 'string', pattern: '^(?:asc|desc)(?:-(a|b)\\d{2})?$' }],
  ['a pattern with escapes of other languages', { type: 'string', pattern: '^https:\\/\\/' }],
  ['a pattern of choices', { type: 'string', pattern: '^(AB|CDE)$', minLength: 3 }],
  ['names of properties', { type: 'object', propertyNames: { enum: ['x', 'y'] }, minProperties: 1 }],
  [
    'patterns of names',
    {
      type: 'object',
      patternProperties: { '^n_\\d+$': { type: 'integer' } },
      additionalProperties: false,
      minProperties: 2,
    },
  ],
  [
    'as many properties as it needs',
    { type: 'object', properties: { a: {}, b: {} }, additionalProperties: false, required: ['a'], minProperties: 2 },
  ],
  ['a form of several that is not the first', { oneOf: [{ type: 'string', pattern: '(?=a)[' }, { const: 4 }] }],
  ['a type of several', { type: ['string', 'integer'], minimum: 3, maxLength: 0, not: { type: 'string' } }],
])('a draft has arguments that fit %s', (_, schema, more = {}) => {
  const parameters = {
    ...more,
    type: 'object',
    properties: { value: schema },
    required: ['value'],
    $defs: { place },
  };
  const given = exampleArguments({ parameters });
  expect(misfitOf({ parameters } as never, given), JSON.stringify(given)).toBeNull();
  expect(given).toHaveProperty('value');
});

test.each<[string, string, string]>([
  ['a minimum of -2^53', '"minimum":-9007199254740992', '1'],
  ['the limits of 64 bits', '"minimum":-9223372036854775808,"maximum":9223372036854775807', '1'],
  ['the limits of safe integers', '"minimum":-9007199254740991,"maximum":9007199254740991', '1'],
  ['a minimum beyond 2^53', '"minimum":9007199254740993', '9007199254740993'],
  ['an exclusive minimum of 2^53', '"exclusiveMinimum":9007199254740992', '9007199254740993'],
  ['a minimum of 1e16', '"minimum":1e16', '10000000000000000'],
  ['a maximum beyond -2^53', '"exclusiveMaximum":-9007199254740993', '-9007199254740994'],
  ['multiples beyond 2^53', '"minimum":9007199254740993,"multipleOf":10', '9007199254741000'],
  ['multiples of a number beyond 2^53', '"multipleOf":9007199254740993', '9007199254740993'],
  [
    'several limits beyond 2^53',
    '"allOf":[{"minimum":9007199254740993},{"minimum":9007199254740997},{"minimum":3}]',
    '9007199254740997',
  ],
])('a draft has a number that fits %s', (_, limits, sent) => {
  const written = `{"type":"object","properties":{"n":{"type":"integer",${limits}}},"required":["n"]}`;
  const parameters = schemaWithDigits(rawJson(written) as JsonObject);
  const given = exampleArguments({ parameters });
  expect(misfitOf({ parameters } as never, given), JSON.stringify(given)).toBeNull();
  expect(JSON.stringify(sentArguments(parameters, given))).toBe(`{"n":${sent}}`);
});

const text = { type: 'string' };
const integer = { type: 'integer' };
/** Biome refuses `then` as a key. */
const branches = (json: string) => JSON.parse(json) as Record<string, Json>;
const named = { type: 'object', properties: { a: text, b: integer, c: { type: 'boolean' } } };

test.each<[string, Record<string, Json>]>([
  ['oneOf', { ...named, oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
  [
    'oneOf without a type',
    { oneOf: [{ properties: { a: text }, required: ['a'], additionalProperties: false }, named] },
  ],
  ['oneOf that excludes', { ...named, oneOf: [{ not: { required: ['a'] } }, { required: ['b'] }], required: ['b'] }],
  [
    'oneOf told apart by a type',
    { type: 'object', oneOf: [{ properties: { a: text } }, { properties: { a: integer } }] },
  ],
  ['anyOf', { ...named, anyOf: [{ required: ['a', 'b'] }, { required: ['c'] }] }],
  [
    'anyOf of references',
    { type: 'object', anyOf: [{ $ref: '#/$defs/one' }, { $ref: '#/$defs/two' }], $defs: forms() },
  ],
  ['anyOf and oneOf', { ...named, anyOf: [{ required: ['a'] }], oneOf: [{ required: ['b'] }, { required: ['c'] }] }],
  ['anyOf in allOf', { ...named, allOf: [{ anyOf: [{ required: ['a'] }] }, { anyOf: [{ required: ['c'] }] }] }],
  ['dependentRequired', { ...named, required: ['a'], dependentRequired: { a: ['b'], b: ['c'] } }],
  [
    'dependentSchemas',
    { ...named, required: ['a'], dependentSchemas: { a: { required: ['d'], properties: { d: integer } } } },
  ],
  ['dependencies of draft 7', { ...named, required: ['a'], dependencies: { a: ['b'], b: { required: ['c'] } } }],
  [
    'then',
    {
      ...named,
      required: ['a'],
      if: { properties: { a: { const: 'x' } } },
      ...branches('{"then":{"required":["b"]}}'),
    },
  ],
  ['else', { ...named, if: { required: ['a'] }, ...branches('{"then":false,"else":{"required":["b"]}}') }],
  ['minProperties', { ...named, minProperties: 2, additionalProperties: false }],
  ['a union of actions', { oneOf: [action('add', { by: integer }), action('remove', { id: text })] }],
  [
    'a choice behind many others',
    {
      type: 'object',
      properties: Object.fromEntries([...'abcdef'].map((name) => [name, { enum: ['x', 'y', 'z'] }])),
      required: [...'abcdef'],
      not: { properties: { c: { const: 'x' }, e: { const: 'x' } } },
    },
  ],
])('a draft has arguments that fit the root: %s', (_, parameters) => {
  const given = exampleArguments({ parameters });
  expect(misfitOf({ parameters } as never, given), JSON.stringify(given)).toBeNull();
});

function forms(): Record<string, Json> {
  return {
    one: { required: ['a'], properties: { a: { $ref: '#/$defs/one' } } },
    two: { required: ['b'], properties: { b: text } },
  };
}

function action(name: string, more: Record<string, Json>): Json {
  const properties = { action: { const: name }, ...more };
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

test.each([
  ['^https\\:\\/\\/', 'https://'],
  ['(?i)^(red|blue)$', 'red'],
  ['^(?i)[a-z]{3}$', 'aaa'],
])('a text for the pattern %s, which only the server checks, is made from it', (pattern, text) => {
  const parameters = { type: 'object', properties: { x: { type: 'string', pattern } }, required: ['x'] };
  expect(exampleArguments({ parameters })).toEqual({ x: text });
});
