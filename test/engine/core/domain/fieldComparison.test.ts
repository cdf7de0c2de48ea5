import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  alignedDatabase,
  alignedWith,
  type FieldComparison,
  fieldComparisonSchema,
} from '../../../../src/engine/core/domain/fieldComparison.ts';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { openDatabase, toJson } from '../../../../src/engine/core/world/database.ts';

const compare: FieldComparison = fieldComparisonSchema.parse({
  unordered: ['tags', 'orders.*.items', 'lines'],
  tolerance: { total: 0.01, 'orders.*.weight': 2, amount: 1 },
});

test.each<[string, Json, Json, boolean]>([
  ['a list without an order', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }, true],
  ['the same element twice', { tags: ['a', 'a', 'b'] }, { tags: ['a', 'b', 'b'] }, false],
  ['another number of elements', { tags: ['a', 'b'] }, { tags: ['a', 'b', 'b'] }, false],
  ['other elements', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, false],
  ['a list with an order', { names: ['a', 'b'] }, { names: ['b', 'a'] }, false],
  ['a list at a path', { orders: { W1: { items: [1, 2] } } }, { orders: { W1: { items: [2, 1] } } }, true],
  ['a list of the same name at another path', { items: [1, 2] }, { items: [2, 1] }, false],
  ['a list in a list', { lines: [{ tags: [1, 2] }, 3] }, { lines: [3, { tags: [2, 1] }] }, true],
  ['a number within its tolerance', { total: 1.1 }, { total: 1.09 }, true],
  ['a number beyond its tolerance', { total: 1.1 }, { total: 1.0899 }, false],
  ['a number without a tolerance', { price: 1.1 }, { price: 1.1000001 }, false],
  ['a text with digits', { total: '1.1' }, { total: 1.1 }, false],
  ['numbers at a path', { orders: { W1: { weight: 5 } } }, { orders: { W1: { weight: 3 } } }, true],
  [
    'numbers in lists without an order',
    { lines: [{ amount: 5 }, { amount: 6 }] },
    { lines: [{ amount: 5 }, { amount: 4 }] },
    true,
  ],
  [
    'numbers in such lists that cannot be paired',
    { lines: [{ amount: 5 }, { amount: 6 }] },
    { lines: [{ amount: 4 }, { amount: 4 }] },
    false,
  ],
  ['a missing field', { total: 1 }, {}, false],
])('%s', (_, one, other, isAlike) => {
  const results = [alignedWith(one, other, compare), alignedWith(other, one, compare)];
  expect(
    [results[0], results[1]].map((aligned, at) => JSON.stringify(aligned) === JSON.stringify([other, one][at])),
  ).toEqual([isAlike, isAlike]);
});

it('returns only values that count as different', () => {
  const gold = { orders: { W1: { items: ['lamp', 'chair', 'desk'], weight: 4, total: 9 } } };
  const made = { orders: { W1: { items: ['desk', 'sofa', 'lamp'], weight: 5, total: 8 } } };
  expect(toJson(alignedDatabase(openDatabase(gold), openDatabase(made), compare))).toEqual({
    orders: { W1: { items: ['desk', 'chair', 'lamp'], weight: 5, total: 9 } },
  });
});

describe('databases', () => {
  const list = fc.array(fc.nat(4), { maxLength: 6 });

  it('count as equal if their unordered lists have the same elements', () => {
    fc.assert(
      fc.property(list, list, (one, other) => {
        const db = (tags: readonly number[]): JsonObject => ({ rows: { R1: { tags, names: ['a'] } } });
        const aligned = toJson(alignedDatabase(openDatabase(db(one)), openDatabase(db(other)), compare));
        const isSame = JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());
        expect(JSON.stringify(aligned) === JSON.stringify(db(other))).toBe(isSame);
      }),
    );
  });

  it('with long lists are compared in little time', () => {
    const db = (tags: readonly number[]) => openDatabase({ tags: tags.map((total) => ({ total })) });
    const long = Array.from({ length: 20_000 }, (_, at) => at);
    const other = db(long.toReversed());
    expect(toJson(alignedDatabase(db(long), other, compare))).toEqual(toJson(other));
  });

  it('are compared exactly if nothing is declared', () => {
    const db = openDatabase({ tags: [1, 2] });
    expect(alignedDatabase(db, openDatabase({ tags: [2, 1] }), fieldComparisonSchema.parse({}))).toBe(db);
  });
});
