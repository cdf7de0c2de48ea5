import { type ChangedRows, changedRows } from '../events/changedRows.ts';
import { endedByPerson, endReasonText, isEndedByPerson } from '../events/displayText.ts';
import type { Failure, RolloutEvent, Verdict } from '../events/event.ts';
import { counted } from '../text/counted.ts';
import { excerpt } from '../text/excerpt.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import { type Measure, measureOf } from './measure.ts';

/** A step to look at first to see why a rollout came out as it did, and the rule that it is about. */
export type Pointer = { readonly step: number; readonly label: string; readonly rule?: string };

/** The outcome of a finished rollout, for code that shows rollouts as tests. */
export type Outcome = {
  readonly task: string;
  readonly trial: number;
  /** Only the agent fails: what the simulator, the environment or infrastructure did is an error, not a failure. */
  readonly result: 'passed' | 'failed' | 'errored';
  readonly reward: number | null;
  readonly failedBy: Failure['who'] | null;
  /** Why, in sentences for people; the first line says it all. */
  readonly message: string;
  /** Why the reward says nothing, where a gold action failed. */
  readonly warning: string | null;
  /** Rows of the final database that are not as expected; null where all are, or no one compared them. */
  readonly rows: ChangedRows | null;
  /** The most telling first. */
  readonly pointers: readonly Pointer[];
  readonly coverage: Coverage;
  /** Seconds that seats and tools took; 0 where no sidecar says. */
  readonly seconds: number;
};

/**
 * Returns how a recorded rollout came out. Pure; throws on an empty list.
 * @param seconds that seats and tools took
 */
export function outcomeOf(events: readonly RolloutEvent[], seconds = 0): Outcome {
  const measure = measureOf(events, []);
  const { task, trial, reward, failedBy } = measure;
  const verdicts = events.flatMap((event) => (event.type === 'verdictReached' ? [event.verdict] : []));
  const deviations = verdicts.flatMap((verdict) => verdict.deviations ?? []);
  const isUnscored = reward === null && failedBy === null;
  const isAgents = !isUnscored && (failedBy === null || failedBy === 'agent');
  const result = reward === 1 ? 'passed' : isAgents ? 'failed' : 'errored';
  return {
    task,
    trial,
    result,
    reward,
    failedBy,
    message: messageOf(measure, verdicts, events),
    warning: measure.warning,
    rows: result === 'passed' || deviations.length === 0 ? null : changedRows(deviations),
    pointers: result === 'passed' ? [] : pointersOf(events, measure, verdicts),
    coverage: coverageOf(events),
    seconds,
  };
}

/** Returns the outcome of a rollout that did not reach a recorded end. */
export function crashOutcome(task: string, trial: number, message: string): Outcome {
  return {
    task,
    trial,
    result: 'errored',
    reward: null,
    failedBy: 'infrastructure',
    message,
    warning: null,
    rows: null,
    pointers: [],
    coverage: coverageOf([]),
    seconds: 0,
  };
}

function messageOf(measure: Measure, verdicts: readonly Verdict[], events: readonly RolloutEvent[]): string {
  const { reward, reason, failedBy, turns, endReason } = measure;
  if (reward === 1) return reason;
  const user = events[0]?.type === 'rolloutStarted' ? events[0].seats.user : '';
  const lost = reward === null ? 'Not scored' : `Reward ${reward}`;
  const whose = isEndedByPerson({ user, ...measure })
    ? `, ${endedByPerson}`
    : failedBy === null
      ? ''
      : `, the ${failedBy} failed`;
  const because = reason.replace(/^not scored: /, '');
  const more = verdicts
    .filter(
      ({ held, diagnostic, verifier, detail }) => !held && !diagnostic && !reason.includes(`${verifier}: ${detail}`),
    )
    .map(({ verifier, detail, unknown }) => `${verifier} ${unknown ? 'is unknown' : 'does not hold'}: ${detail}`);
  const broken = violationsIn(events)
    .filter(({ rule, step }) => !reason.includes(`rule ${rule} was violated at step ${step}`))
    .map(
      ({ rule, step, reason: why, gate }) =>
        `rule ${rule} violated at step ${step}${gate ? ' (makes the reward 0)' : ''}: ${why}`,
    );
  return [
    `${lost}${whose}: ${because}`,
    ...more,
    ...broken,
    `The rollout ended after ${counted(turns, 'turn')}: ${endReasonText(endReason)}.`,
  ].join('\n');
}

