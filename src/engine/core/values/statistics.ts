import { randomStream } from './random.ts';

/** A value with the bounds of its 95 % interval. */
export type Estimate = { readonly value: number; readonly low: number; readonly high: number };

/** The mean of the values; 0 for none. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The value below which a share of the values lies, between neighbours in proportion; 0 for none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? 0;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}

/**
 * pass^k of one task: the chance that k trials all succeed, without bias from c successes in n trials:
 * C(c, k) / C(n, k) (tau-bench, arXiv 2406.12045). NaN when there are fewer than k trials.
 */
export function passHat(successes: number, trials: number, k: number): number {
  if (trials < k) return Number.NaN;
  return Array.from({ length: k }, (_, index) => Math.max(successes - index, 0) / (trials - index)).reduce(
    (product, factor) => product * factor,
    1,
  );
}

const z = 1.959964;

/**
 * Wilson's 95 % interval of a mean of values between 0 and 1, one for each task. Tasks are the unit because the
 * trials of one task are not independent. A value in [0, 1] with mean p varies by at most p(1 - p), so the interval
 * is exact for one trial a task and too wide, never too narrow, for more; unlike a bootstrap it does not shrink to
 * nothing when all tasks agree, and it needs no random numbers.
 */
export function wilson(values: readonly number[]): Estimate {
  const n = values.length;
  if (n === 0) return { value: 0, low: 0, high: 1 };
  const p = mean(values);
  const centre = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  return { value: p, low: Math.max(0, Math.min(p, centre - half)), high: Math.min(1, Math.max(p, centre + half)) };
}

/** Samples of a bootstrap; its bounds then vary by about a hundredth of the interval. */
const resamples = 4000;

/**
 * The mean of paired differences, one for each task, with its 95 % percentile interval over bootstrap samples of the
 * tasks (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). The same differences give the same bounds.
 */
export function pairedBootstrap(differences: readonly number[]): Estimate {
  const n = differences.length;
  if (n === 0) return { value: 0, low: 0, high: 0 };
  const { integer } = randomStream('paired bootstrap');
  const means = Array.from({ length: resamples }, () => {
    let total = 0;
    for (let drawn = 0; drawn < n; drawn++) total += differences[integer(n)] ?? 0;
    return total / n;
  });
  return { value: mean(differences), low: quantile(means, 0.025), high: quantile(means, 0.975) };
}

/** The finest common step of the differences that the exact test distinguishes. */
const finest = 840;

/**
 * Two-sided p of the exact paired permutation test: how often the sum of the differences is at least as far from 0
 * when each of them had either sign with equal chance. With one trial a task this is the exact McNemar test.
 * @param steps whole numbers whose multiples of 1/step the differences are, for example the numbers of trials
 */
export function pairedPermutation(differences: readonly number[], steps: readonly number[]): number {
  const grid = Math.min(steps.reduce(leastCommonMultiple, 1), finest);
  const sizes = differences.map((difference) => Math.round(Math.abs(difference) * grid)).filter((size) => size > 0);
  const total = sum(sizes);
  const observed = Math.abs(sum(differences.map((difference) => Math.round(difference * grid))));
  if (observed === 0) return 1;
  let chances = new Float64Array(2 * total + 1);
  chances[total] = 1;
  let reach = 0;
  for (const size of sizes) {
    const next = new Float64Array(2 * total + 1);
    for (let at = total - reach; at <= total + reach; at++) {
      const half = (chances[at] ?? 0) / 2;
      if (half === 0) continue;
      next[at - size] = (next[at - size] ?? 0) + half;
      next[at + size] = (next[at + size] ?? 0) + half;
    }
    chances = next;
    reach += size;
  }
  const far = chances.reduce((all, chance, at) => (Math.abs(at - total) >= observed ? all + chance : all), 0);
  return Math.min(1, far);
}

function leastCommonMultiple(one: number, other: number): number {
  let [a, b] = [one, other];
  while (b !== 0) [a, b] = [b, a % b];
  return (one / a) * other;
}
