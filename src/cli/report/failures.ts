import { taskHash } from '../../engine/core/domain/task.ts';
import { taskIn } from '../../engine/core/domain/taskVariant.ts';
import { outcomeOf } from '../../engine/core/evaluation/outcome.ts';
import type { ChangedRows } from '../../engine/core/events/changedRows.ts';
import type { Failure, RolloutEvent, Verdict } from '../../engine/core/events/event.ts';
import { lapseText } from '../../engine/core/events/reportCard.ts';
import { capitalized } from '../../engine/core/text/capitalized.ts';
import { counted, firstNames } from '../../engine/core/text/counted.ts';
import { reasonInWords, sentenceOf } from '../../engine/shell/domain/reasonInWords.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { eventsOf, type FinishedRollout } from '../../engine/shell/records/runRecord.ts';
import { readingOrder, type TranscriptLine, transcriptOf } from '../terminal/transcript.ts';

/** A task that failed in some trial, for a reader who has seen neither the task nor the conversation. */
export type FailedTask = {
  readonly task: string;
  /** The task's description and the user's goal; null if the domain is absent or the task has changed since. */
  readonly about: { readonly description: string | null; readonly goal: string } | null;
  readonly failed: number;
  readonly trials: number;
  /** The failed trial that is shown. */
  readonly trial: number;
  readonly reasons: readonly string[];
  readonly rows: ChangedRows | null;
  /** The place to look first: the step and what happened there. */
  readonly pointer: { readonly step: number; readonly label: string } | null;
  readonly conversation: readonly SpokenStep[];
};

/** One step of a conversation with the lines that a person reads of it. */
export type SpokenStep = {
  readonly step: number;
  readonly isFailing: boolean;
  readonly lines: readonly TranscriptLine[];
};

/** Returns the tasks that have a trial with a reward below 1, and these trials, in the order of the run. */
export function scoredFailuresOf(
  rollouts: readonly FinishedRollout[],
): ReadonlyMap<string, readonly FinishedRollout[]> {
  return failedTasksOf(rollouts.filter(({ reward }) => reward !== null));
}

/** Returns a sentence for each reason why trials have no reward, with how many and of which tasks. */
export function unscoredReasons(rollouts: readonly FinishedRollout[]): readonly string[] {
  const unscored = rollouts.filter(({ reward }) => reward === null);
  const reasons = Map.groupBy(unscored, ({ failure, reason }) => failure?.message ?? reason);
  return [...reasons].map(([reason, trials]) => {
    const tasks = [...new Set(trials.map(({ task }) => task))];
    return sentence(`${counted(trials.length, 'trial')} of ${firstNames(tasks)}: ${reason}`);
  });
}

/** Returns the tasks that have a trial without the reward 1, in the order of the run. */
export function failedTasksOf(rollouts: readonly FinishedRollout[]): ReadonlyMap<string, readonly FinishedRollout[]> {
  const failed = rollouts.filter(({ reward }) => reward !== 1);
  return Map.groupBy(failed, ({ task }) => task);
}

/**
 * Reads the recording of the first failed trial of a task.
 * @param domain that the run names, as its files are now; null where it is not there
 */
export function failedTask(
  failed: readonly FinishedRollout[],
  trials: number,
  domain: LoadedDomain | null,
): FailedTask {
  const [shown] = failed;
  if (!shown) throw new Error('a failed task has a failed rollout');
  const recorded = eventsOf(shown.recording);
  const { rows, pointers } = outcomeOf(recorded);
  const [pointer = null] = pointers;
  const task = domain && taskIn(domain.domain, shown.task);
  const [started] = recorded;
  const isSamePolicy = started?.type === 'rolloutStarted' && started.policyHash === domain?.domain.policy.hash;
  const ruled = isSamePolicy ? domain : null;
  const events = recorded.map((event) => inWords(event, ruled));
  const isSame = task !== null && task !== undefined && taskHash(task) === shown.taskHash;
  return {
    task: shown.task,
    about: isSame ? { description: task.description ?? null, goal: task.user.goal } : null,
    failed: failed.length,
    trials,
    trial: shown.trial,
    reasons: reasonsOf(events, shown, ruled),
    rows,
    pointer: pointer && {
      step: pointer.step,
      label:
        events[pointer.step]?.type === 'rolloutEnded' ? `step ${pointer.step}: the conversation ends` : pointer.label,
    },
    conversation: conversationOf(events, shown, pointer?.step ?? null),
  };
}

/** The same event, whose verdicts on rules have their reasons in words. */
function inWords(event: RolloutEvent, domain: LoadedDomain | null): RolloutEvent {
  if (domain === null || event.type !== 'rulesChecked') return event;
  const verdicts = event.verdicts.map((each) => ({
    ...each,
    reason: reasonInWords(domain, each.rule, each.reason).text,
  }));
  return { ...event, verdicts };
}

/**
 * Returns why a rollout does not have the reward 1, in sentences, the deciding one first.
 * @param domain whose policy the rollout had; null where it is not known
 */
