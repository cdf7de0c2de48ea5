import { expect, test } from 'vitest';
import type { Json } from '../../../../src/engine/core/json.ts';
import { exampleArguments } from '../../../../src/engine/shell/drafting/exampleArguments.ts';
import { misfitOf } from '../../../../src/engine/shell/load/arguments.ts';

const draft4 = 'http://json-schema.org/draft-04/schema#';
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
