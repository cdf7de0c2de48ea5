import type { EndReason, Failure } from './event.ts';
import type { RolloutState } from './state.ts';

const properEnds: readonly EndReason[] = ['userStopped', 'handedOff'];

export type Reward = { readonly value: 0 | 1 | null; readonly reason: string };

/**
 * The reward: 1 only if the rollout ended properly, every verifier of the basis holds and no gated rule
 * was violated; null when infrastructure failed, since that says nothing about the agent (MUA-RL, arXiv 2508.18669).
 */
export function rewardOf(state: RolloutState): Reward {
  const { ended, verdicts, ruleVerdicts } = state;
  if (ended === null) throw new Error('a reward needs a rollout that has ended');
  if (isUnscorable(ended)) return { value: null, reason: `not scored: ${ended.failure?.message ?? ended.reason}` };
  if (!properEnds.includes(ended.reason))
    return { value: 0, reason: `the rollout did not end properly: ${describe(ended.reason)}` };
  const broken = ruleVerdicts.find(({ gate, verdict }) => gate && verdict === 'violated');
  if (broken) return { value: 0, reason: `rule ${broken.rule} was violated at step ${broken.step}: ${broken.reason}` };
  const failed = verdicts.find(({ held }) => !held);
  if (failed) return { value: 0, reason: `${failed.verifier}: ${failed.detail}` };
  return {
    value: 1,
    reason: `${verdicts.map(({ verifier }) => verifier).join(' and ')} held, and no gated rule was violated`,
  };
}

/** Verdicts that stand for the whole rollout when nothing could be verified. */
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
      return 'the agent could not go on';
    default:
      return reason;
  }
}
