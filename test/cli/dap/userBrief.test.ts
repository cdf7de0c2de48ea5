import { expect, test } from 'vitest';
import { userBrief } from '../../../src/cli/dap/humanSeat.ts';

test('a person who plays the user reads each fact as a value, with its wording where that differs', () => {
  const known = {
    name: 'Hugo',
    count: 2,
    reason: { value: 'ordered by mistake', say: 'I ordered it by mistake' },
    order: { value: 'W1138' },
  };
  const change = {
    when: 'done' as const,
    say: 'I also want the lamp.',
    known: { item: { value: 7, say: 'the lamp' } },
  };
  expect(userBrief({ goal: 'You want a refund.', known, unknown: [], change }).split('\n')).toEqual([
    'you play the user, with this goal: You want a refund.',
    'you know:',
    '  name: Hugo',
    '  count: 2',
    '  reason: ordered by mistake (you say: "I ordered it by mistake")',
    '  order: W1138',
    'after the first completed request, you change your mind: I also want the lamp.',
    '  item: 7 (you say: "the lamp")',
  ]);
});
