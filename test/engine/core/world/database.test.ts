import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import {
  applyPatches,
  type Database,
  diffDatabases,
  draft,
  getAt,
  hashOf,
  keysAt,
  openDatabase,
  type Patch,
  patchesOf,
  readView,
  sameDatabase,
  settled,
  toJson,
  tracedView,
} from '../../../../src/engine/core/world/database.ts';

// biome-ignore lint/suspicious/noExplicitAny: code of a domain writes to its database untyped.
type Loose = any;

/** Returns a table of `count` orders, which is stored as a trie from 65 orders on. */
function shop(count: number): JsonObject {
  const order = (index: number) => ({
    id: `#W${index}`,
    status: 'pending',
    items: [
      { sku: index, price: 9.5 },
      { sku: index + 1, price: 3 },
    ],
  });
  return {
    orders: Object.fromEntries(Array.from({ length: count }, (_, index) => [`#W${index}`, order(index)])),
    count,
  };
}

/** Runs the same code on a draft and on plain JSON, and checks that the results are equal. */
function check(
  start: JsonObject,
  write: (db: Loose) => unknown,
): { readonly after: Database; readonly patches: readonly Patch[] } {
  const base = openDatabase(start);
  const before = JSON.stringify(toJson(base));
  const open = draft(base);
  const plain = structuredClone(start);
  const [seen, expected] = [write(open.view), write(plain)];
  expect(JSON.stringify(seen)).toBe(JSON.stringify(expected));
  const { db, patches } = open.finish();
  expect(toJson(db)).toEqual(plain);
  expect(JSON.stringify(toJson(base))).toBe(before);
  const again = applyPatches(openDatabase(start), JSON.parse(JSON.stringify(patches)));
  expect(JSON.stringify(toJson(again))).toBe(JSON.stringify(toJson(db)));
  expect(hashOf(again)).toBe(hashOf(db));
  expect(hashOf(db)).toBe(hashOf(openDatabase(plain as JsonObject)));
  return { after: db, patches };
}

describe.each([3, 64, 65, 66, 1000])('a draft of %i orders behaves like plain JSON', (count) => {
  const cases: Record<string, (db: Loose) => unknown> = {
    'a field': (db) => {
      db.orders['#W1'].status = 'cancelled';
    },
    'a nested field': (db) => {
      db.orders['#W1'].items[0].price += 1;
    },
    'an insert': (db) => {
      db.orders.new = { ...db.orders['#W1'], id: 'new' };
    },
    'keys that look like numbers': (db) => {
      db.orders[7] = 1;
      db.orders.x = 2;
      db.orders[3] = 3;
      return Object.keys(db.orders);
    },
    'a delete': (db) => {
      delete db.orders['#W0'];
      return [Object.keys(db.orders), '#W0' in db.orders, db.orders['#W0']];
    },
    'all but two deleted': (db) => {
      for (const key of Object.keys(db.orders).slice(2)) delete db.orders[key];
    },
    'a table replaced': (db) => {
      db.orders = Object.fromEntries(Object.entries(db.orders as object).filter(([, order]) => order.id !== '#W2'));
    },
    'push, splice, sort, reverse, unshift': (db) => {
      const { items } = db.orders['#W1'];
      items.push({ sku: 50, price: 1 });
      items.sort((a: Loose, b: Loose) => a.price - b.price);
      const [first] = items.splice(0, 1);
      items.reverse();
      items.unshift(first, { sku: 60, price: 2 });
      return [items.length, items.map((item: Loose) => item.sku), items.indexOf(first)];
    },
    'moving a part to another place': (db) => {
      db.orders['#W1'].items.push(db.orders['#W2'].items[0]);
      db.orders['#W2'].items[0].price = 77;
    },
    'writing to an object after it was put in': (db) => {
      const order: Loose = { items: [] };
      db.orders.late = order;
      order.items.push(db.orders['#W0']);
      db.orders.late.note = 'x';
      return db.orders.late === order;
    },
    reading: (db) => [
      Object.keys(db.orders),
      Object.values(db.orders),
      Object.entries(db.orders).length,
      '#W1' in db.orders,
      Object.hasOwn(db.orders, '#W1'),
      Object.hasOwn(db.orders, 'nope'),
      db.orders.nope,
      { ...db.orders['#W1'] },
      Array.isArray(db.orders['#W1'].items),
      String(db.orders),
      Object.is(db.orders['#W1'], db.orders['#W1']),
      JSON.stringify(db),
    ],
    'destructuring and for-in': (db) => {
      const { '#W1': one, ...rest } = db.orders;
      const keys = [];
      for (const key in db.orders) keys.push(key);
      return [one, rest, keys];
    },
    'Object.assign and defineProperty': (db) => {
      Object.assign(db.orders, { a: 1, '#W1': 2 });
      Object.defineProperty(db.orders, 'b', { value: 3, enumerable: true, configurable: true, writable: true });
    },
    'set, delete and set again': (db) => {
      const order = db.orders['#W1'];
      db.orders.temporary = 1;
      delete db.orders.temporary;
      delete db.orders['#W1'];
      const without = Object.keys(db.orders);
      db.orders['#W1'] = { ...order, status: 'x' };
      return [without, db.orders['#W1']];
    },
  };
  for (const [name, write] of Object.entries(cases)) test(name, () => void check(shop(count), write));
});

