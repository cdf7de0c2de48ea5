import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { classify } from '../../src/synthesis/outcome.ts';
import { conversationShape } from '../../src/synthesis/shape.ts';

type Words = { readonly name: string; readonly order: string; readonly count: string; readonly mail: string };

/** A conversation about somebody and something. */
const about = ({ name, order, count, mail }: Words): readonly RolloutEvent[] => [
  {
    type: 'userReplied',
    content: `Hello, I'm ${name}, ${mail}. Please cancel ${order}, all ${count} of them.`,
    stop: null,
  },
  {
    type: 'agentReplied',
    content: null,
    toolCalls: [{ id: 'c', name: 'get', arguments: { order, n: Number(count), who: name } }],
  },
  { type: 'toolReturned', callId: 'c', content: `{"owner":"${name}"}`, isError: false },
  { type: 'agentReplied', content: `${name}, shall I cancel ${order}?`, toolCalls: [] },
];

const words = fc.record({
  name: fc.constantFrom('Anna', 'Femi Lindqvist', 'Jo', 'Ana María'),
  order: fc.integer({ min: 1, max: 9999 }).map((number) => `W${number}`),
  count: fc.integer({ min: 0, max: 99 }).map(String),
  mail: fc.constantFrom('a@example.com', 'femi.l@example.org'),
});

describe('the shape of a conversation', () => {
  test('is the same for other names and numbers', () => {
    fc.assert(
      fc.property(words, words, (one, other) => {
        expect(conversationShape(about(other))).toBe(conversationShape(about(one)));
      }),
    );
  });

  const [first, second, third, last] = about({ name: 'Anna', order: 'W1', count: '2', mail: 'a@example.com' });
  test.each<[string, readonly (RolloutEvent | undefined)[]]>([
    ['another word', [first, second, third, { ...last, content: 'Anna, may I cancel W1?' } as RolloutEvent]],
    ['an error', [first, second, { ...third, isError: true } as RolloutEvent, last]],
    ['one message less', [first, second, third]],
    [
      'another tool',
      [first, { ...second, toolCalls: [{ id: 'c', name: 'put', arguments: {} }] } as RolloutEvent, third, last],
    ],
  ])('is another one for %s', (_, events) => {
    const same = [first, second, third, last].filter((event) => event !== undefined);
    const other = events.filter((event) => event !== undefined);
    expect(conversationShape(other)).not.toBe(conversationShape(same));
  });
});

const violation = (rule: string, step: number) => ({ rule, gate: true, step });
const events = about({ name: 'Anna', order: 'W1', count: '2', mail: 'a@example.com' });
const none = { met: 2, declared: 2 };
const called = { tool: 'get', calls: 1, errors: 0, isGeneric: false };

test.each([
  ['a reward of 1 and nothing broken', 1, none, [], 'success', null, []],
  ['one check failed', 0, { met: 1, declared: 2 }, [], 'nearMiss', 'one check failed: so', []],
  ['one rule broken twice', 0, none, [violation('ask', 2), violation('ask', 3)], 'nearMiss', 'broke ask', [1]],
  ['one rule broken, and the reward is 1', 1, none, [violation('ask', 4)], 'nearMiss', 'broke ask', [3]],
  ['two rules broken', 0, none, [violation('ask', 2), violation('look', 2)], 'failure', null, []],
  ['a rule and a check', 0, { met: 1, declared: 2 }, [violation('ask', 2)], 'failure', null, []],
  ['nothing missed, but no proper end', 0, none, [], 'failure', null, []],
  ['no reward', null, none, [violation('ask', 2)], 'unscored', null, []],
] as const)('%s', (_, reward, checks, violations, outcome, miss, withheld) => {
  const judged = { reward, checks, violations, reason: 'so', endReason: 'userStopped', calls: [called] };
  expect(classify(judged, events)).toEqual({ outcome, miss, withheld });
});

test.each([
  ['that ends at the cap on turns', 'turnCap', [called]],
  ['in which nothing was done', 'userStopped', []],
  ['in which every call failed', 'userStopped', [{ ...called, errors: 1 }]],
])('a rollout %s is not a near-miss', (_, endReason, calls) => {
  const judged = { reward: 0, checks: { met: 0, declared: 1 }, violations: [], reason: 'so', endReason, calls };
  expect(classify(judged, events).outcome).toBe('failure');
});
