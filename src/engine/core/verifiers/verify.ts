import type { World } from '../domain/domain.ts';
import { exactly, type FieldComparison } from '../domain/fieldComparison.ts';
import type { Task, VerifierName } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';
import { impossible } from '../values/impossible.ts';
import { actionsVerdict } from './actions.ts';
import { assertionsVerdict, isExternalState, type VolatileOf } from './assertions.ts';
import { communicateVerdict } from './communicate.ts';
import { databaseVerdict } from './database.ts';
import { endStateVerdicts } from './endState.ts';
import { judgeVerdict } from './judge.ts';
import { milestonesVerdict } from './milestones.ts';
import { receiptsVerdict } from './receipts.ts';
import { type GoldStep, turnsVerdict } from './turns.ts';

/** The result of a verifier of verifiers.ts for a rollout. */
export type CustomResult = {
  readonly name: string;
  readonly held: boolean;
  readonly detail: string;
  /** Share of its checks that were met, from 0 to 1; for partial credit. */
  readonly share?: number;
};

/** The evidence that the verifiers examine. */
export type Evidence = {
  readonly task: Task;
  readonly state: RolloutState;
  /** The world before the first message. */
  readonly start: World;
  /** The world after the gold actions, from the same start. */
  readonly gold: World;
  /** The result of each gold action, where the basis looks at the turns. */
  readonly goldSteps?: readonly GoldStep[];
  readonly custom: readonly CustomResult[];
  /** Fields of tool sources that differ from rollout to rollout. */
  readonly volatileOf?: VolatileOf;
  /** The fields that the domain does not compare exactly. */
  readonly compare?: FieldComparison;
};

/**
 * Returns what the verifiers say about a rollout that has ended. Each decides from the world, not from the words; only
 * `communicate` and `judge` read what was said. Beside those of the basis, what the task declares and what needs
 * nothing from outside is verified as a diagnostic, which decides no reward.
 */
export function verdictsOf(basis: readonly VerifierName[], evidence: Evidence): readonly Verdict[] {
  const diagnostics = diagnosticsOf(evidence.task).filter((name) => !basis.includes(name));
  return [
    ...basis.flatMap((verifier) => verdicts(verifier, evidence)),
    ...diagnostics.flatMap((verifier) =>
      verdicts(verifier, evidence).map((each) => ({ ...each, diagnostic: true }) as const),
    ),
  ];
}

function verdicts(
  verifier: VerifierName,
  { task, state, start, gold, goldSteps = [], custom, volatileOf, compare = exactly }: Evidence,
): readonly Verdict[] {
  switch (verifier) {
    case 'database':
      return [databaseVerdict({ task, state, compare }, start, gold)];
    case 'assertions':
      return [assertionsVerdict(task.assertions, state, volatileOf, compare)];
    case 'communicate':
      return [communicateVerdict(task, state)];
    case 'receipts':
      return [receiptsVerdict(task.receipts ?? [], state)];
    case 'actions':
      return [actionsVerdict(task.actions, state)];
    case 'turns':
      return [turnsVerdict(task, state, goldSteps)];
    case 'endState':
      return endStateVerdicts(task, state);
    case 'milestones':
      return [milestonesVerdict(task, state)];
    case 'custom':
      return custom.map((result) => customVerdict(result, state));
    case 'judge':
      return [judgeVerdict(task.judge ?? [], state)];
    default:
      return impossible('verifier', verifier);
  }
}

function customVerdict({ name, held, detail, share }: CustomResult, { next }: RolloutState): Verdict {
  const met = Math.round((share ?? (held ? 1 : 0)) * 100);
  const counted = share === undefined ? { met: held ? 1 : 0, of: 1 } : { met, of: 100 };
  return { verifier: `custom:${name}`, held, detail, evidence: [next - 1], ...counted };
}

/** Verifiers that can say something at no cost and no risk, whatever the basis. */
function diagnosticsOf({ communicate, receipts, assertions, milestones }: Task): readonly VerifierName[] {
  const isNear = assertions.every((assertion) => !isExternalState(assertion.in));
  return [
    ...(assertions.length > 0 && isNear ? (['assertions'] as const) : []),
    ...(communicate.length > 0 ? (['communicate'] as const) : []),
    ...((receipts?.length ?? 0) > 0 ? (['receipts'] as const) : []),
    ...((milestones?.length ?? 0) > 0 ? (['milestones'] as const) : []),
  ];
}