test('patches are small and have the previous value', () => {
  const { patches } = check(shop(100), (db) => {
    db.orders['#W1'] = { ...db.orders['#W1'], status: 'done' };
    db.orders['#W2'].items.splice(0, 1);
    db.orders.fresh = [];
    delete db.count;
  });
  const byPath = (a: Patch, b: Patch) => (String(a.path) < String(b.path) ? -1 : 1);
  expect(patches.toSorted(byPath)).toEqual([
    { op: 'remove', path: ['count'], old: 100 },
    { op: 'replace', path: ['orders', '#W1', 'status'], value: 'done', old: 'pending' },
    { op: 'remove', path: ['orders', '#W2', 'items', 0], old: { sku: 2, price: 9.5 } },
    { op: 'add', path: ['orders', 'fresh'], value: [] },
  ]);
});

test('the result of a tool is plain JSON of the end state, also for parts that it removed', () => {
  for (const count of [3, 100]) {
    const open = draft(openDatabase(shop(count)));
    const view = open.view as Loose;
    const gone = view.orders['#W2'];
    const result = { order: view.orders['#W1'], list: [gone], count: 1, mine: { a: [1] } };
    view.orders['#W1'].status = 'late';
    gone.status = 'gone';
    delete view.orders['#W2'];
    open.finish();
    expect(settled(result)).toEqual({
      order: { ...(shop(3) as Loose).orders['#W1'], status: 'late' },
      list: [{ ...(shop(3) as Loose).orders['#W2'], status: 'gone' }],
      count: 1,
      mine: { a: [1] },
    });
    expect(settled('text')).toBe('text');
  }
});

test('writing the present value is not a change', () => {
  const base = openDatabase(shop(100));
  const open = draft(base);
  const view = open.view as Loose;
  view.orders['#W1'].items = [
    { sku: 1, price: 9.5 },
    { price: 3, sku: 2 },
  ];
  view.orders['#W2'].status = 'pending';
  view.orders['#W3'] = structuredClone(toJson(base)['orders'] as Loose)['#W3'];
  expect(open.finish()).toEqual({ db: base, patches: [] });
});

test('a write shares everything but the row', () => {
  const base = openDatabase(shop(1000));
  const open = draft(base);
  (open.view as Loose).orders['#W5'].status = 'x';
  const { db } = open.finish();
  const [before, after] = [readView(base), readView(db)] as Loose[];
  expect(after.orders['#W6']).toBe(before.orders['#W6']);
  expect(after.orders['#W5'].items).toBe(before.orders['#W5'].items);
  expect(after.orders['#W5']).not.toBe(before.orders['#W5']);
  expect(before.orders['#W5'].status).toBe('pending');
});

describe('a value that JSON cannot represent is refused with its path', () => {
  const loop: Loose = {};
  loop.self = { loop };
  const cases: [string, unknown, RegExp][] = [
    ['a Date', new Date(0), /^orders\["#W1"\]\.note was given a Date/],
    ['a function', () => 1, /note was given a function/],
    ['NaN', Number.NaN, /note was given NaN/],
    ['undefined', undefined, /note was given undefined.*use null/],
    ['a bigint', 1n, /note was given a bigint/],
    ['a Map', new Map(), /note was given a Map/],
    ['a hole in a list', Array(2), /note\[0\] was given undefined/],
    ['a cycle', loop, /note\.self\.loop was given an object that contains itself/],
    ['something deep', { a: [{ b: Number.POSITIVE_INFINITY }] }, /note\.a\[0\]\.b was given Infinity/],
    ['a frozen object that was looked at', Object.freeze({ a: undefined }), /note\.a was given undefined/],
  ];
  test.each(cases)('%s', (_, value, message) => {
    for (const count of [3, 100]) {
      const open = draft(openDatabase(shop(count)));
      const view = open.view as Loose;
      view.orders['#W1'].note = value;
      JSON.stringify(typeof value === 'bigint' || value === loop ? null : view.orders['#W1'].note);
      expect(() => open.finish()).toThrow(message);
    }
  });

  test('a key that a list does not have', () => {
    const open = draft(openDatabase({ vouchers: [{ id: 'V1' }] }));
    const vouchers = open.view['vouchers'] as unknown as Record<string, unknown>;
    expect(() => {
      vouchers['V2'] = { id: 'V2' };
    }).toThrow(/^V2 was written to a list, which has no such key; write a table as an object/);
    vouchers[1] = { id: 'V2' };
    expect(open.finish().patches).toHaveLength(1);
  });

  test('a draft inside itself', () => {
    for (const count of [3, 100]) {
      const open = draft(openDatabase(shop(count)));
      const view = open.view as Loose;
      view.orders['#W1'].all = view.orders;
      expect(() => open.finish()).toThrow(/orders\["#W1"\]\.all was given an object that contains itself/);
    }
  });
});

