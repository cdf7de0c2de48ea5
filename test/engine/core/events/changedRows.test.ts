import { expect, it } from 'vitest';
import { changedRows } from '../../../../src/engine/core/events/changedRows.ts';
import type { Deviation } from '../../../../src/engine/core/events/event.ts';

const at = (
  path: Deviation['path'],
  expected?: unknown,
  actual?: unknown,
  side: Deviation['side'] = 'agent',
): Deviation =>
  ({
    side,
    path,
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
  }) as Deviation;

it('fields of one row are listed below it, line for line on both sides', () => {
  const rows = changedRows([
    at(['orders', 'W1', 'status'], 'cancelled', 'pending'),
    at(['orders', 'W1', 'items', 0, 'price'], 61.9, 55.9),
    at(['users', 'C2', 'name'], 'Ann', 'Bea'),
  ]);
  expect(rows).toEqual({
    expected: 'orders.W1\n  status: "cancelled"\n  items[0].price: 61.9\n\nusers.C2\n  name: "Ann"',
    actual: 'orders.W1\n  status: "pending"\n  items[0].price: 55.9\n\nusers.C2\n  name: "Bea"',
  });
});

it('a row that only one side has is listed with its values there and as missing here', () => {
  expect(changedRows([at(['orders', 'W1'], { status: 'new', items: [{ product: 'lamp' }], notes: {} })])).toEqual({
    expected: 'orders.W1\n  status: "new"\n  items[0].product: "lamp"\n  notes: {}',
    actual: 'orders.W1\n  (not there)',
  });
});

it('a key that is not a name is quoted, as in an expression', () => {
  expect(changedRows([at(['orders', '#W1', 'gift card', 0], 1, 2)]).expected).toBe(
    'orders["#W1"]\n  ["gift card"][0]: 1',
  );
});

it('null is a value, and a row of the user is marked as such', () => {
  expect(changedRows([at(['phone', 'sim'], null, 'locked', 'user')])).toEqual({
    expected: 'user: phone.sim\n  null',
    actual: 'user: phone.sim\n  "locked"',
  });
});
