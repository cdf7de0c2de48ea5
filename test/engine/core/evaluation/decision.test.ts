import { expect, test } from 'vitest';
import { compareRuns } from '../../../../src/engine/core/evaluation/comparison.ts';
import { adviceOn, verdictOn } from '../../../../src/engine/core/evaluation/decision.ts';

/** Compares two runs. Each entry is a task with its number of successes in both runs. */
const compared = (trials: number, tasks: readonly (readonly [before: number, after: number])[]) => {
  const run = (which: 0 | 1) =>
    tasks.flatMap((successes, task) =>
      Array.from({ length: trials }, (_, at) => ({ task: `t${task}`, reward: at < successes[which] ? 1 : 0 })),
    );
  return compareRuns(run(0), run(1));
};

const repeated = (count: number, ...pair: [number, number]) => Array.from({ length: count }, () => pair);

const cases: readonly (readonly [what: string, of: ReturnType<typeof compared>, verdict: string, advice: RegExp])[] = [
  ['six tasks of one trial', compared(1, repeated(6, 0, 1)), 'a difference is shown', /^$/],
  [
    'four tasks of one trial',
    compared(1, repeated(4, 0, 1)),
    'no difference is shown',
    /^The interval excludes 0, but the exact test decides: with 4 tasks, a bootstrap interval is too narrow. .* does not show that the runs are equal\. With 4 tasks that differ, p is at least 0\.1250: .* before 6 differ\. .* about 6 tasks would decide; now there are 4\.$/,
  ],
  [
    'trials that disagree',
    compared(4, [
      [2, 3],
      [2, 3],
      [1, 2],
      [2, 2],
      [2, 3],
      [2, 3],
      [3, 2],
      [1, 2],
    ]),
    'no difference is shown',
    /about \d+ trials of each task would decide; now there are 4\.$|about \d+ tasks would decide/,
  ],
  [
    'equal runs',
    compared(2, repeated(5, 1, 1)),
    'no difference is shown',
    /^This does not show that the runs are equal\.$/,
  ],
  ['nothing in common', compareRuns([], []), 'nothing in common', /^$/],
];

test.each(cases)('%s: %#', (_, comparison, verdict, advice) => {
  expect(verdictOn(comparison)).toBe(verdict);
  expect(adviceOn(comparison).join(' ')).toMatch(advice);
});

test('the number of tasks that the advice names is enough to decide', () => {
  const advice = adviceOn(compared(1, [...repeated(5, 0, 1), ...repeated(2, 1, 0), ...repeated(3, 1, 1)])).join(' ');
  const demanded = Number(/about (\d+) tasks would decide/.exec(advice)?.[1]);
  const times = Math.ceil(demanded / 10);
  const more = compared(1, [...repeated(5 * times, 0, 1), ...repeated(2 * times, 1, 0), ...repeated(3 * times, 1, 1)]);
  expect(verdictOn(more)).toBe('a difference is shown');
});
