import type { Measure } from '../engine/core/evaluation/measure.ts';
import type { RolloutEvent } from '../engine/core/events/event.ts';

/**
 * The kinds of examples that a rollout can be. A near-miss ended properly, with work done, and failed one declared check or
 * broke one rule. One that failed in more than that is a failure. One without a reward is unscored.
 */
export const outcomes = ['success', 'nearMiss', 'failure', 'unscored'] as const;
export type Outcome = (typeof outcomes)[number];

export type Classified = {
  readonly outcome: Outcome;
  /** A description of what a near-miss failed; null for every other outcome. */
  readonly miss: string | null;
  /** Steps of the agent that broke a rule, which must not be learned. */
  readonly withheld: readonly number[];
};

type Judged = Pick<Measure, 'reward' | 'checks' | 'violations' | 'reason' | 'endReason' | 'calls'>;

const properEnds = ['userStopped', 'handedOff'];

/** Says what a rollout is, by its reward, its declared checks and its rules. Several violations of one rule are one. */
export function classify(judged: Judged, events: readonly RolloutEvent[]): Classified {
  const { reward, checks, violations, reason, endReason, calls } = judged;
  const rules = [...new Set(violations.map(({ rule }) => rule))];
  const unmet = Math.max(0, checks.declared - checks.met);
  const withheld = [...new Set(violations.map(({ step }) => replyBefore(events, step)))].filter((step) => step >= 0);
  const classified = (outcome: Outcome, miss: string | null = null): Classified => ({
    outcome,
    miss,
    withheld: outcome === 'nearMiss' ? withheld : [],
  });
  if (reward === null) return classified('unscored');
  if (unmet + rules.length === 0) return classified(reward === 1 ? 'success' : 'failure');
  const isNear = properEnds.includes(endReason) && calls.some((call) => call.calls > call.errors);
  if (unmet + rules.length > 1 || !isNear) return classified('failure');
  return classified('nearMiss', rules[0] === undefined ? `one check failed: ${reason}` : `broke ${rules[0]}`);
}

/** The agent's reply that a verdict at a step is about. */
function replyBefore(events: readonly RolloutEvent[], step: number): number {
  return events.findLastIndex(({ type }, at) => at < step && type === 'agentReplied');
}