test('a view cannot be written after the call has ended', () => {
  for (const end of ['finish', 'discard'] as const) {
    const open = draft(openDatabase(shop(100)));
    const view = open.view as Loose;
    const order = view.orders['#W1'];
    open[end]();
    expect(() => {
      order.status = 'late';
    }).toThrow(/the tool call is over/);
    expect(() => {
      delete view.orders['#W2'];
    }).toThrow(/the tool call is over/);
    expect(() => order.items.push(1)).toThrow(/the tool call is over/);
  }
});

describe('a read tool may not write', () => {
  const writes: [string, (db: Loose) => unknown, RegExp][] = [
    ['a field', (db) => Object.assign(db.orders['#W1'], { status: 'x' }), /change orders\["#W1"\]\.status/],
    ['a list', (db) => db.orders['#W1'].items.push(1), /change orders\["#W1"\]\.items\[2\]/],
    [
      'a sort',
      (db) => db.orders['#W1'].items.sort((a: Loose, b: Loose) => a.price - b.price),
      /change orders\["#W1"\]\.items\[0\]/,
    ],
    ['a delete', (db) => Reflect.deleteProperty(db.orders, '#W1') || fail(), /change orders\["#W1"\]/],
    ['an insert', (db) => Object.assign(db.orders, { x: 1 }), /change orders\.x/],
    ['the root', (db) => Object.assign(db, { x: 1 }), /change x/],
  ];
  test.each(writes)('%s', (_, write, message) => {
    for (const count of [3, 100]) {
      const base = openDatabase(shop(count));
      const open = draft(base);
      (open.view as Loose).orders['#W2'].status = 'a change, so that the table is no longer a plain object';
      const { db } = open.finish();
      expect(() => write(readView(db))).toThrow(TypeError);
      expect(() => write(tracedView(db))).toThrow(message);
      expect(() => write(tracedView(db))).toThrow(/a read tool may not write/);
    }
  });

  function fail(): never {
    throw new TypeError('refused');
  }
});

test('the read view and the traced view are the same JSON', () => {
  for (const count of [3, 100]) {
    const open = draft(openDatabase(shop(count)));
    (open.view as Loose).orders.x = { a: [1] };
    const { db } = open.finish();
    expect(JSON.stringify(readView(db))).toBe(JSON.stringify(toJson(db)));
    expect(JSON.stringify(tracedView(db))).toBe(JSON.stringify(toJson(db)));
  }
});

test('pages of keys and values at a path', () => {
  const base = openDatabase(shop(100));
  expect(keysAt(base, ['orders'], { offset: 2, limit: 2 })).toEqual({ keys: ['#W2', '#W3'], total: 100 });
  expect(keysAt(base, ['orders', '#W1', 'items'])).toEqual({ keys: [0, 1], total: 2 });
  expect(keysAt(base, ['orders', 'nope'])).toEqual({ keys: [], total: 0 });
  expect(getAt(base, ['orders', '#W1', 'items', 1, 'price'])).toBe(3);
  expect(getAt(base, ['orders', '#W1', 'items', 'length'])).toBeUndefined();
  expect(getAt(base, ['orders', 'toString'])).toBeUndefined();
});

test('a recorded write that does not fit is reported with its path', () => {
  const base = openDatabase(shop(3));
  const misfits: Patch[] = [
    { op: 'replace', path: ['orders', 'nope', 'status'], value: 1 },
    { op: 'replace', path: ['orders', 'nope'], value: 1 },
    { op: 'add', path: ['count'], value: 1 },
    { op: 'remove', path: ['orders', '#W1', 'items', 5] },
    { op: 'remove', path: [] },
  ];
  for (const patch of misfits) expect(() => applyPatches(base, [patch])).toThrow(/does not fit this database: \w+ at /);
});

