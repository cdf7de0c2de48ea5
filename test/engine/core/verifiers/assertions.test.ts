import { expect, test } from 'vitest';
import { type Assertion, assertionSchema } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { assertionsVerdict, takesRows } from '../../../../src/engine/core/verifiers/assertions.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

const orders = Object.fromEntries(
  Array.from({ length: 200 }, (_, n) => [
    `W${n}`,
    { status: n === 7 ? 'cancelled' : 'pending', items: [{ id: `i${n}`, price: n }] },
  ]),
);
const world = { agent: openDatabase({ orders }), user: openDatabase({}) };

/** Returns the detail of the verdict on one assertion, for a table that is stored as a trie. */
function detailOf(assertion: object): string {
  const state = { world, next: 5, sources: {}, messages: [] } as unknown as RolloutState;
  return assertionsVerdict([assertionSchema.parse(assertion)], state).detail;
}

const notes = { n1: { id: 'n1', title: 'milk', at: '10:01' } };

test.each([
  [{}, notes, notes, [], /held/],
  [{}, notes, {}, [], /^notes.n1 is \{.*\}; after the gold actions it is missing$/],
  [{}, {}, notes, [], /^notes.n1 is missing; after the gold actions it is \{.*\}$/],
  [{}, [{ id: 'note-a7', of: 'note-a7' }], [{ id: 'note-b9', of: 'note-b9' }], ['id'], /held/],
  [{}, [{ id: 'note-a7', of: 'note-a7' }], [{ id: 'note-b9', of: 'note-b8' }], ['id'], /^notes\[0\].of is /],
  [{}, [{ at: 1 }], [{ at: 2 }], ['at'], /held/],
  [{ path: 'n1.at' }, { n1: { at: 1 } }, { n1: { at: 2 } }, ['n1.at'], /held/],
  [{ path: 'rows[id=a].at' }, { rows: [{ id: 'a', at: 1 }] }, { rows: [{ id: 'a', at: 2 }] }, ['rows.*.at'], /held/],
  [
    { path: 'n1.at' },
    { n1: { at: 1 } },
    { n1: { at: 2 } },
    ['n2.at'],
    /^notes.n1.at is 1; after the gold actions it is 2$/,
  ],
  [{}, ['a', 'b'], ['b', 'a'], ['notes'], /held/],
  [{}, ['a', 'b'], ['b', 'c'], ['notes'], /^notes\[0\] is "a"; after the gold actions it is "b"$/],
  [{ path: 'n1.title' }, notes, { n1: { title: 'milk', at: 'later' } }, [], /held/],
  [
    { path: 'n1.title' },
    notes,
    { n1: { title: 'tea' } },
    [],
    /^notes.n1.title is "milk"; after the gold actions it is "tea"$/,
  ],
])('the state of a source is as after the gold actions: %j, %j against %j', (more, own, gold, volatile, detail) => {
  const state = {
    world,
    next: 5,
    sources: { notes: own, 'notes after the gold actions': gold },
    messages: [],
  } as unknown as RolloutState;
  const assertion = assertionSchema.parse({ in: 'notes', sameAs: 'gold', ...more });
  expect(assertionsVerdict([assertion], state, () => volatile).detail).toMatch(detail);
});

test.each([
  [{ path: 'orders.W7.status', equals: 'cancelled' }, /held/],
  [{ path: 'orders.W8.status', equals: 'cancelled' }, /orders\.W8\.status is "pending", expected "cancelled"/],
  [{ path: 'orders[status=cancelled].items[0].id', equals: 'i7' }, /held/],
  [{ path: 'orders.W9', equals: { items: [{ id: 'i9', price: 9 }], status: 'pending' } }, /held/],
  [{ path: 'orders.W9', contains: { status: 'pending' } }, /held/],
  [{ path: 'orders', contains: { W7: orders['W7'] } }, /held/],
  [{ path: 'orders.W200', exists: false }, /held/],
  [{ path: 'orders.W200', exists: true }, /orders\.W200 is missing/],
  [
    { that: 'db.orders.W8.status == "cancelled"' },
    /^db\.orders\.W8\.status == "cancelled" does not hold: db\.orders\.W8\.status is "pending"$/,
  ],
  [
    { that: 'db.orders.W7.status == "cancelled" and count(db.orders, it.status == "pending") < 5' },
    /does not hold: count\(db\.orders, \(it\.status == "pending"\)\) is 199$/,
  ],
  [
    { that: 'not (db.orders.W7.status in ["cancelled"]) or db.orders.W9.items[id="x"]' },
    /does not hold: db\.orders\.W7\.status is "cancelled", db\.orders\.W9\.items\[id=x\] is null$/,
  ],
  [
    { that: 'any(db.orders.W9.items, it.price > 9)' },
    /does not hold: db\.orders\.W9\.items is \[\{"id":"i9","price":9\}\]$/,
  ],
  [{ that: 'db.orders.W7.status' }, /held/],
  [{ that: 'all(db.orders, it.status == "pending")' }, /does not hold: db\.orders is \{"W0":.{80,120}\.\.\.$/],
  [{ in: 'crm', path: 'x', exists: true }, /no state of "crm"/],
])('%o', (assertion, detail) => {
  expect(detailOf(assertion)).toMatch(detail);
});

test.each([
  [{ path: 'case-7', exists: true }, /held/],
  [{ path: 'case-7.sub-case.note', equals: 'done' }, /held/],
  [{ path: 'case-7.rows[id=a-b].note', equals: 'done' }, /held/],
  [{ path: 'case-7', exists: false }, /^sack:case-7 is \{.*expected nothing there$/],
  [{ path: 'case-8.note', equals: 'done' }, /^sack:case-8\.note is missing/],
])('a key of a path may have dashes: %j', (assertion, detail) => {
  const sack = { 'case-7': { 'sub-case': { note: 'done' }, rows: [{ id: 'a-b', note: 'done' }] } };
  const state = { world, next: 5, sources: { sack }, messages: [] } as unknown as RolloutState;
  const parsed = assertionSchema.parse({ in: 'sack', ...assertion });
  expect(assertionsVerdict([parsed], state).detail).toMatch(detail);
});

test.each<[assertion: Partial<Assertion>, takes: boolean]>([
  [{ that: 'any(state, it.id == 1)' }, true],
  [{ that: 'not all(state, row, row.id > db.limit)' }, true],
  [{ that: 'count(state) == 1' }, true],
  [{ that: 'state[0].id == 1 and true' }, true],
  [{ that: 'state[id=W1].paid' }, true],
  [{ that: 'sum(filter(state, it.paid), it.total) == 3' }, true],
  [{ path: '0.id', equals: 1 }, true],
  [{ path: '[id=W1].paid', equals: true }, true],
  [{ that: 'state.count == 1' }, false],
  [{ that: 'any(state.rows, it.id == 1)' }, false],
  [{ that: 'any(state, it > 5)' }, false],
  [{ that: 'any(db.orders, it.id == state.id)' }, false],
  [{ path: 'orders.W1.paid', equals: true }, false],
  [{ sameAs: 'gold' }, false],
  [{ path: '0.id', call: { tool: 'look', arguments: {}, by: 'agent' } }, false],
])('whether %j takes rows of the state: %s', (assertion, takes) => {
  expect(takesRows({ in: 'shop', ...assertion } as Assertion)).toBe(takes);
});
