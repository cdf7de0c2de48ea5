import { expect, test } from 'vitest';
import type { World } from '../../../../src/engine/core/domain/domain.ts';
import { fieldComparisonSchema } from '../../../../src/engine/core/domain/fieldComparison.ts';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { databaseVerdict } from '../../../../src/engine/core/verifiers/database.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

const compare = fieldComparisonSchema.parse({ unordered: ['items'], tolerance: { refund: 0.01 } });
const worldOf = (agent: JsonObject): World => ({ agent: openDatabase(agent), user: openDatabase({}) });
const order = (items: readonly unknown[], refund = 1) => ({ orders: { W1: { items, refund } } }) as JsonObject;

/** Returns the verdict on an end state, compared with that of the gold actions. */
function verdict(gold: JsonObject, made: JsonObject, task: Partial<Task> = {}) {
  const state = { world: worldOf(made), messages: [], next: 1 } as unknown as RolloutState;
  return databaseVerdict({ task: { actions: [], ...task }, state, compare }, worldOf(order([])), worldOf(gold));
}

const created = (number: number) => `I1234567${number}`;

test.each<[string, JsonObject, JsonObject, RegExp]>([
  ['items in another order', order(['a', 'b']), order(['b', 'a']), /expected one$/],
  ['a refund within its tolerance', order([], 1.1), order([], 1.09), /expected one$/],
  ['a refund beyond its tolerance', order([], 1.1), order([], 1.2), /^orders\.W1\.refund is 1\.2, expected 1\.1$/],
  ['another item', order(['a', 'b']), order(['c', 'a'], 1.001), /^orders\.W1\.items\[0\] is "c", expected "b"$/],
  [
    'new items with their own ids, in another order',
    {
      orders: {
        W2: {
          items: [
            { id: created(1), of: 'a' },
            { id: created(2), of: 'b' },
          ],
        },
      },
    },
    {
      orders: {
        W2: {
          items: [
            { id: created(3), of: 'b' },
            { id: created(4), of: 'a' },
          ],
        },
      },
    },
    /expected one \(ids that tools created: I12345671 is I12345674, I12345672 is I12345673\)$/,
  ],
])('%s', (_, gold, made, detail) => {
  const { held, detail: found, deviations = [] } = verdict(gold, made);
  expect(found).toMatch(detail);
  expect([held, deviations.length]).toEqual(held ? [true, 0] : [false, 1]);
});

test('an imported task is compared exactly', () => {
  const origin = { benchmark: 'tau2', id: '1' };
  expect(verdict(order(['a', 'b']), order(['b', 'a']), { origin }).held).toBe(false);
});
