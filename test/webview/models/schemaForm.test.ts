import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Json, JsonObject, Path } from '../../../src/engine/core/values/json.ts';
import { argumentProblems } from '../../../src/engine/shell/load/arguments.ts';
import {
  demandsOf,
  emptyValue,
  kindOf,
  misfitAt,
  numberFrom,
  resolved,
  type Schema,
  variantFor,
  withoutValue,
  withValue,
} from '../../../src/webview/models/schemaForm.ts';

const kind = (schema: Schema) => kindOf(schema, resolved(schema, schema));
const problems = (parameters: Schema, given: JsonObject) =>
  argumentProblems({ name: 't', parameters } as never, given).map(({ message }) => message);

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'integer' }, 'number'],
  [{ type: 'boolean' }, 'boolean'],
  [{ enum: ['a', 1] }, 'choice'],
  [{ const: 'a' }, 'choice'],
  [{ type: 'null' }, 'choice'],
  [{ type: 'array', items: { type: 'string' } }, 'array'],
  [{ properties: { a: {} } }, 'object'],
  [{ type: 'object' }, 'object'],
  [{ type: ['string', 'null'] }, 'variants'],
  [{ type: ['string'] }, 'text'],
  [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 'variants'],
  [{}, 'json'],
  [{ type: 'unheard' }, 'json'],
] as const)('%j is shown as %s', (schema, type) => {
  expect(kind(schema as Schema).type).toBe(type);
});

test('references and allOf are one schema, and a circle of references ends', () => {
  const root: Schema = {
    $defs: { id: { type: 'string', minLength: 2 }, loop: { $ref: '#/$defs/loop' } },
    allOf: [{ properties: { a: { $ref: '#/$defs/id' } }, required: ['a'] }, { properties: { b: { type: 'number' } } }],
  };
  const whole = resolved(root, root);
  expect(kindOf(root, whole)).toMatchObject({
    type: 'object',
    fields: [
      { name: 'a', isRequired: true, schema: { type: 'string', minLength: 2 } },
      { name: 'b', isRequired: false, schema: { type: 'number' } },
    ],
  });
  expect(resolved(root, { $ref: '#/$defs/loop' })).toBeTypeOf('object');
  expect(resolved(root, { $ref: 'https://elsewhere', title: 'x' })).toEqual({ title: 'x' });
});

const payment: Schema = {
  oneOf: [
    { type: 'object', properties: { kind: { const: 'card' }, last4: { type: 'string' } }, required: ['kind', 'last4'] },
    { type: 'object', properties: { kind: { const: 'voucher' } }, required: ['kind'] },
    { type: 'string' },
  ],
};

test('a value has the form that its constant parts tell, also before it is complete', () => {
  const variants = kind(payment);
  if (variants.type !== 'variants') throw new Error('no variants');
  expect(variants.variants.map(({ label }) => label)).toEqual(['kind: card', 'kind: voucher', 'string']);
  const at = (value: Json) => variantFor(payment, variants.variants, value);
  expect([at({ kind: 'voucher' }), at({ kind: 'card' }), at('x'), at({}), at(1)]).toEqual([1, 0, 2, 0, 0]);
  expect(variants.variants.map(({ schema }) => emptyValue(payment, schema))).toEqual([
    { kind: 'card' },
    { kind: 'voucher' },
    '',
  ]);
});

test('constraints are described in words', () => {
  expect(demandsOf({ type: 'integer', minimum: 1, maximum: 5 })).toBe('a whole number, 1 to 5');
  expect(demandsOf({ type: 'string', format: 'date', minLength: 3 })).toBe('format date, 3 or more characters');
  expect(demandsOf({ type: 'array', maxItems: 2 })).toBe('at most 2 items');
});

test.each([
  [z.int().min(1), 'a whole number, 1 or more'],
  [z.int().max(9), 'a whole number, at most 9'],
  [z.int(), 'a whole number'],
])('the largest whole number of JavaScript is not shown as a constraint', (schema, words) => {
  expect(demandsOf(z.toJSONSchema(schema) as Schema)).toBe(words);
});

