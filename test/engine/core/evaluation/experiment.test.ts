import fc from 'fast-check';
import { expect, test } from 'vitest';
import { experimentFileSchema, planOf, resultOf } from '../../../../src/engine/core/evaluation/experiment.ts';
import { mean, pairedBootstrap } from '../../../../src/engine/core/values/statistics.ts';
import { runs } from '../../../support/runs.ts';

const experiment = experimentFileSchema.parse({
  seeds: [1, 2],
  grpo: { steps: 3 },
  arms: {
    base: {},
    sft: { sft: {} },
    long: { sft: {}, grpo: { steps: 9 } },
    both: { sft: {}, grpo: {} },
  },
  compare: [['sft', 'both']],
});

test('arms share their common stages, and each stage follows the one before', () => {
  const { stages, measured } = planOf(experiment);
  const seedOne = stages.filter(({ seed }) => seed === 1);
  expect(seedOne.map(({ name, arms }) => `${name.replace(/-\w+$/, '')} ${arms}`)).toEqual([
    'evaluate-seed1 base',
    'sft-seed1 sft,long,both',
    'evaluate-seed1 sft',
    'grpo-seed1 long',
    'evaluate-seed1 long',
    'grpo-seed1 both',
    'evaluate-seed1 both',
  ]);
  const [, sft, , long, , both] = seedOne;
  expect([long?.after, both?.after]).toEqual([sft?.name, sft?.name]);
  expect([long?.keys, both?.keys]).toEqual([
    { domain: '.', steps: 9, seed: 1 },
    { domain: '.', steps: 3, seed: 1 },
  ]);
  expect(stages.length).toBe(14);
  expect(measured.map(({ arm, seed }) => `${arm} ${seed}`).slice(0, 4)).toEqual([
    'base 1',
    'sft 1',
    'long 1',
    'both 1',
  ]);
});

test('a stage keeps its name when arms are added before it, renamed or removed', () => {
  const { base, sft, both } = experiment.arms;
  const names = (arms: Record<string, (typeof experiment.arms)[string]>) =>
    planOf({ ...experiment, compare: [], arms }).stages.map(({ name }) => name);
  const before = names({ base: base ?? {}, sft: sft ?? {}, both: both ?? {} });
  const after = names({ other: both ?? {}, base: base ?? {}, renamed: sft ?? {} });
  expect(after.toSorted()).toEqual(before.toSorted());
});

test('the result of an arm is the mean over tasks, and a comparison is paired by task', () => {
  const rows = (rewards: Readonly<Record<string, readonly (number | null)[]>>) =>
    Object.entries(rewards).flatMap(([task, each]) =>
      each.map((reward, at) => ({ task, reward, route: String(at % 2) })),
    );
  const { arms, comparisons } = resultOf(experiment, [
    { arm: 'sft', seed: 1, rollouts: rows({ a: [1, 0], b: [0, 0], c: [null, 1] }) },
    { arm: 'sft', seed: 2, rollouts: rows({ a: [0, 0], b: [0, 0], c: [1, 1] }) },
    { arm: 'both', seed: 1, rollouts: rows({ a: [1, 1], b: [1, 0], c: [1, 1] }) },
  ]);
  expect(arms).toMatchObject([
    { arm: 'sft', tasks: 3, notScored: 1, routes: 2, reward: { value: (0.25 + 0 + 1) / 3 } },
    { arm: 'both', tasks: 3, notScored: 0, bySeed: [{ seed: 1, reward: 2.5 / 3, rollouts: 6 }] },
  ]);
  expect(comparisons).toMatchObject([
    { from: 'sft', to: 'both', better: 2, worse: 0, difference: { value: 1.25 / 3 } },
  ]);
});

test('a bootstrap is reproducible, contains its mean, and shrinks to it if all values agree', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 }),
      (differences) => {
        const { value, low, high } = pairedBootstrap(differences);
        expect(pairedBootstrap(differences)).toEqual({ value, low, high });
        expect(value).toBeCloseTo(mean(differences), 9);
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual(Math.min(...differences) - 1e-9);
        expect(high).toBeLessThanOrEqual(Math.max(...differences) + 1e-9);
      },
    ),
    { numRuns: runs(20) },
  );
  expect(pairedBootstrap([0.25, 0.25])).toEqual({ value: 0.25, low: 0.25, high: 0.25 });
  expect(pairedBootstrap([])).toEqual({ value: 0, low: 0, high: 0 });
});

test('the bounds of a bootstrap are those of the normal distribution if there are many tasks', () => {
  const differences = Array.from({ length: 400 }, (_, at) => (at % 4 === 0 ? 1 : 0));
  const { low, high } = pairedBootstrap(differences);
  const half = 1.96 * Math.sqrt((0.25 * 0.75) / 400);
  expect(low).toBeCloseTo(0.25 - half, 2);
  expect(high).toBeCloseTo(0.25 + half, 2);
});
