import type { RolloutState } from '../../engine/core/state.ts';

/** Why the reward is what it is, or what speaks against 1 so far. */
export function explanationOf(state: RolloutState): string {
  const { reward, verdicts, ruleVerdicts, ended } = state;
  const broken = ruleVerdicts.filter(({ verdict }) => verdict === 'violated');
  return [
    reward ? `REWARD ${reward.value ?? 'none'}  ${reward.reason}` : 'no reward yet: the rollout goes on',
    ended
      ? `  ended by ${ended.reason}${ended.failure ? `: ${ended.failure.message}` : ''}`
      : `  turn ${state.turn} of at most ${state.started.turnCap}`,
    ...verdicts.map(({ verifier, held, detail }) => `  ${held ? 'held  ' : 'failed'}  ${verifier}: ${detail}`),
    ...broken.map(
      ({ rule, reason, step, gate, evidence }) =>
        `  broken  rule ${rule} at step ${step}${gate ? ' (gates the reward)' : ''}: ${reason}${evidence.length > 0 ? ` (see step ${evidence.join(', ')})` : ''}`,
    ),
    ...(broken.length === 0 ? ['  held    every rule that was checked'] : []),
  ].join('\n');
}
