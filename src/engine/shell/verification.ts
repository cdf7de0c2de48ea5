import { conclusionOf } from '../core/conclusion.ts';
import type { World } from '../core/domain.ts';
import type { RolloutEvent } from '../core/event.ts';
import type { Json } from '../core/json.ts';
import { isProperEnd, isUnscorable } from '../core/reward.ts';
import type { Setting } from '../core/rollout.ts';
import type { RolloutState } from '../core/state.ts';
import type { Assertion, Task, VerifierName } from '../core/task.ts';
import { sourceKey, stateOutside } from '../core/verifiers/assertions.ts';
import { type CustomResult, verdictsOf } from '../core/verify.ts';
import type { Gold } from './goldWorld.ts';

/** What a verifier of the domain's own code looks at. */
export type CustomEvidence = { readonly start: World; readonly state: RolloutState };

/** What verification needs of the outside. */
export type VerificationPorts = {
  readonly readSource: (assertion: Assertion, state: RolloutState) => Promise<Json>;
  /** Runs a verifier that verifiers.ts exports. */
  readonly verifyBy?: (name: string, evidence: CustomEvidence) => Promise<CustomResult> | CustomResult;
  /** The world after the gold actions. */
  readonly goldWorld: () => Promise<Gold> | Gold;
};

/**
 * What follows the end of a rollout: the state of one tool source that has to be read, or, with all of them read, the
 * verdicts and the reward. An effect that only read a source comes back.
 */
export function verification(
  setting: Setting,
  task: Task,
  state: RolloutState,
  ports: VerificationPorts,
): Promise<readonly RolloutEvent[]> | readonly RolloutEvent[] {
  if (state.ended === null) throw new Error('verification comes after the end');
  const basis = task[state.started.basis];
  if (isUnscorable(state.ended)) return [conclusionOf(setting.domain, task, state)];
  const open = outsideOf(task, basis).find((assertion) => !Object.hasOwn(state.sources, sourceKey(assertion)));
  if (open) {
    // What ended improperly has the reward 0 whatever its state is, so a state that can't be read changes nothing.
    const asked = ports.readSource(open, state);
    const read = isProperEnd(state.ended.reason) ? asked : asked.catch(() => null);
    return read.then((found) => [{ type: 'sourceRead', source: sourceKey(open), state: found as never }]);
  }
  const { start } = state;
  const conclude = (gold: Gold, custom: readonly CustomResult[]): readonly RolloutEvent[] => {
    const verdicts = verdictsOf(basis, { task, state, start, gold: gold.world, goldSteps: gold.steps, custom });
    const decided = { ...state, verdicts: [...state.verdicts, ...verdicts] };
    return [
      ...verdicts.map((verdict) => ({ type: 'verdictReached' as const, verdict })),
      conclusionOf(setting.domain, task, decided),
    ];
  };
  const isGoldNeeded = basis.includes('database') || basis.includes('turns');
  const gold = isGoldNeeded ? ports.goldWorld() : { world: state.world, steps: [] };
  if (!(gold instanceof Promise) && !basis.includes('custom')) return conclude(gold, []);
  return (async () => {
    const after = await gold;
    return conclude(after, basis.includes('custom') ? await customResults(task, { start, state }, ports) : []);
  })();
}

async function customResults(
  task: Task,
  evidence: CustomEvidence,
  { verifyBy }: VerificationPorts,
): Promise<readonly CustomResult[]> {
  const results: CustomResult[] = [];
  for (const name of task.verifiers ?? []) {
    if (!verifyBy) throw new Error(`nobody runs the verifier ${name} here`);
    results.push(await verifyBy(name, evidence));
  }
  return results;
}

/** The assertions that look outside. */
function outsideOf(task: Task, basis: readonly VerifierName[]): readonly Assertion[] {
  return basis.includes('assertions') ? task.assertions.filter((assertion) => stateOutside(assertion.in)) : [];
}
