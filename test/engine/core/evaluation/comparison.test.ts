import { expect, test } from 'vitest';
import { compareRuns, firstDivergence } from '../../../../src/engine/core/evaluation/comparison.ts';
import { measureOf } from '../../../../src/engine/core/evaluation/measure.ts';
import { agent, called, ended, started, user } from '../../../support/rolloutEvents.ts';

const run = (rewards: Readonly<Record<string, readonly (number | null)[]>>) =>
  Object.entries(rewards).flatMap(([task, trials]) =>
    trials.map((reward, trial) => measureOf([started(task, trial), ...ended('userStopped', reward)], [])),
  );

test('runs are compared by task; rollouts without a reward are left out', () => {
  const compared = compareRuns(
    run({ a: [1, 1], b: [0, 1], c: [1, null], gone: [1] }),
    run({ a: [0, 1], b: [0, 1], c: [0, 0], added: [0] }),
  );
  expect(compared.tasks.map(({ task, difference }) => [task, difference])).toEqual([
    ['a', -0.5],
    ['b', 0],
    ['c', -1],
  ]);
  expect(compared).toMatchObject({ difference: { value: -0.5 }, better: 0, worse: 2, p: 0.5 });
});

test.each([
  [[1, 1], [1, 0], 'broke'],
  [[0, 1], [1, 1], 'fixed'],
  [[0, 1], [0, 0], 'worse'],
  [[0, 0], [0, 1], 'better'],
  [[1, null], [1, 1], 'same'],
])('a task with the rewards %j and then %j: %s', (before, after, flip) => {
  expect(compareRuns(run({ a: before }), run({ a: after })).tasks.map((task) => task.flip)).toEqual([flip]);
});

const look = (id: string) => called({ name: 'look', arguments: { id } }, 'row');

test('rollouts diverge at a different message or call, and ids of calls do not matter', () => {
  const one = [started('t'), user('hi'), ...look('P1'), agent('Done.'), ...ended('userStopped', 1)];
  const same = [started('t', 1), user('hi'), ...look('P1'), agent('Done.'), ...ended('userStopped', 0)];
  const other = [started('t'), user('hi'), ...look('P2'), agent('Done.'), ...ended('userStopped', 1)];
  const short = [started('t'), user('hi'), ...ended('turnCap', 0)];
  expect(firstDivergence(one, same)).toBeNull();
  expect(firstDivergence(one, other)).toEqual({
    steps: [2, 2],
    what: 'agent',
    texts: ['look(id: "P1")', 'look(id: "P2")'],
  });
  expect(firstDivergence(one, short)).toMatchObject({
    steps: [2, 2],
    texts: ['look(id: "P1")', 'the limit of turns was reached'],
  });
  expect(firstDivergence(one, one.slice(0, 2))).toMatchObject({
    steps: [2, null],
    texts: [expect.anything(), '(nothing more)'],
  });
});
