import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRead } from '../../../../src/engine/core/events/reads.ts';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { type Database, draft, openDatabase, readView, settled } from '../../../../src/engine/core/world/database.ts';
import { ReadObserver } from '../../../../src/engine/shell/workers/readObserver.ts';
import { runs } from '../../../support/runs.ts';

const rows = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`r${n}`, { n, tag: 'x' }]));

/** Views of a database: as it was loaded, after a write, and as a draft. */
const views: Readonly<Record<string, (db: Database) => JsonObject>> = {
  'as it was loaded': readView,
  'after a write': (db) => {
    const open = draft(db);
    (open.view as Record<string, unknown>)['also'] = rows(70);
    return readView(open.finish().db);
  },
  'that is written': (db) => draft(db).view,
};

describe.each(Object.entries(views))('a database %s', (_, viewOf) => {
  test('property: looks as it does without an observer, and each value that is read is recorded', () => {
    const json = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.jsonValue({ maxDepth: 3 }), {
      maxKeys: 6,
    });
    fc.assert(
      fc.property(json, (value) => {
        const db = openDatabase({ ...value, wide: rows(70), list: [1, [2, { a: 3 }]] } as JsonObject);
        const observer = new ReadObserver();
        const [plain, observed] = [viewOf(db), observer.observed('agent', viewOf(db))];
        expect(observed).toEqual(plain);
        expect(JSON.stringify(observed)).toBe(JSON.stringify(plain));
        expect(Array.isArray(observed['list'])).toBe(true);
        expect(Object.keys(observed)).toEqual(Object.keys(plain));
        expect('wide' in observed && !('absent' in observed)).toBe(true);
        const { reads } = observer;
        const got = pathsIn(JSON.parse(JSON.stringify(plain)) as Json);
        expect(got.filter((path) => !isRead(reads, 'agent', path))).toEqual([]);
      }),
      { numRuns: runs(10) },
    );
  });

  test('names the row that is read, and no other', () => {
    const observer = new ReadObserver();
    const db = observer.observed(
      'user',
      viewOf(openDatabase({ wide: rows(70), other: { a: 1 } } as unknown as JsonObject)),
    );
    const wide = db['wide'] as Record<string, JsonObject>;
    const row = wide['r7'];
    expect([row?.['tag'], wide['none'], wide['r7'] === row]).toEqual(['x', undefined, true]);
    expect(observer.reads).toEqual({ user: { wide: { r7: { tag: true } } } });
  });
});

test('plain and frozen values can be copied and are not written', () => {
  const db = openDatabase({ orders: { W1: { items: [{ price: 1 }] } } } as unknown as JsonObject);
  const orders = new ReadObserver().observed('agent', readView(db))['orders'] as { W1: { items: { price: number }[] } };
  expect(structuredClone(orders.W1)).toEqual({ items: [{ price: 1 }] });
  expect(orders.W1.items.map(({ price }) => price)).toEqual([1]);
  expect(() => orders.W1.items.push({ price: 2 })).toThrow(TypeError);
  expect(() => Object.assign(orders.W1, { items: [] })).toThrow(TypeError);
  expect(Object.isFrozen(orders.W1)).toBe(true);
});

test('a draft is written through it, and a value that is moved or returned counts as read entirely', () => {
  const db = openDatabase({ a: { x: { n: 1 } }, b: {}, c: { y: { n: 2 } }, list: [1] } as unknown as JsonObject);
  const observer = new ReadObserver();
  const open = draft(db);
  const view = observer.observed('agent', open.view) as Record<string, Record<string, Json> & Json[]>;
  (view['b'] as Record<string, Json>)['moved'] = view['a']?.['x'] as Json;
  (view['list'] as unknown as number[]).push(2);
  const returned = view['c']?.['y'];
  const { db: after, patches } = open.finish();
  expect(readView(after)).toEqual({ a: { x: { n: 1 } }, b: { moved: { n: 1 } }, c: { y: { n: 2 } }, list: [1, 2] });
  expect(patches).toHaveLength(2);
  expect(settled(returned)).toEqual({ n: 2 });
  for (const path of [
    ['a', 'x', 'n'],
    ['c', 'y', 'n'],
  ])
    expect(isRead(observer.reads, 'agent', path)).toBe(true);
  expect(isRead(observer.reads, 'agent', ['list', 0])).toBe(false);
});

test('a scan names the fields read of each row; beyond the limit, the rows count as read entirely', () => {
  const scanned = (count: number, seen = count) => {
    const observer = new ReadObserver();
    const table = observer.observed('agent', readView(openDatabase({ rows: rows(count) } as unknown as JsonObject)))[
      'rows'
    ];
    for (const row of Object.values(table as Record<string, JsonObject>).slice(0, seen)) expect(row['tag']).toBe('x');
    return observer.reads;
  };
  expect(scanned(300)).toEqual({ agent: { rows: [{ tag: true }] } });
  expect(scanned(3000)).toEqual({ agent: { rows: [true] } });
});

function pathsIn(value: Json): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return Object.entries(value).flatMap(([key, each]) => pathsIn(each as Json).map((path) => [key, ...path]));
}
