import type { Outcome } from '../../engine/core/evaluation/outcome.ts';
import { passHat } from '../../engine/core/values/statistics.ts';

/** The combined result of the trials of a task. */
export type TrialTally = {
  readonly result: Outcome['result'];
  /** A short text shown next to the task. */
  readonly short: string;
  /** A sentence or two. */
  readonly message: string;
};

/**
 * Tallies the outcomes of one task's trials. Trials without a score say nothing about the agent, and are counted
 * separately.
 */
export function trialTally(outcomes: readonly Outcome['result'][]): TrialTally {
  const passed = outcomes.filter((each) => each === 'passed').length;
  const errored = outcomes.filter((each) => each === 'errored').length;
  const scored = outcomes.length - errored;
  const result = passed === outcomes.length ? 'passed' : passed < scored ? 'failed' : 'errored';
  const count = `${passed} of ${scored} trials passed`;
  const apart = errored === 0 ? '' : `, ${errored} not scored`;
  if (scored === 0)
    return { result, short: `${errored} trials not scored`, message: `None of ${errored} trials was scored.` };
  const chances = [...new Set([1, scored])].map((k) => `pass^${k} ${passHat(passed, scored, k).toFixed(2)}`);
  return {
    result,
    short: `${passed}/${scored} passed, ${chances.at(-1)}${apart}`,
    message: `${count}${apart}: ${chances.join(', ')}.`,
  };
}
