import { type EndReason, type Failure, isDemanding, type Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';

const properEnds: readonly EndReason[] = ['userStopped', 'handedOff', 'messageCap'];

/** From 0 to 1; null when nothing can be said about the agent. */
export type Reward = { readonly value: number | null; readonly reason: string };
export type Credit = 'product' | 'partial';

/**
 * The reward: 1 only if the rollout ended properly, every verifier of the basis holds and no gated rule was violated;
 * null when infrastructure failed, or when a verifier or a gated rule could not be evaluated, since that says nothing
 * about the agent (MUA-RL, arXiv 2508.18669). With partial credit what the verifiers miss costs its share; the gates stay.
 */
export function rewardOf(state: RolloutState, credit: Credit = 'product'): Reward {
  const { ended, ruleVerdicts } = state;
  if (ended === null) throw new Error('a reward needs a rollout that has ended');
  if (isUnscorable(ended)) return { value: null, reason: `not scored: ${ended.failure?.message ?? ended.reason}` };
  const broken = ruleVerdicts.find(({ gate, verdict }) => gate && verdict === 'violated');
  if (broken) return { value: 0, reason: `rule ${broken.rule} was violated at step ${broken.step}: ${broken.reason}` };
  if (!isProperEnd(ended.reason))
    return { value: 0, reason: `the rollout did not end properly: ${describe(ended.reason)}` };
  const reward = rewardFrom(
    state.verdicts.filter(({ diagnostic }) => !diagnostic),
    credit,
  );
  const open = openGateOf(state);
  if (open === undefined || reward.value === 0 || reward.value === null) return reward;
  return {
    value: null,
    reason: `not scored: the gated rule ${open.rule} could not be evaluated at step ${open.step}: ${open.reason}`,
  };
}

/** The first verdict of a gated rule that could not be evaluated: such a rule has not held. */
export function openGateOf({ ruleVerdicts }: RolloutState): RolloutState['ruleVerdicts'][number] | undefined {
  return ruleVerdicts.find(({ gate, verdict }) => gate && verdict === 'unknown');
}

function rewardFrom(verdicts: readonly Verdict[], credit: Credit): Reward {
  const failed = verdicts.find(({ held, unknown }) => !held && !unknown);
  if (failed && credit === 'product') return { value: 0, reason: `${failed.verifier}: ${failed.detail}` };
  const open = verdicts.find(({ unknown }) => unknown);
  if (open) return { value: null, reason: `not scored: ${open.verifier}: ${open.detail}` };
  if (failed) {
    const value = verdicts.reduce((sum, verdict) => sum + shareOf(verdict), 0) / verdicts.length;
    return { value: Math.round(value * 1e6) / 1e6, reason: `partial credit: ${failed.verifier}: ${failed.detail}` };
  }
  return { value: 1, reason: `${heldText(verdicts)}, and every gated rule was followed` };
}

/** Returns which verifiers held, as in "database and communicate held". Those that require nothing are not among them. */
export function heldText(verdicts: readonly Verdict[]): string {
  const names = verdicts.filter(isDemanding).map(({ verifier }) => verifier);
  return names.length === 0 ? 'the rollout ended properly' : `${names.join(' and ')} held`;
}

/** Share of a verifier's checks that were met; below 1 where it does not hold. */
function shareOf({ held, met = 0, of = 1 }: Verdict): number {
  if (held) return 1;
  return of === 0 ? 0 : Math.min(met / of, 1 - 1 / (of + 1));
}

/** Whether a rollout came to its end by the user's or a person's word, and not by a cap or a failure. */
export function isProperEnd(reason: EndReason): boolean {
  return properEnds.includes(reason);
}

/** Why something has no verdict in a rollout that cannot be scored. */
export const notEvaluated = 'not evaluated, because the rollout ended early';

/** Verdicts that replace those of the whole rollout when nothing could be verified. */
export function isUnscorable(ended: { readonly reason: EndReason; readonly failure?: Failure | undefined }): boolean {
  return (
    ended.reason === 'infrastructureFailed' ||
    ended.reason === 'environmentFailed' ||
    ended.reason === 'cancelled' ||
    ended.reason === 'userFailed'
  );
}

function describe(reason: EndReason): string {
  switch (reason) {
    case 'turnCap':
      return 'it reached the cap on turns';
    case 'toolErrorCap':
      return 'it reached the cap on tool errors';
    case 'agentFailed':
      return 'the agent could not continue';
    case 'userInvalid':
      return 'the simulated user sent an invalid message';
    default:
      return reason;
  }
}
