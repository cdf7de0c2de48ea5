import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/engine/core/database.ts';
import type { RolloutState } from '../../../src/engine/core/state.ts';
import { assertionSchema, type Task } from '../../../src/engine/core/task.ts';
import { verdictsOf } from '../../../src/engine/core/verify.ts';

const orders = Object.fromEntries(
  Array.from({ length: 200 }, (_, n) => [
    `W${n}`,
    { status: n === 7 ? 'cancelled' : 'pending', items: [{ id: `i${n}`, price: n }] },
  ]),
);
const world = { agent: openDatabase({ orders }), user: openDatabase({}) };

/** What the verifier of assertions says of one of them, over a table that is stored as a trie. */
function detailOf(assertion: object): string {
  const task = { assertions: [assertionSchema.parse(assertion)] } as unknown as Task;
  const state = { world, next: 5, sources: {}, messages: [] } as unknown as RolloutState;
  return verdictsOf(['assertions'], task, state, world)[0]?.detail ?? '';
}

test.each([
  [{ path: 'orders.W7.status', equals: 'cancelled' }, /held/],
  [{ path: 'orders.W8.status', equals: 'cancelled' }, /orders\.W8\.status is "pending", expected "cancelled"/],
  [{ path: 'orders[status=cancelled].items[0].id', equals: 'i7' }, /held/],
  [{ path: 'orders.W9', equals: { items: [{ id: 'i9', price: 9 }], status: 'pending' } }, /held/],
  [{ path: 'orders.W9', contains: { status: 'pending' } }, /held/],
  [{ path: 'orders', contains: { W7: orders['W7'] } }, /held/],
  [{ path: 'orders.W200', exists: false }, /held/],
  [{ path: 'orders.W200', exists: true }, /orders\.W200 is missing/],
  [{ in: 'crm', path: 'x', exists: true }, /no state of "crm"/],
])('%o', (assertion, detail) => {
  expect(detailOf(assertion)).toMatch(detail);
});
