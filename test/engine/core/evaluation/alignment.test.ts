import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignedSteps } from '../../../../src/engine/core/evaluation/alignment.ts';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { saidIn } from '../../../../src/engine/core/events/said.ts';
import { agent, called, ended, started, user } from '../../../support/rolloutEvents.ts';
import { runs } from '../../../support/runs.ts';

const shown = (first: readonly RolloutEvent[], second: readonly RolloutEvent[]) =>
  alignedSteps(first, second).map(({ first: one, second: other, isAlike }) => [
    one?.text ?? null,
    isAlike ? '=' : '|',
    other?.text ?? null,
  ]);

test('a step of both rollouts is one row, even after they have diverged', () => {
  const one = [started('t'), user('hi'), ...called({ name: 'look', arguments: {} }, 'row'), agent('Done.')];
  const other = [started('t'), user('hi'), agent('Which?'), user('this'), agent('Done.'), ...ended('userStopped', 1)];
  expect(shown(one, other)).toEqual([
    ['hi', '=', 'hi'],
    ['look()', '|', 'Which?'],
    ['row', '|', 'this'],
    ['Done.', '=', 'Done.'],
    [null, '|', 'the user ended the conversation'],
  ]);
});

test('a failed result is marked', () => {
  const events = [started('t'), ...called({ name: 'look', arguments: {} }, 'no', { isError: true })];
  expect(alignedSteps(events, events).map(({ first }) => first?.isError)).toEqual([false, true]);
});

test('rollouts that differ too much for the search are paired row by row', () => {
  const many = (word: string) => [started('t'), ...Array.from({ length: 1001 }, (_, at) => user(`${word}${at}`))];
  const rows = alignedSteps(many('a'), many('b'));
  expect(rows).toHaveLength(1001);
  expect(rows.every(({ isAlike }) => !isAlike)).toBe(true);
});

const conversation = fc
  .array(
    fc.constantFrom('a', 'b', 'c').map((word) => user(word)),
    { maxLength: 12 },
  )
  .map((said) => [started('t'), ...said]);

test('every message appears once and in order, and only equal messages are alike', () => {
  fc.assert(
    fc.property(conversation, conversation, (first, second) => {
      const rows = alignedSteps(first, second);
      expect(rows.flatMap((row) => row.first ?? [])).toEqual(saidIn(first));
      expect(rows.flatMap((row) => row.second ?? [])).toEqual(saidIn(second));
      for (const row of rows) expect(row.isAlike).toBe(row.isAlike && row.first?.key === row.second?.key);
      expect(alignedSteps(first, first).every(({ isAlike }) => isAlike)).toBe(true);
    }),
    { numRuns: runs(200) },
  );
});
