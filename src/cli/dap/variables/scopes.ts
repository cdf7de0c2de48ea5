import { comparisonOf } from '../../../engine/core/domain/fieldComparison.ts';
import { basisText, endReasonText, maskingText } from '../../../engine/core/events/displayText.ts';
import { isDemanding, type RolloutStarted, verdictWord } from '../../../engine/core/events/event.ts';
import type { RolloutState } from '../../../engine/core/events/state.ts';
import { keysAt } from '../../../engine/core/world/database.ts';
import { inWordsOf } from '../../../engine/shell/domain/reasonInWords.ts';
import { Fault } from '../../../engine/shell/files/fault.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import { changed, databaseVariables } from './databaseRows.ts';
import { marksOf } from './marks.ts';
import { nextRequest } from './nextRequest.ts';
import { personaVariables } from './personaVariables.ts';
import type { Variable } from './rows.ts';
import { agentSees, userSees } from './seatViews.ts';
import { usageAt } from './usage.ts';
import { leaf, messageVariable, refusedVariables, ruleVariable } from './variables.ts';
import { verifierVariables } from './verdictsSoFar.ts';

export type Scope = Variable & {
  readonly children: () => readonly Variable[];
  /** Whether something has to run before it can be shown, so that clients do not open it automatically. */
  readonly isExpensive?: boolean;
};

/** Returns the scopes of a step; each is made when it is requested. */
export function scopesAt(debuggee: Debuggee, step: Step): readonly Scope[] {
  const { state } = step;
  const before = debuggee.steps[step.n - 1];
  const guardAt = (n: number) => debuggee.guardNote(n);
  const changes = before ? changed(before, step) : [];
  const refused = refusedVariables(guardAt(step.n));
  const database = (side: 'agent' | 'user') => {
    const now = state.world[side];
    return databaseVariables(now, side, [], marksOf(before?.state.world[side], now));
  };
  const hasUserSide = keysAt(state.world.user, []).total > 0;
  return [
    scope('Messages', () => state.messages.map((message, index) => messageVariable(message, index, guardAt))),
    ...(refused.length > 0 ? [scope('Refused by the guard', () => refused)] : []),
    scope('Database', () => database('agent')),
    ...(hasUserSide ? [scope("User's database", () => database('user'))] : []),
    ...(changes.length > 0 ? [scope(changedScope, () => changes)] : []),
    scope('Rules', () => state.ruleVerdicts.map((verdict) => ruleVariable(verdict, inWordsOf(debuggee.domain)))),
    verifiers(debuggee, state),
    scope('Agent sees', () => agentSees(step)),
    scope(
      'User sees',
      ofTask(() => userSees(debuggee, step)),
    ),
    scope(
      'Next request',
      ofTask(() => nextRequest(debuggee, step)),
    ),
    scope(
      'Persona',
      ofTask(() => personaVariables(debuggee, step)),
    ),
    scope('Usage', () => usageAt(debuggee, step)),
    scope('Rollout', () => rolloutVariables(step)),
  ];
}

/** The scope that only a step with changes has. */
export const changedScope = 'Changed in this step';

/** A recording is shown although the domain has its task, or that task's persona, no more: what needs them says so. */
function ofTask(children: () => readonly Variable[]): () => readonly Variable[] {
  return () => {
    try {
      return children();
    } catch (error) {
      if (error instanceof Fault) return [leaf('not known', error.message)];
      throw error;
    }
  };
}

/** The gold actions are played once, when the scope is first opened. */
function verifiers(debuggee: Debuggee, state: RolloutState): Scope {
  let gold: Awaited<ReturnType<Debuggee['gold']>> = 'the gold actions were not played';
  const prepare = async () => {
    gold = await debuggee.gold();
  };
  const children = ofTask(() => verifierVariables(debuggee.task, state, gold, comparisonOf(debuggee.domain.file)));
  return { ...scope('Verifiers', children), prepare, isExpensive: true };
}

const whoIsNext: Readonly<Record<RolloutState['phase']['type'], string>> = {
  worldAwaited: "the task's initial state is set up",
  syncAwaited: 'both sides of the world are brought into step',
  userAwaited: 'the user speaks',
  agentAwaited: 'the agent responds',
  rulesAwaited: 'the rules are checked',
  remarksAwaited: 'the messages are checked against the rules',
  callAwaited: 'the tool is called',
  resultAwaited: 'the tool returns',
  endAwaited: 'the rollout ends',
  verdictsAwaited: 'the verifiers decide',
  closed: 'nothing: it is over',
};

function rolloutVariables({ n, event, state }: Step): readonly Variable[] {
  const { started } = state;
  return [
    leaf('step', `${n} ${event.type}`),
    leaf('next', whoIsNext[state.phase.type]),
    leaf('turn', `${state.turn} of at most ${started.turnCap}`),
    leaf('task', started.task.id),
    leaf('agent', started.seats.agent),
    leaf('user', started.seats.user),
    ...(started.seats.judge === undefined ? [] : [leaf('judge', started.seats.judge)]),
    leaf('seed', started.seed),
    leaf('trial', String(started.trial)),
    leaf('basis', basisText(started.basis)),
    leaf('now', started.now),
    leaf('tool errors', `${state.toolErrors} of at most ${started.toolErrorCap}`),
    ...(started.parent
      ? [leaf('fork of', `${started.parent.recording}, step ${started.parent.event}: ${started.parent.edit}`)]
      : []),
    ...(started.imported ? [leaf('imported', importedFrom(started.imported))] : []),
    ...(state.ended ? [leaf('ended', endReasonText(state.ended.reason))] : []),
    ...state.verdicts.map((verdict) =>
      leaf(verdict.verifier, isDemanding(verdict) ? `${verdictWord(verdict)}: ${verdict.detail}` : 'requires nothing'),
    ),
    ...(state.reward ? [leaf('reward', `${state.reward.value ?? 'none'}: ${state.reward.reason}`)] : []),
  ];
}

function importedFrom(imported: NonNullable<RolloutStarted['imported']>): string {
  const { from, file, line } = imported;
  return `from ${file}, line ${line} (${from}), ${maskingText(imported)}; its database is unknown`;
}

function scope(name: string, children: () => readonly Variable[]): Scope {
  return { name, value: '', children };
}
