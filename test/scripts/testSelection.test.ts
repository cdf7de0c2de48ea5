import { expect, test } from 'vitest';
import type { Step } from '../../scripts/step.ts';
import { type Choice, selectSteps } from '../../scripts/testSelection.ts';

const step = (name: string, more: Partial<Step> = {}): Step => ({
  name,
  title: '',
  limitMinutes: 1,
  run: () => Promise.reject(new Error('nothing runs')),
  ...more,
});
const steps = [
  step('build'),
  step('unit'),
  step('e2e'),
  step('ray', { isFull: true }),
  step('bench', { isFull: true }),
  step('planted', { isPlanted: true }),
];
const select = (choice: Partial<Choice>) => selectSteps(steps, { full: false, ...choice });

test.each<[string, Partial<Choice>, string[], Record<string, string>]>([
  ['npm test', {}, ['build', 'unit', 'e2e'], {}],
  ['the full suite', { full: true }, ['build', 'unit', 'e2e', 'ray', 'bench'], {}],
  ['--only in another order', { only: 'ray,unit' }, ['unit', 'ray'], {}],
  ['--only with a planted step', { only: 'planted' }, ['planted'], {}],
  ['--skip', { skip: 'unit' }, ['build', 'e2e'], { unit: '--skip' }],
  [
    '--from in the full suite',
    { from: 'e2e', full: true },
    ['e2e', 'ray', 'bench'],
    { build: 'it is before --from e2e', unit: 'it is before --from e2e' },
  ],
  [
    '--from and --skip',
    { from: 'unit', skip: 'build,e2e' },
    ['unit'],
    { build: 'it is before --from unit', e2e: '--skip' },
  ],
])('%s selects steps in their order', (_, choice, chosen, leftOut) => {
  const selection = select(choice);
  expect(selection.chosen.map(({ name }) => name)).toEqual(chosen);
  expect(Object.fromEntries(selection.leftOut.map((each) => [each.step.name, each.reason]))).toEqual(leftOut);
});

test.each<[Partial<Choice>, string]>([
  [{ only: 'unit,tests' }, 'There is no step tests. The steps are build, unit, e2e, ray, bench, planted.'],
  [{ skip: 'tests' }, 'There is no step tests.'],
  [{ from: 'ray' }, '--from ray: that step is not in this run. Its steps are build, unit, e2e.'],
])('%j is refused', (choice, message) => {
  expect(() => select(choice)).toThrow(message);
});
