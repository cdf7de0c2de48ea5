import { expect, test } from 'vitest';
import type { GoldAction } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { actionsVerdict } from '../../../../src/engine/core/verifiers/actions.ts';

type Case = readonly [gold: Partial<GoldAction>, made: object | string, held: boolean];

const wanted = { order: 'W1', count: 2, gift: true };
const cases: readonly Case[] = [
  [{ arguments: wanted }, wanted, true],
  [{ arguments: wanted }, { count: 2, gift: true, order: 'W1' }, true],
  [{ arguments: wanted }, {}, true],
  [{ arguments: wanted }, { order: 'W1' }, true],
  [{ arguments: wanted }, { order: 'W2' }, false],
  [{ arguments: wanted }, { ...wanted, extra: 1 }, false],
  [{ arguments: wanted, compare: ['order'] }, { order: 'W1', count: 9 }, true],
  [{ arguments: wanted, compare: ['order'] }, {}, false],
  [{ arguments: wanted, compare: [] }, { order: 'W9' }, true],
  [{ arguments: wanted, compare: ['other'] }, { order: 'W9' }, true],
  [{ arguments: { gift: 1 } }, { gift: true }, true],
  [{ arguments: { gift: 0 } }, { gift: true }, false],
  [{ arguments: { gift: 'true' } }, { gift: true }, false],
  [{ arguments: { list: [1, { a: 2 }] } }, { list: [1, { a: 2 }] }, true],
  [{ arguments: { list: [1, { a: 2 }] } }, { list: [{ a: 2 }, 1] }, false],
  [{ arguments: {}, compare: ['a'] }, 'no object', true],
];

test.each(cases)('gold %j against a call with %j: %s', (gold, made, held) => {
  const call = { id: 'c', name: 'ship', arguments: made };
  const messages = [{ role: 'user', step: 3, content: '', toolCalls: [call] }];
  const action = { tool: 'ship', by: 'agent', arguments: {}, ...gold } as GoldAction;
  const state = { messages } as unknown as RolloutState;
  expect(actionsVerdict([action], state).held).toBe(held);
  expect(actionsVerdict([{ ...action, tool: 'pack' }], state).held).toBe(false);
});

test('one call may be for several gold actions, and without any the verdict holds', () => {
  const call = { id: 'c', name: 'ship', arguments: { order: 'W1' } };
  const state = { messages: [{ role: 'agent', step: 5, content: null, toolCalls: [call] }] } as unknown as RolloutState;
  const action = { tool: 'ship', by: 'agent', arguments: { order: 'W1' } } as GoldAction;
  expect(actionsVerdict([action, action], state)).toMatchObject({ held: true, met: 2, of: 2, evidence: [5, 5] });
  expect(actionsVerdict([], state).held).toBe(true);
});
