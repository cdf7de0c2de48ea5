import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Action,
  agreementOf,
  isAgreeing,
  kindOf,
  type ShadowKind,
  type ShadowTurn,
  shadowDivergence,
} from '../../../../src/engine/core/evaluation/shadow.ts';

const call = (name: string, args: object = {}) => ({ id: 'x', name, arguments: args as never });
const calls = (...toolCalls: Action['toolCalls']): Action => ({ content: null, toolCalls });
const says = (content: string): Action => ({ content, toolCalls: [] });

const pairs: readonly { readonly done: Action; readonly proposed: Action; readonly kind: ShadowKind }[] = [
  { done: says('Hello.'), proposed: says('Hi!'), kind: 'bothSpeak' },
  { done: says('Hello.'), proposed: calls(call('a')), kind: 'callsInstead' },
  { done: calls(call('a')), proposed: says('Hello.'), kind: 'speaksInstead' },
  { done: calls(call('a', { x: 1, y: [2] })), proposed: calls(call('a', { y: [2], x: 1 })), kind: 'sameCall' },
  { done: calls(call('a', { x: 1 })), proposed: calls(call('a', { x: '1' })), kind: 'sameTool' },
  { done: calls(call('a'), call('b')), proposed: calls(call('b'), call('a')), kind: 'sameCall' },
  { done: calls(call('a')), proposed: calls(call('a'), call('a')), kind: 'otherTool' },
  { done: calls(call('a')), proposed: calls(call('b')), kind: 'otherTool' },
  {
    done: calls({ id: 'x', name: 'a', arguments: '{"x": ' }),
    proposed: calls({ id: 'y', name: 'a', arguments: '{"x": ' }),
    kind: 'sameCall',
  },
];

test.each(pairs)('$done against $proposed is $kind', ({ done, proposed, kind }) => {
  expect(kindOf(done, proposed)).toBe(kind);
});

const anyCall = fc.record({
  id: fc.string(),
  name: fc.constantFrom('a', 'b'),
  arguments: fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(fc.integer({ max: 2 }), fc.boolean())),
});
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  fc.string().map(says),
  fc.array(anyCall, { minLength: 1, maxLength: 3 }).map((toolCalls) => calls(...toolCalls)),
);

describe('laws', () => {
  test('any action agrees with itself, in any order of its calls', () => {
    fc.assert(
      fc.property(anyAction, fc.integer(), ({ content, toolCalls }, seed) => {
        const turned = toolCalls.toSorted(
          (a, b) => ((a.name.length + seed) % 2 === 0 ? 1 : -1) * a.id.localeCompare(b.id),
        );
        expect(isAgreeing(kindOf({ content, toolCalls }, { content, toolCalls: turned }))).toBe(true);
      }),
    );
  });

  test('agreement does not depend on which of the two actions was taken', () => {
    fc.assert(
      fc.property(anyAction, anyAction, (one, other) => {
        expect(isAgreeing(kindOf(one, other))).toBe(isAgreeing(kindOf(other, one)));
      }),
    );
  });

  test('every turn is of one kind, and writes made alike are never more than those made', () => {
    const turn = fc.record({ done: anyAction, proposed: anyAction }).map(
      ({ done, proposed }): ShadowTurn => ({
        turn: 1,
        place: 1,
        kind: kindOf(done, proposed),
        done,
        proposed,
        reads: 0,
      }),
    );
    fc.assert(
      fc.property(fc.array(turn), (turns) => {
        const rollout = { name: 'r', task: null, turns };
        const { kinds, agreeing, share, writes } = agreementOf([rollout], (tool) => tool === 'b');
        expect(Object.values(kinds).reduce((sum, count) => sum + count, 0)).toBe(turns.length);
        expect(share).toBe(turns.length === 0 ? null : agreeing / turns.length);
        expect(writes.alike).toBeLessThanOrEqual(writes.made);
        expect(shadowDivergence(rollout) === null).toBe(agreeing === turns.length);
      }),
    );
  });
});

test('a turn without an answer is left out of the share and is not a divergence; a failed agent is one', () => {
  const at = { turn: 1, place: 1, done: says('Hello.'), proposed: null, reads: 0 };
  const unanswered: ShadowTurn = { ...at, kind: 'unanswered' };
  const failed: ShadowTurn = { ...at, turn: 2, kind: 'failed' };
  expect(shadowDivergence({ name: 'r', task: null, turns: [unanswered, failed] })).toBe(failed);
  const { share, turns } = agreementOf([{ name: 'r', task: null, turns: [unanswered, failed] }], () => false);
  expect({ share, turns }).toEqual({ share: 0, turns: 2 });
});
