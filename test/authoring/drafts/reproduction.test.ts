import { expect, test } from 'vitest';
import { differencesFrom } from '../../../src/authoring/drafts/reproduction.ts';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';

/** The events of one call and its result, and of the end. */
const rollout = (content: string, { isError = false, reason = 'userStopped' } = {}) =>
  [
    { type: 'toolCalled', call: { id: 'c', name: 'renew', arguments: { loan: 'L2' } } },
    { type: 'toolReturned', callId: 'c', content, isError },
    { type: 'rolloutEnded', reason },
  ] as unknown as readonly RolloutEvent[];

test.each<[string, string, string, string[]]>([
  ['equal results', '{"due": "Monday"}', '{"due": "Monday"}', []],
  ['more fields in the rollout', '{"due": "Monday"}', '{"due": "Monday", "fee": 0}', []],
  ['another value', '{"due": "Monday"}', '{"due": "Friday"}', ['due "Monday" in the conversation and "Friday" in']],
  ['a field that is missing', '{"due": "Monday"}', '{}', ['due "Monday" in the conversation and nothing in']],
  ['a shorter list', '[1, 2]', '[1]', ['returns [1,2] in the conversation and [1] in the rollout']],
  ['ids that the call created', '{"hold": "H17"}', '{"hold": "H3"}', []],
  ['an id that was there before', '{"loan": "L2"}', '{"loan": "L3"}', ['loan "L2" in']],
  ['a number as text', '{"fee": "2"}', '{"fee": 2}', []],
  ['white space', 'Renewed.\n', 'Renewed.', []],
  ['an error in plain text', '{"due": "Monday"}', 'No such loan', ['renew fails in the rollout ("No such loan")']],
  ['an error in the log', 'Loan L2 not found', '{"due": "Monday"}', ['renew fails in the conversation (']],
  ['errors in both', 'Loan L2 not found', 'No such loan', []],
])('%s', (_, logged, made, differences) => {
  const found = differencesFrom(rollout(logged), rollout(made));
  expect(found).toEqual(differences.map((each) => expect.stringContaining(each)));
});

test('a conversation that was handed over, and a rollout that is not', () => {
  expect(differencesFrom(rollout('x', { reason: 'handedOff' }), rollout('x'))).toEqual([
    'the conversation ends by a hand-over, and its rollout does not',
  ]);
});
