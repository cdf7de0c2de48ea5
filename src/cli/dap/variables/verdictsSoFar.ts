import type { World } from '../../../engine/core/domain/domain.ts';
import type { FieldComparison } from '../../../engine/core/domain/fieldComparison.ts';
import type { Task, VerifierName } from '../../../engine/core/domain/task.ts';
import type { Side } from '../../../engine/core/domain/tool.ts';
import { isDemanding, type Verdict, verdictWord } from '../../../engine/core/events/event.ts';
import type { RolloutState } from '../../../engine/core/events/state.ts';
import { rewardOf } from '../../../engine/core/reward/reward.ts';
import { type Path, showPath } from '../../../engine/core/values/json.ts';
import { isExternalState } from '../../../engine/core/verifiers/assertions.ts';
import { goldLike } from '../../../engine/core/verifiers/database.ts';
import { verdictsOf } from '../../../engine/core/verifiers/verify.ts';
import { diffDatabases } from '../../../engine/core/world/database.ts';
import type { Variable } from './rows.ts';
import { shortened } from './variables.ts';

/** A verifier's verdict so far, or why only the end of the rollout can decide. */
export type Standing = { readonly verifier: string } & ({ readonly verdict: Verdict } | { readonly undecided: string });

/** A value of the world that is not as the gold actions leave it. */
export type Difference = {
  readonly side: Side;
  readonly path: Path;
  /** The path in words. */
  readonly place: string;
  readonly is: string;
  readonly expected: string;
};

/**
 * Returns what each verifier would say if the rollout ended here; after its end, what it said. Pure: what needs
 * something to run is undecided.
 * @param gold the world after the gold actions, or why it is not known
 */
export function standingsAt(
  task: Task,
  state: RolloutState,
  gold: World | string,
  compare: FieldComparison,
): readonly Standing[] {
  if (state.verdicts.length > 0) return state.verdicts.map((verdict) => ({ verifier: verdict.verifier, verdict }));
  const basis = task[state.started.basis];
  const open = new Map(basis.flatMap((name) => openReason(name, task, gold).map((why) => [name, why] as const)));
  const world = typeof gold === 'string' ? state.world : gold;
  const evidence = { task, state, start: state.start, gold: world, custom: [], compare };
  const decided = verdictsOf(
    basis.filter((name) => !open.has(name)),
    evidence,
  ).filter(({ verifier, diagnostic }) => !(diagnostic && open.has(verifier as VerifierName)));
  return [
    ...decided.map((verdict) => ({ verifier: verdict.verifier, verdict })),
    ...[...open].map(([verifier, undecided]) => ({ verifier, undecided })),
  ];
}

function openReason(name: VerifierName, task: Task, gold: World | string): readonly string[] {
  switch (name) {
    case 'database':
      return typeof gold === 'string' ? [`decided at the end: ${gold}`] : [];
    case 'assertions':
      return task.assertions.some((assertion) => isExternalState(assertion.in))
        ? ['decided at the end: it reads a source outside the database']
        : [];
    case 'turns':
      return ['decided at the end: it plays the gold actions turn by turn'];
    case 'custom':
      return ['decided at the end: it runs code of the domain'];
    case 'judge':
      return ['decided at the end: a judge is asked'];
    default:
      return [];
  }
}

/**
 * Returns where the world is not as the gold actions leave it, on both sides, up to ids that tools created and to what
 * the domain counts as equal.
 */
export function differencesFrom(
  task: Task,
  made: World,
  state: RolloutState,
  compare: FieldComparison,
): readonly Difference[] {
  const { world, start } = state;
  const { world: gold } = goldLike({ task, state, compare }, start, made);
  return (['agent', 'user'] as const).flatMap((side) =>
    diffDatabases(gold[side], world[side]).map(({ path, before, after }) => ({
      side,
      path,
      place: `${side === 'user' ? 'user: ' : ''}${showPath(path)}`,
      is: shortened(after),
      expected: before === undefined ? 'no value' : shortened(before),
    })),
  );
}

/** The rows of the scope: the reward as it would be, and every verifier. */
export function verifierVariables(
  task: Task,
  state: RolloutState,
  gold: World | string,
  compare: FieldComparison,
): readonly Variable[] {
  const standings = standingsAt(task, state, gold, compare);
  const differences = typeof gold === 'string' ? [] : differencesFrom(task, gold, state, compare);
  return [
    rewardRow(task, state, standings),
    ...standings.map((standing): Variable => {
      if ('undecided' in standing) return { name: standing.verifier, value: standing.undecided };
      const { verdict } = standing;
      const { verifier, detail, met, of, evidence, diagnostic } = verdict;
      if (!isDemanding(verdict)) return { name: verifier, value: 'requires nothing' };
      const word = state.verdicts.length > 0 || verdict.held ? verdictWord(verdict) : 'not yet';
      return {
        name: verifier,
        value: `${word}: ${detail}${diagnostic ? ' (does not count for the reward)' : ''}`,
        children: () => [
          ...(of === undefined ? [] : [{ name: 'checks met', value: `${met ?? 0} of ${of}` }]),
          ...(evidence.length > 0 ? [{ name: 'evidence', value: `step ${evidence.join(', ')}` }] : []),
          ...(verifier === 'database' ? differences.map(differenceRow) : []),
        ],
      };
    }),
  ];
}

function differenceRow({ place, is, expected }: Difference): Variable {
  return { name: place, value: `is ${is}, expected ${expected}` };
}

function rewardRow(task: Task, state: RolloutState, standings: readonly Standing[]): Variable {
  if (state.reward) return { name: 'reward', value: `${state.reward.value ?? 'none'}: ${state.reward.reason}` };
  const name = 'reward if ended here';
  const ended = state.ended ?? { reason: 'userStopped' as const };
  const open = standings.find((standing) => 'undecided' in standing);
  // A violated gate decides it, whatever the verifiers say.
  const gated = rewardOf({ ...state, ended, verdicts: [] });
  if (open && gated.value === 1) return { name, value: `undecided: ${open.verifier} is open` };
  const verdicts = standings.flatMap((standing) => ('verdict' in standing ? [standing.verdict] : []));
  const { value, reason } = open ? gated : rewardOf({ ...state, ended, verdicts }, task.credit);
  return { name, value: `${value ?? 'none'}: ${reason}` };
}
