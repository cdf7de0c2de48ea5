import { counted } from '../text/counted.ts';
import { mean, sum } from '../values/statistics.ts';
import type { ComparedTask, Comparison } from './comparison.ts';

/** Share of chance below which a difference counts as shown. */
export const significance = 0.05;

export const verdicts = ['a difference is shown', 'no difference is shown', 'nothing in common'] as const;
export type ComparisonVerdict = (typeof verdicts)[number];

const z = 1.959964;
/** More tasks than are ever run: the difference is then too small for its spread. */
const most = 10_000;

/** Returns whether the exact test shows a difference. */
export function verdictOn({ tasks, p }: Pick<Comparison, 'tasks' | 'p'>): ComparisonVerdict {
  if (tasks.length === 0) return 'nothing in common';
  return p < significance ? 'a difference is shown' : 'no difference is shown';
}

/** Returns what the test can and cannot show here, a sentence each, and how many trials or tasks would decide. */
export function adviceOn(comparison: Comparison): readonly string[] {
  const { tasks, difference, better, worse } = comparison;
  if (verdictOn(comparison) !== 'no difference is shown') return [];
  const excludesZero = tasks.length > 1 && (difference.low > 0 || difference.high < 0);
  const differing = better + worse;
  const least = 2 ** (1 - differing);
  return [
    ...(excludesZero
      ? [
          `The interval excludes 0, but the exact test decides: with ${tasks.length} tasks, a bootstrap interval is too narrow.`,
        ]
      : []),
    'This does not show that the runs are equal.',
    ...(differing > 0 && least >= significance
      ? [
          `With ${counted(differing, 'task')} that ${differing === 1 ? 'differs' : 'differ'}, p is at least ${least.toFixed(4)}: the test cannot show a difference before 6 differ.`,
        ]
      : []),
    ...needed(comparison),
  ];
}

/** Returns how much more would decide, if the difference and its spread stay as they are (normal approximation). */
function needed({ tasks, difference: { value } }: Comparison): readonly string[] {
  if (value === 0 || tasks.length < 2) return [];
  // Under the hypothesis of the test each difference has either sign, so its spread is the square around 0.
  const spread = mean(tasks.map(({ difference }) => difference ** 2));
  const trials = Math.min(...tasks.flatMap((task) => task.trials));
  const noise = mean(tasks.map(noiseOf));
  const between = Math.max(0, spread - noise);
  const demanded = (tasks.length * value ** 2) / z ** 2;
  const estimate = 'If the difference stays as it is,';
  if (trials > 1 && noise > 0 && demanded > between) {
    const times = noise / (demanded - between);
    if (times > 1 && times * trials < most)
      return [
        `${estimate} about ${Math.ceil(times * trials)} trials of each task would decide; now there are ${trials}.`,
      ];
  }
  // The sum moves in steps, which costs about one more of them.
  const more = Math.max(6, Math.ceil((spread * z ** 2) / value ** 2 + 1 / Math.abs(value)));
  if (more <= tasks.length || more > most) return [];
  const why =
    trials > 1
      ? 'More trials of these tasks would not: the difference between A and B varies from task to task, and more trials do not reduce that.'
      : '';
  return [`${estimate} about ${more} tasks would decide; now there are ${tasks.length}. ${why}`.trimEnd()];
}

/** The variance of a task's difference that its few trials alone explain; nothing is known of it from one trial. */
function noiseOf({ rewards, trials }: ComparedTask): number {
  return sum(
    rewards.map((reward, at) => ((trials[at] ?? 0) > 1 ? (reward * (1 - reward)) / ((trials[at] ?? 0) - 1) : 0)),
  );
}
