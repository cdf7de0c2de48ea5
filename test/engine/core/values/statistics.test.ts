import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mean, pairedPermutation, passHat, quantile, wilson } from '../../../../src/engine/core/values/statistics.ts';

test.each([
  [4, 4, 4, 1],
  [2, 4, 1, 0.5],
  [2, 4, 2, 1 / 6],
  [3, 4, 2, 0.5],
  [1, 4, 2, 0],
  [2, 3, 4, Number.NaN],
])('with %d of %d right, pass^%d is %d', (successes, trials, k, value) => {
  if (Number.isNaN(value)) expect(passHat(successes, trials, k)).toBeNaN();
  else expect(passHat(successes, trials, k)).toBeCloseTo(value, 12);
});

test('pass^k is the share of all ways to draw k trials that hold no failure', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), fc.integer({ min: 1, max: 7 }), (trials, k) => {
      if (k > trials.length) return;
      const draws = Array.from({ length: 2 ** trials.length }, (_, mask) =>
        trials.filter((_, at) => (mask >> at) & 1),
      ).filter(({ length }) => length === k);
      const right = draws.filter((draw) => draw.every(Boolean)).length / draws.length;
      expect(passHat(trials.filter(Boolean).length, trials.length, k)).toBeCloseTo(right, 10);
    }),
  );
});

const intervals: readonly { values: number[]; value: number; low: number; high: number }[] = JSON.parse(
  readFileSync(new URL('../fixtures/wilson.json', import.meta.url), 'utf8'),
);

test.each(intervals)('the interval of $values, which the trainer reckons, too', ({ values, value, low, high }) => {
  const estimate = wilson(values);
  expect(estimate.value).toBeCloseTo(value, 6);
  expect(estimate.low).toBeCloseTo(low, 6);
  expect(estimate.high).toBeCloseTo(high, 6);
});

/** Enumerates all choices of signs. */
function enumerated(differences: readonly number[]): number {
  const observed = Math.abs(differences.reduce((sum, each) => sum + each, 0));
  const sums = Array.from({ length: 2 ** differences.length }, (_, mask) =>
    differences.reduce((sum, each, at) => sum + ((mask >> at) & 1 ? each : -each), 0),
  );
  return sums.filter((sum) => Math.abs(sum) >= observed - 1e-9).length / sums.length;
}

test('the permutation test agrees with counting every choice of signs', () => {
  const difference = fc.integer({ min: -4, max: 4 }).map((quarters) => quarters / 4);
  fc.assert(
    fc.property(fc.array(difference, { minLength: 1, maxLength: 9 }), (differences) => {
      expect(pairedPermutation(differences, [4])).toBeCloseTo(enumerated(differences), 9);
    }),
  );
});

test('with one trial a task it is the exact McNemar test', () => {
  const differences = [...Array.from({ length: 9 }, () => 1), -1, 0, 0, 0];
  // Of 10 tasks that differ, 9 or more to one side: 2 * (1 + 10) / 2^10.
  expect(pairedPermutation(differences, [1])).toBeCloseTo(22 / 1024, 12);
  expect(pairedPermutation([0, 0], [1])).toBe(1);
});

test('mean and quantiles', () => {
  expect([mean([]), mean([1, 2, 6]), quantile([4, 1, 3, 2], 0.5), quantile([], 0.5)]).toEqual([0, 3, 2.5, 0]);
});