type Violation = { readonly rule: string; readonly step: number; readonly reason: string; readonly gate: boolean };

function violationsIn(events: readonly RolloutEvent[]): readonly Violation[] {
  return events.flatMap((event, step) =>
    event.type === 'rulesChecked'
      ? event.verdicts.flatMap(({ rule, verdict, reason, gate }) =>
          verdict === 'violated' ? [{ rule, step, reason, gate }] : [],
        )
      : [],
  );
}

/** Gated violations, the writes behind what is wrong in the database, failed calls, other violations, the end. */
function pointersOf(
  events: readonly RolloutEvent[],
  { endReason }: Measure,
  verdicts: readonly Verdict[],
): readonly Pointer[] {
  const turnAt = (step: number) => events.slice(0, step + 1).filter(({ type }) => type === 'agentReplied').length;
  const at = (step: number, text: string) => `turn ${turnAt(step)}, step ${step}: ${text}`;
  const violations = violationsIn(events).map(({ rule, step, gate }) => ({
    gate,
    pointer: { step, label: at(step, `${subjectOf(events, step)} violated ${rule}`), rule },
  }));
  const writes = wrongWrites(events, verdicts).map(({ step, place }) => ({
    step,
    label: at(step, `${subjectOf(events, step)} wrote ${place}`),
  }));
  const end = events.findLastIndex(({ type }) => type === 'rolloutEnded');
  return [
    ...violations.filter(({ gate }) => gate).map(({ pointer }) => pointer),
    ...writes,
    ...failedCalls(events).map(({ step, content }) => ({
      step,
      label: at(step, `${subjectOf(events, step)} failed: ${content}`),
    })),
    ...violations.filter(({ gate }) => !gate).map(({ pointer }) => pointer),
    ...(end < 0 ? [] : [{ step: end, label: at(end, endReasonText(endReason)) }]),
  ];
}

/** Calls of the agent that came back as an error. */
function failedCalls(events: readonly RolloutEvent[]): readonly { readonly step: number; readonly content: string }[] {
  return events.flatMap((event, step) =>
    event.type === 'toolReturned' && event.isError && !event.by ? [{ step, content: excerpt(event.content) }] : [],
  );
}

/** Returns what a step is about: the call that it belongs to, else who spoke. */
function subjectOf(events: readonly RolloutEvent[], step: number): string {
  const event = events[step];
  const id = event && 'callId' in event ? event.callId : null;
  if (id === null || id === undefined) return event?.type === 'worldSynced' ? 'sync' : 'what the agent said';
  const called = events.findLast((each) => each.type === 'toolCalled' && each.call.id === id);
  const asked = events.slice(0, step).findLast((each) => each.type === 'agentReplied');
  const call = called?.type === 'toolCalled' ? called.call : asked?.toolCalls.find((each) => each.id === id);
  return call?.name ?? 'a call';
}

/** The last write to each place that is not as expected. */
function wrongWrites(
  events: readonly RolloutEvent[],
  verdicts: readonly Verdict[],
): readonly { readonly step: number; readonly place: string }[] {
  const found = new Map<number, string>();
  for (const { side, path } of verdicts.flatMap(({ deviations = [] }) => deviations)) {
    const place = path.join('.');
    const step = events.findLastIndex(
      (event) =>
        (event.type === 'databaseWritten' || event.type === 'worldSynced') &&
        event.writes.some(
          (write) => write.side === side && write.patches.some((patch) => overlaps(patch.path.join('.'), place)),
        ),
    );
    if (step >= 0 && !found.has(step)) found.set(step, place);
  }
  return [...found].map(([step, place]) => ({ step, place })).sort((one, other) => one.step - other.step);
}

const overlaps = (one: string, other: string) =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
