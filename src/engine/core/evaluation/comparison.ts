import type { RolloutEvent } from '../events/event.ts';
import { type Said, saidIn } from '../events/said.ts';
import { type Estimate, mean, pairedBootstrap, pairedPermutation } from '../values/statistics.ts';
import type { Measure } from './measure.ts';

/** The point at which two rollouts of one task diverge: the first message or action that differs. */
export type Divergence = {
  /** Numbers of the events in the first and the second recording; null where one had ended. */
  readonly steps: readonly [number | null, number | null];
  readonly what: Said['what'];
  readonly texts: readonly [string, string];
};

export type ComparedTask = {
  readonly task: string;
  /** Mean reward and scored trials in the first and the second run. */
  readonly rewards: readonly [number, number];
  readonly trials: readonly [number, number];
  readonly difference: number;
  readonly flip: Flip;
};

/** The changes of a task from the first run to the second. A task passes when every scored trial has the reward 1. */
export const flips = ['broke', 'fixed', 'worse', 'better', 'same'] as const;
export type Flip = (typeof flips)[number];

export type Comparison = {
  readonly tasks: readonly ComparedTask[];
  /** Mean over tasks: second minus first, with the 95 % interval of a paired bootstrap by task. */
  readonly difference: Estimate;
  readonly better: number;
  readonly worse: number;
  /** Two-sided p of the exact paired permutation test by task. */
  readonly p: number;
};

/** A rollout as far as its comparison needs it. */
type Rewarded = Pick<Measure, 'task' | 'reward'>;

/** Compares the scored rollouts of two runs, task by task. Tasks that only one of them has scored are left out. */
export function compareRuns(first: readonly Rewarded[], second: readonly Rewarded[]): Comparison {
  const rewardsOf = (measures: readonly Rewarded[]) =>
    Map.groupBy(
      measures.filter(({ reward }) => reward !== null),
      ({ task }) => task,
    );
  const [before, after] = [rewardsOf(first), rewardsOf(second)];
  const tasks = [...before].flatMap(([task, rows]): ComparedTask[] => {
    const others = after.get(task);
    if (!others) return [];
    const rewards = [rows, others].map((each) => mean(each.map(({ reward }) => reward ?? 0))) as [number, number];
    const [one, other] = rewards;
    return [{ task, rewards, trials: [rows.length, others.length], difference: other - one, flip: flipOf(one, other) }];
  });
  const differences = tasks.map(({ difference }) => difference);
  return {
    tasks,
    difference: pairedBootstrap(differences),
    better: differences.filter((each) => each > 0).length,
    worse: differences.filter((each) => each < 0).length,
    p: pairedPermutation(
      differences,
      tasks.flatMap(({ trials }) => trials),
    ),
  };
}

function flipOf(before: number, after: number): Flip {
  if (before >= 1 && after < 1) return 'broke';
  if (before < 1 && after >= 1) return 'fixed';
  return after < before ? 'worse' : after > before ? 'better' : 'same';
}

/** The first difference of two rollouts in what was said, called, answered, or how they ended; null without one. */
export function firstDivergence(first: readonly RolloutEvent[], second: readonly RolloutEvent[]): Divergence | null {
  const [one, other] = [saidIn(first), saidIn(second)];
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const [a, b] = [one[at], other[at]];
    if (a?.key === b?.key) continue;
    return {
      steps: [a?.n ?? null, b?.n ?? null],
      what: a?.what ?? b?.what ?? 'end',
      texts: [a?.text ?? '(nothing more)', b?.text ?? '(nothing more)'],
    };
  }
  return null;
}
