import type { World } from '../domain/domain.ts';
import { exactly, type FieldComparison } from '../domain/fieldComparison.ts';
import { type Task, type VerifierName, verifierNames } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';
import { actionsVerdict } from './actions.ts';
import { assertionsVerdict, isExternalState, type VolatileOf } from './assertions.ts';
import { communicateVerdict } from './communicate.ts';
import { databaseVerdict, unknownDatabase } from './database.ts';
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
  /** The gold action that failed, in words. */
  readonly goldFailed?: string | undefined;
  readonly custom: readonly CustomResult[];
  /** Fields of tool sources that differ from rollout to rollout. */
  readonly volatileOf?: VolatileOf;
  /** The fields that the domain does not compare exactly. */
  readonly compare?: FieldComparison;
};

/** The facts about one verifier. */
type Verifier = {
  readonly verdicts: (evidence: Evidence) => readonly Verdict[];
  /** Returns whether a task has something for it to verify. */
  readonly hasInput: (task: Task) => boolean;
  /** Returns whether it is a diagnostic where the basis leaves it out: it costs nothing and starts nothing. */
  readonly isDiagnostic: (task: Task) => boolean;
};

const always = () => true;
const never = () => false;

/** The registration of the verifiers. */
const verifiers: Readonly<Record<VerifierName, Verifier>> = {
  database: {
    // The evaluator of a benchmark leaves such an action out.
    verdicts: ({ task, state, start, gold, goldFailed, compare = exactly }) => [
      goldFailed === undefined || task.origin
        ? databaseVerdict({ task, state, compare }, start, gold)
        : unknownDatabase(goldFailed, state),
    ],
    hasInput: always,
    isDiagnostic: never,
  },
  assertions: {
    verdicts: ({ task, state, volatileOf, compare = exactly }) => [
      assertionsVerdict(task.assertions, state, volatileOf, compare),
    ],
    hasInput: ({ assertions }) => assertions.length > 0,
    isDiagnostic: ({ assertions }) => assertions.every((assertion) => !isExternalState(assertion.in)),
  },
  communicate: {
    verdicts: ({ task, state }) => [communicateVerdict(task, state)],
    hasInput: ({ communicate }) => communicate.length > 0,
    isDiagnostic: always,
  },
  receipts: {
    verdicts: ({ task, state }) => [receiptsVerdict(task.receipts ?? [], state)],
    hasInput: ({ receipts = [] }) => receipts.length > 0,
    isDiagnostic: always,
  },
  actions: {
    verdicts: ({ task, state }) => [actionsVerdict(task.actions, state)],
    hasInput: ({ actions }) => actions.length > 0,
    isDiagnostic: never,
  },
  turns: {
    verdicts: ({ task, state, goldSteps = [] }) => [turnsVerdict(task, state, goldSteps)],
    hasInput: ({ user: { script = [] } }) => script.length > 0,
    isDiagnostic: never,
  },
  endState: {
    verdicts: ({ task, state }) => endStateVerdicts(task, state),
    hasInput: ({ endState }) => endState !== undefined,
    isDiagnostic: never,
  },
  milestones: {
    verdicts: ({ task, state }) => [milestonesVerdict(task, state)],
    hasInput: ({ milestones = [] }) => milestones.length > 0,
    isDiagnostic: always,
  },
  custom: {
    verdicts: ({ custom, state }) => custom.map((result) => customVerdict(result, state)),
    hasInput: (task) => (task.verifiers ?? []).length > 0,
    isDiagnostic: never,
  },
  judge: {
    verdicts: ({ task, state }) => [judgeVerdict(task.judge ?? [], state)],
    hasInput: ({ judge = [] }) => judge.length > 0,
    isDiagnostic: never,
  },
};

/**
 * Returns what the verifiers say about a rollout that has ended. Each decides from the world, not from the words; only
 * `communicate` and `judge` read what was said. Beside those of the basis, what the task declares and what needs
 * nothing from outside is verified as a diagnostic, which decides no reward.
 */
export function verdictsOf(basis: readonly VerifierName[], evidence: Evidence): readonly Verdict[] {
  const diagnostics = verifierNames.filter(
    (name) => !basis.includes(name) && hasInput(name, evidence.task) && verifiers[name].isDiagnostic(evidence.task),
  );
  return [
    ...basis.flatMap((name) => verifiers[name].verdicts(evidence)),
    ...diagnostics.flatMap((name) =>
      verifiers[name].verdicts(evidence).map((each) => ({ ...each, diagnostic: true }) as const),
    ),
  ];
}

/** Returns whether a task has something for a verifier to verify. */
export const hasInput = (name: VerifierName, task: Task): boolean => verifiers[name].hasInput(task);

function customVerdict({ name, held, detail, share }: CustomResult, { next }: RolloutState): Verdict {
  const met = Math.round((share ?? (held ? 1 : 0)) * 100);
  const counted = share === undefined ? { met: held ? 1 : 0, of: 1 } : { met, of: 100 };
  return { verifier: `custom:${name}`, held, detail, evidence: [next - 1], ...counted };
}
