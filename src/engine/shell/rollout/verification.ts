import type { World } from '../../core/domain/domain.ts';
import { comparisonOf } from '../../core/domain/fieldComparison.ts';
import type { Assertion, Task, VerifierName } from '../../core/domain/task.ts';
import type { RolloutEvent, Writes } from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { conclusionOf } from '../../core/reward/conclusion.ts';
import { isProperEnd, isUnscorable } from '../../core/reward/reward.ts';
import type { Setting } from '../../core/rollout/rollout.ts';
import type { Json } from '../../core/values/json.ts';
import { goldSource, isExternalState, sourceKeys } from '../../core/verifiers/assertions.ts';
import type { GoldStep } from '../../core/verifiers/turns.ts';
import { type CustomResult, verdictsOf } from '../../core/verifiers/verify.ts';

/** The world after the gold actions, and the result and the writes of each of them, with what `sync` wrote after it. */
export type Gold = {
  readonly world: World;
  readonly steps: readonly (GoldStep & { readonly writes: Writes })[];
  /** The first action that failed and that no later equal one repeats with success, in words. */
  readonly failed?: string | undefined;
};

/** The evidence that a verifier of the domain's own code examines. */
export type CustomEvidence = { readonly start: World; readonly state: RolloutState };

/** The inputs to the verdicts of a rollout besides its state. */
export type Conclusive = {
  /** The result of the gold actions; null where no verifier looks at it. */
  readonly gold: Gold | null;
  readonly custom: readonly CustomResult[];
};

/** A state that an assertion looks into and that is still to be read, under the name that it is recorded by. */
export type OpenSource = { readonly assertion: Assertion; readonly source: string };

/** The outside functions that verification needs. */
export type VerificationPorts = {
  readonly readSource: (open: OpenSource, state: RolloutState) => Promise<Json>;
  /** Runs a verifier that verifiers.ts exports. */
  readonly verifyBy?: (name: string, evidence: CustomEvidence) => Promise<CustomResult> | CustomResult;
  /** The world after the gold actions. */
  readonly goldWorld: () => Promise<Gold> | Gold;
  /** Receives what the verdicts depend on instead of making them here. The verification then returns no event. */
  readonly conclude?: (evidence: Conclusive) => void;
};

/**
 * Returns what follows the end of a rollout: the state of one tool source that has to be read, or, with all of them
 * read, the verdicts and the reward. An effect that only read a source comes back.
 */
export function verification(
  setting: Setting,
  task: Task,
  state: RolloutState,
  ports: VerificationPorts,
): Promise<readonly RolloutEvent[]> | readonly RolloutEvent[] {
  const basis = task[state.started.basis];
  const open = openSource(task, state);
  if (open) {
    // What ended improperly has the reward 0 whatever its state is, so a state that can't be read changes nothing.
    const asked = ports.readSource(open, state);
    const read = state.ended && isProperEnd(state.ended.reason) ? asked : asked.catch(() => null);
    return read.then((found) => [{ type: 'sourceRead', source: open.source, state: found as never }]);
  }
  const gold = needsGold(task, state) ? ports.goldWorld() : null;
  const isCustom = basis.includes('custom') && !isUnscorableEnd(state);
  const concluded = (evidence: Conclusive): readonly RolloutEvent[] => {
    if (!ports.conclude) return conclude(setting, task, state, evidence);
    ports.conclude(evidence);
    return [];
  };
  if (!(gold instanceof Promise) && !isCustom) return concluded({ gold, custom: [] });
  return (async () => {
    const after = await gold;
    const custom = isCustom ? await customResults(task, { start: state.start, state }, ports) : [];
    return concluded({ gold: after, custom });
  })();
}

/**
 * Returns the next state outside that is still to be read; null where all are, or nothing can be scored. The gold actions may
 * change what another assertion looks into, so the states that the agent left come first.
 */
export function openSource(task: Task, state: RolloutState): OpenSource | null {
  if (isUnscorableEnd(state)) return null;
  const needed = externalAssertions(task, task[state.started.basis]).flatMap((assertion) =>
    sourceKeys(assertion).map((source) => ({ assertion, source })),
  );
  const open = needed.filter(({ source }) => !Object.hasOwn(state.sources, source));
  return open.find(({ source }) => goldSource(source) === null) ?? open[0] ?? null;
}

/** Whether the verdicts depend on the result of the gold actions. */
export function needsGold(task: Task, state: RolloutState): boolean {
  const basis = task[state.started.basis];
  return !isUnscorableEnd(state) && (basis.includes('database') || basis.includes('turns'));
}

/** The verdicts and the reward of a rollout that has ended, when everything outside is known. Pure. */
export function conclude(
  setting: Setting,
  task: Task,
  state: RolloutState,
  { gold, custom }: Conclusive,
): readonly RolloutEvent[] {
  if (isUnscorableEnd(state)) return [conclusionOf(setting.domain, task, state)];
  const { start } = state;
  const { world, steps, failed } = gold ?? { world: state.world, steps: [], failed: undefined };
  const volatileOf = (source: string) => setting.domain.file.mcpServers[source]?.volatile ?? [];
  const evidence = {
    task,
    state,
    start,
    gold: world,
    goldSteps: steps,
    goldFailed: failed,
    custom,
    volatileOf,
    compare: comparisonOf(setting.domain.file),
  };
  const verdicts = verdictsOf(task[state.started.basis], evidence);
  const decided = { ...state, verdicts: [...state.verdicts, ...verdicts] };
  return [
    ...verdicts.map((verdict) => ({ type: 'verdictReached' as const, verdict })),
    conclusionOf(setting.domain, task, decided),
  ];
}

function isUnscorableEnd({ ended }: RolloutState): boolean {
  if (ended === null) throw new Error('verification comes after the end');
  return isUnscorable(ended);
}

async function customResults(
  task: Task,
  evidence: CustomEvidence,
  { verifyBy }: VerificationPorts,
): Promise<readonly CustomResult[]> {
  const results: CustomResult[] = [];
  for (const name of task.verifiers ?? []) {
    if (!verifyBy) throw new Error(`no handler runs the verifier ${name} here`);
    results.push(await verifyBy(name, evidence));
  }
  return results;
}

/** The assertions that look outside. */
function externalAssertions(task: Task, basis: readonly VerifierName[]): readonly Assertion[] {
  return basis.includes('assertions') ? task.assertions.filter((assertion) => isExternalState(assertion.in)) : [];
}