test('a value that is not a number stays as it was typed, so that it is refused', () => {
  expect(['1', '-2.5', '1e3', ' 7 ', '1,5', 'x', '0x10', 'Infinity', ''].map(numberFrom)).toEqual([
    1,
    -2.5,
    1000,
    7,
    '1,5',
    'x',
    '0x10',
    'Infinity',
    '',
  ]);
  expect(problems({ type: 'object', properties: { n: { type: 'number' } } }, { n: numberFrom('1,5') })).toHaveLength(1);
});

test('an invalid value is reported at its own place', () => {
  const misfits = [{ path: ['items', 0, 'sku'], message: 'missing' }];
  expect([misfitAt(misfits, ['items', 0, 'sku']), misfitAt(misfits, ['items', 0])]).toEqual(['missing', undefined]);
});

test('a value is put where it belongs and taken out again', () => {
  const keys: fc.Arbitrary<Path> = fc.array(fc.oneof(fc.constantFrom('a', 'b', '__proto__x'), fc.constant(0)), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(keys, fc.jsonValue(), (path, value) => {
      const put = withValue({}, ['top', ...path], value as Json);
      const found = ['top', ...path].reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], put);
      expect(found).toEqual(value);
      expect(withoutValue(put, ['top'])).toEqual({});
      expect(withoutValue({ kept: 1 }, ['top', ...path])).toEqual({ kept: 1 });
    }),
  );
});

/** Schemas of the kinds that a form shows, with values that fit them. */
const shapes = fc.letrec<{ shape: { readonly schema: Schema; readonly value: Json } }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small' },
    fc.string().map((value) => ({ schema: { type: 'string' }, value })),
    fc.integer().map((value) => ({ schema: { type: 'integer' }, value })),
    fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value })),
    fc.constantFrom('a', 'b').map((value) => ({ schema: { enum: ['a', 'b'] }, value })),
    tie('shape').map(({ schema, value }) => ({ schema: { type: 'array', items: schema }, value: [value] })),
    fc.dictionary(fc.constantFrom('x', 'y', 'z'), tie('shape'), { minKeys: 1 }).map((parts) => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(parts).map(([name, { schema }]) => [name, schema])),
        required: Object.keys(parts),
        additionalProperties: false,
      },
      value: Object.fromEntries(Object.entries(parts).map(([name, { value }]) => [name, value])),
    })),
  ),
})).shape;

/** Builds a value as a person would: each part with its control. */
function filledIn(root: Schema, schema: Schema, wanted: Json): Json {
  const control = kindOf(root, resolved(root, schema));
  if (control.type === 'object')
    return control.fields.reduce<Json>(
      (value, { name, schema: own }) =>
        withValue(value, [name], filledIn(root, own, (wanted as JsonObject)[name] as Json)),
      emptyValue(root, schema),
    );
  if (control.type === 'array')
    return (wanted as Json[]).reduce<Json>(
      (list, item, index) => withValue(list, [index], filledIn(root, control.items, item)),
      emptyValue(root, schema),
    );
  if (control.type === 'choice') expect(control.values).toContainEqual(wanted);
  return control.type === 'number' ? numberFrom(String(wanted)) : wanted;
}

test('every value that a schema allows can be filled in by its controls, and fits', () => {
  fc.assert(
    fc.property(shapes, ({ schema, value }) => {
      const parameters: Schema = { type: 'object', properties: { it: schema }, required: ['it'] };
      const built = filledIn(parameters, parameters, { it: value });
      expect(built).toEqual({ it: value });
      expect(problems(parameters, built as JsonObject)).toEqual([]);
    }),
  );
});

test.each<[string, Schema]>([
  ['allOf', { allOf: [{ $ref: '#' }, { $ref: '#' }] }],
  ['anyOf', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }],
  ['anyOf over a reference', { $defs: { a: { oneOf: [{ $ref: '#/$defs/a' }] } }, anyOf: [{ $ref: '#/$defs/a' }] }],
  [
    'parts that are required',
    {
      type: 'object',
      properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } },
      required: ['a', 'b', 'c'],
    },
  ],
])('a schema that leads back to itself by %s is a form with an end', (_, root) => {
  const own = resolved(root, root);
  expect(['json', 'object']).toContain(kindOf(root, own).type);
  expect(JSON.stringify(emptyValue(root, root)).length).toBeLessThan(10_000);
  expect(variantFor(root, [{ label: 'itself', schema: own }], { a: { a: {} } })).toBe(0);
});