function reasonsOf(
  events: readonly RolloutEvent[],
  { endReason, failure, failedBy, turns, reason, lapses }: FinishedRollout,
  domain: LoadedDomain | null,
): readonly string[] {
  const verdicts = events.flatMap((event) => (event.type === 'verdictReached' ? [event.verdict] : []));
  const reasons = [
    ...(failedBy === null || failedBy === 'agent' ? [] : [notTheAgent(failedBy, failure)]),
    ...endText(endReason, turns, failedBy === 'agent' ? failure : null),
    ...rulesOf(events, domain),
    ...verdicts.flatMap((verdict) => (verdict.held || verdict.diagnostic ? [] : verdictText(verdict))),
  ];
  return [
    ...(reasons.length > 0 ? reasons : [sentence(reason)]),
    ...lapses.map((lapse) => sentence(capitalized(lapseText(lapse)))),
  ];
}

function notTheAgent(who: Exclude<Failure['who'], 'agent'>, failure: Failure | null): string {
  const names = { simulator: 'simulated user', environment: 'environment', infrastructure: 'infrastructure' };
  const what = failure === null ? '' : `: ${failure.message}`;
  return sentence(`The ${names[who]} failed, so this trial says nothing about the agent${what}`);
}

function endText(reason: string, turns: number, failure: Failure | null): readonly string[] {
  switch (reason) {
    case 'turnCap':
      return [`The conversation was stopped after ${turns} responses of the agent, which is the maximum.`];
    case 'toolErrorCap':
      return ['The conversation was stopped because too many calls failed.'];
    case 'agentFailed':
      return [sentence(`The agent could not continue${failure === null ? '' : `: ${failure.message}`}`)];
    case 'cancelled':
      return ['The run was cancelled before the conversation ended.'];
    default:
      return [];
  }
}

/** Returns a sentence for each violated rule, with its steps, those that decide the reward first. */
function rulesOf(events: readonly RolloutEvent[], domain: LoadedDomain | null): readonly string[] {
  const violated = events.flatMap((event, step) =>
    event.type === 'rulesChecked'
      ? event.verdicts.flatMap((each) => (each.verdict === 'violated' ? [{ ...each, step }] : []))
      : [],
  );
  const byRule = Map.groupBy(violated, ({ rule, gate }) => `${gate ? 0 : 1} ${rule}`);
  return [...byRule.values()]
    .toSorted(([one], [other]) => Number(other?.gate) - Number(one?.gate))
    .map((found) => {
      const [{ rule, gate } = { rule: '', gate: false }] = found;
      const stated = domain && sentenceOf(domain, rule);
      const named = stated === null ? `the rule ${rule}` : `the rule "${stated}"`;
      const where = found.map(({ step, reason }) => `at step ${step}, ${reason}`).join('; ');
      return sentence(`The agent broke ${named}${gate ? '' : ' (this does not change the reward)'}: ${where}`);
    });
}

function verdictText({ verifier, detail, unknown, deviations }: Verdict): string {
  if (unknown) return sentence(`It could not be decided whether ${verifier} holds: ${detail}`);
  switch (verifier) {
    case 'database':
      return deviations === undefined
        ? sentence(`The data at the end is not what it should be: ${detail}`)
        : 'The data at the end is not what it should be. The differences are below.';
    case 'communicate':
      return sentence(`The agent did not tell the user everything: ${detail}`);
    case 'assertions':
      return sentence(`A condition for the end is not met: ${detail}`);
    case 'actions':
      return sentence(`A call that the task requires was not made: ${detail}`);
    default:
      return sentence(`The check ${verifier} failed: ${detail}`);
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Returns what was said and done. The failing step is the last one with a line that is not after the step to look at.
 */
function conversationOf(
  events: readonly RolloutEvent[],
  rollout: FinishedRollout,
  failing: number | null,
): readonly SpokenStep[] {
  const inOrder = readingOrder();
  const steps = events.flatMap((event, step) => {
    const lines = inOrder(event).flatMap((each) => linesOf(each, rollout));
    return lines.length > 0 ? [{ step, lines }] : [];
  });
  const marked = failing === null ? undefined : steps.findLast(({ step }) => step <= failing);
  return steps.map((each) => ({ ...each, isFailing: each === marked }));
}

/** The lines of a transcript without what the reasons say already. */
function linesOf(event: RolloutEvent, { turns, failure }: FinishedRollout): readonly TranscriptLine[] {
  switch (event.type) {
    case 'rolloutStarted':
      return event.greeting === undefined ? [] : [{ speaker: 'agent', text: event.greeting }];
    case 'rolloutEnded': {
      const [text = 'The conversation ended.'] = endText(event.reason, turns, failure);
      return [{ speaker: 'note', text }];
    }
    case 'verdictReached':
    case 'rewarded':
    case 'sourceRead':
      return [];
    default:
      return transcriptOf(event).filter(({ speaker }) => speaker !== 'rule');
  }
}
