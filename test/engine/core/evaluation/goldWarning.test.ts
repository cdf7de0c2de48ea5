import { expect, test } from 'vitest';
import { goldWarning } from '../../../../src/engine/core/evaluation/goldWarning.ts';

type Call = readonly [tool: string, loan: string, isError: boolean];

const eventsOf = (calls: readonly Call[]) =>
  [
    { type: 'rolloutStarted', seats: { agent: 'gold' } },
    ...calls.flatMap(([name, loan, isError]) => [
      { type: 'toolCalled', call: { id: 'c', name, arguments: { loan } } },
      { type: 'toolReturned', callId: 'c', content: '', isError },
    ]),
  ] as never;

test.each<[string, readonly Call[], string | null]>([
  ['a call that fails', [['renew', 'a', true]], 'the gold action renew failed'],
  [
    'another call of its tool that succeeds',
    [
      ['renew', 'a', true],
      ['renew', 'b', false],
    ],
    'the gold action renew failed',
  ],
  [
    'the same call that succeeds later',
    [
      ['renew', 'a', true],
      ['renew', 'a', false],
    ],
    null,
  ],
])('%s', (_, calls, words) => {
  const warning = goldWarning(eventsOf(calls));
  expect(warning === null ? null : warning.split(',')[0]).toBe(words);
});