/** Objects around the width at which they are stored as tables, lists, and keys that are awkward in JavaScript. */
const awkward = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '0', '7', '007', '4294967295', ''),
  fc.string({ maxLength: 3 }),
  fc.nat(90).map(String),
);
const tree = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('value'), { maxLength: 5 }),
    tie('object'),
  ),
  object: fc.oneof(
    fc.dictionary(awkward, tie('value'), { maxKeys: 6 }),
    fc.dictionary(awkward, fc.nat(3), { minKeys: 60, maxKeys: 80, size: 'max' }),
  ),
}));
const databases = tree.object.map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

describe('laws', () => {
  test('the difference of two databases, applied to the first, gives the second', () => {
    fc.assert(
      fc.property(databases, databases, (one, other) => {
        const [a, b] = [openDatabase(one), openDatabase(other)];
        const open = draft(a);
        become(open.view as Loose, other);
        const { db, patches } = open.finish();
        expect(toJson(db)).toEqual(toJson(b));
        const again = applyPatches(openDatabase(one), JSON.parse(JSON.stringify(patches)));
        expect(JSON.stringify(toJson(again))).toBe(JSON.stringify(toJson(db)));
        expect(hashOf(again)).toBe(hashOf(b));
        expect(diffDatabases(a, b).length === 0).toBe(sameDatabase(a, b));
        expect(sameDatabase(applyPatches(a, patchesOf(a, b)), b)).toBe(true);
        expect(toJson(a)).toEqual(one);
      }),
    );
  });

  test('hashes are equal exactly when the content is', () => {
    fc.assert(
      fc.property(databases, databases, (one, other) => {
        const [a, b] = [openDatabase(one), openDatabase(other)];
        expect(hashOf(a) === hashOf(b)).toBe(sameDatabase(a, b));
        expect(hashOf(openDatabase(shuffled(one)))).toBe(hashOf(a));
        expect(sameDatabase(openDatabase(shuffled(one)), a)).toBe(true);
      }),
    );
  });

  test('a series of random writes, folded from patches, drafts or plain JSON, ends the same', () => {
    const write = fc.record({
      at: fc.array(fc.nat(100), { minLength: 1, maxLength: 4 }),
      op: fc.constantFrom('set', 'delete', 'push', 'splice', 'copy'),
      key: awkward,
      value: tree.value,
    });
    fc.assert(
      fc.property(databases, fc.array(write, { maxLength: 12 }), (start, writes) => {
        let now = openDatabase(start);
        let folded = openDatabase(start);
        let plain = JSON.parse(JSON.stringify(start));
        for (const each of writes) {
          const value = JSON.parse(JSON.stringify(each.value));
          const open = draft(now);
          perform(open.view as Loose, { ...each, value });
          perform(plain, { ...each, value });
          plain = JSON.parse(JSON.stringify(plain));
          const { db, patches } = open.finish();
          now = db;
          folded = applyPatches(folded, JSON.parse(JSON.stringify(patches)));
        }
        expect(toJson(now)).toEqual(plain);
        expect(JSON.stringify(toJson(folded))).toBe(JSON.stringify(toJson(now)));
        expect(hashOf(now)).toBe(hashOf(openDatabase(plain)));
        expect(hashOf(folded)).toBe(hashOf(now));
      }),
    );
  });
});

function become(view: Loose, target: Loose): void {
  for (const key of Object.keys(view)) if (!Object.hasOwn(target, key)) delete view[key];
  for (const key of Object.keys(target)) assign(view, key, structuredClone(target[key]));
}

function assign(object: Loose, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function shuffled(value: Loose): Loose {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  const result = {};
  for (const key of Object.keys(value).reverse()) assign(result, key, shuffled(value[key]));
  return result;
}

type Write = { readonly at: readonly number[]; readonly op: string; readonly key: string; readonly value: Loose };

/** Descends by the numbers as long as there are containers, and changes the last one. */
function perform(root: Loose, { at, op, key, value }: Write): void {
  let target = root;
  for (const number of at) {
    const keys = Object.keys(target).sort();
    const next = keys.length > 0 ? target[keys[number % keys.length] as string] : undefined;
    if (typeof next !== 'object' || next === null) break;
    target = next;
  }
  const [first] = Object.keys(target).sort();
  if (Array.isArray(target)) {
    if (op === 'push' || op === 'set') target.push(value);
    else if (op === 'copy' && first !== undefined) target.unshift(target.at(-1));
    else target.splice((at[0] as number) % (target.length + 1), 1, ...(op === 'splice' ? [value, 1] : []));
  } else if (op === 'delete' && first !== undefined) delete target[first];
  else if (op === 'copy' && first !== undefined && typeof target[first] !== 'object')
    assign(target, key, target[first]);
  else assign(target, key, value);
}
