import { type Task, taskHash } from '../../core/domain/task.ts';
import { taskIn } from '../../core/domain/taskVariant.ts';
import { endReasonText } from '../../core/events/displayText.ts';
import {
  type EndReason,
  type EventOf,
  endReasons,
  type RolloutEvent,
  type RolloutStarted,
} from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { withPresentEvidence, withUnevaluatedRules } from '../../core/reward/earlierReward.ts';
import { isUnscorable } from '../../core/reward/reward.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import { advance, begin, type Setting } from '../../core/rollout/rollout.ts';
import { noJudge } from '../../core/rules/judge.ts';
import { type Json, showPath } from '../../core/values/json.ts';
import { patchesBetween } from '../../core/world/difference.ts';
import { nodeOf } from '../../core/world/node.ts';
import { messageOf } from '../files/fault.ts';
import { settingOf } from '../replay.ts';
import { decidedEvent } from '../rollout/effectEvents.ts';
import { openSource } from '../rollout/verification.ts';
import type { Supervisor } from '../supervisor.ts';
import { isSameStart, nobody } from './regrade.ts';

export type Difference = { readonly event: number; readonly message: string };

/** The events that the verification at the end of a rollout records. */
const concluding: readonly RolloutEvent['type'][] = ['sourceRead', 'verdictReached', 'rewarded'];

/**
 * Recomputes everything in a recording that follows from the events before it: what the rules say, which call is made,
 * why the rollout ends, every verdict and the reward. Returns the first recorded value that differs, or null. Recorded
 * words, results of tools and answers of a judge are taken as they are. The domain's code runs in its worker for the gold
 * actions and for its own verifiers.
 */
export async function firstDifference(
  supervisor: Supervisor,
  events: readonly RolloutEvent[],
): Promise<Difference | null> {
  const [first] = events;
  if (first?.type !== 'rolloutStarted') return null;
  if (first.imported) return importedDifference(events);
  const { domain } = supervisor;
  const setting = { ...settingOf(supervisor.loaded), domain };
  const task = taskIn(domain, first.task.id);
  if (!task) {
    const message = `the domain no longer has the task ${first.task.id}, so the verdicts cannot be recomputed. Restore it`;
    return { event: 0, message };
  }
  const found = differenceOfPlay(setting, task, events) ?? (await differenceAtEnd(supervisor, setting, task, events));
  if (!found || isSameDomain(setting, task, first)) return found;
  return { ...found, message: `${found.message}. The domain or the task has changed since it was recorded` };
}

function isSameDomain({ domain }: Setting, task: Task, started: RolloutStarted): boolean {
  return domain.hash === started.domain.hash && taskHash(task) === started.task.hash;
}

/** A real conversation is neither checked nor scored. */
function importedDifference(events: readonly RolloutEvent[]): Difference | null {
  const scored = events.findIndex(
    ({ type }) => type === 'rulesChecked' || type === 'judged' || type === 'verdictReached',
  );
  if (scored >= 0)
    return {
      event: scored,
      message: `${events[scored]?.type} is recorded in an imported conversation, which has none`,
    };
  const rewarded = events.findIndex((event) => event.type === 'rewarded' && event.reward !== null);
  if (rewarded < 0) return null;
  return { event: rewarded, message: 'an imported conversation has no reward, but a number is recorded' };
}

/** The first difference up to the verdicts at the end. */
function differenceOfPlay(setting: Setting, task: Task, events: readonly RolloutEvent[]): Difference | null {
  let [state, effects] = begin(setting, events[0] as RolloutStarted);
  for (const [n, event] of events.entries()) {
    if (n === 0) continue;
    if (isConcluding(state, event)) return null;
    const message = playProblem(setting, task, effects[0], event);
    if (message !== null) return { event: n, message };
    try {
      [state, effects] = advance(setting, state, event);
    } catch (error) {
      return { event: n, message: `${event.type} can't follow here: ${messageOf(error)}` };
    }
  }
  return null;
}

function isConcluding(state: RolloutState, { type }: RolloutEvent): boolean {
  return state.ended !== null && concluding.includes(type);
}

/** Why an event is not the one that the events before it lead to; null where it is, or where it is an input. */
function playProblem(setting: Setting, task: Task, effect: Effect | undefined, event: RolloutEvent): string | null {
  // A person may edit the world, and a rollout may be cut off, at any step.
  if (event.type === 'worldEdited' || (event.type === 'rolloutEnded' && isUnscorable(event))) return null;
  if (event.type === 'worldPrepared' && !isSameStart(setting, task, event.writes))
    return 'the recorded start is not the one that the task has';
  switch (effect?.type) {
    case 'noteRules':
    case 'callTool':
    case 'stop':
      return differing(event, decidedEvent(effect));
    case 'askJudge': {
      const { subject, question } = effect.question;
      return event.type === 'judged'
        ? differing(
            { ...event, holds: null, reason: '' },
            { type: 'judged', subject, question, holds: null, reason: '' },
          )
        : `${event.type} is recorded where a question to the judge is expected: ${question}`;
    }
    default:
      return event.type === 'rulesChecked' || event.type === 'judged'
        ? `${event.type} is recorded where no rule check is expected`
        : null;
  }
}

/** The first difference in the verdicts and the reward. A rollout that is cut short has none. */
async function differenceAtEnd(
  supervisor: Supervisor,
  setting: Setting,
  task: Task,
  events: readonly RolloutEvent[],
): Promise<Difference | null> {
  if (!events.some(({ type }) => concluding.includes(type))) return null;
  const ended = events.findIndex(({ type }) => type === 'rolloutEnded');
  const from = events.findIndex(({ type }, n) => n > ended && concluding.includes(type));
  if (ended < 0) return { event: from, message: `${events[from]?.type} is recorded in a rollout without an end` };
  const sources = Object.fromEntries(
    events.flatMap((event) => (event.type === 'sourceRead' ? [[event.source, event.state as Json]] : [])),
  );
  if (isOpen(setting, task, events.slice(0, from), sources)) return unscoredDifference(events, from);
  const { closed } = supervisor.start({
    task,
    from: events.slice(0, from),
    seats: { agent: 'gold', user: 'agenda' },
    externalSeats: { agent: nobody, user: nobody, simulate: nobody },
    recording: null,
    recordedSources: sources,
  });
  const recomputed = (await closed).events;
  for (let n = from; n < Math.max(events.length, recomputed.length); n += 1) {
    const message = differing(events[n], recomputed[n]);
    if (message !== null) return events.length === n && isCutShort(events) ? null : { event: n, message };
  }
  return null;
}

function isCutShort(events: readonly RolloutEvent[]): boolean {
  return events.at(-1)?.type !== 'rewarded';
}

/** Whether an answer of the judge, or the state of a source, is missing: then nothing can be verified. */
function isOpen(
  setting: Setting,
  task: Task,
  played: readonly RolloutEvent[],
  sources: Readonly<Record<string, Json>>,
): boolean {
  let [state, effects] = begin(setting, played[0] as RolloutStarted);
  for (const event of played.slice(1)) [state, effects] = advance(setting, state, event);
  if (effects[0]?.type === 'askJudge') return true;
  return openSource(task, { ...state, sources }) !== null;
}

/** A rollout that could not be verified has no verdict and no reward. */
function unscoredDifference(events: readonly RolloutEvent[], from: number): Difference | null {
  const scored = events.findIndex(
    (event, n) =>
      n >= from && (event.type === 'verdictReached' || (event.type === 'rewarded' && event.reward !== null)),
  );
  const event = events[scored];
  if (!event) return null;
  const value = event.type === 'rewarded' ? `the reward ${event.reward}` : `a verdict of ${verifierOf(event)}`;
  return { event: scored, message: `${value} is recorded, although an answer that decides it is missing` };
}

function verifierOf(event: RolloutEvent): string {
  return event.type === 'verdictReached' ? (event as EventOf<'verdictReached'>).verdict.verifier : event.type;
}

/** Returns where a recorded event and the recomputed one part, with both values; null where they are equal. */
function differing(recorded: RolloutEvent | undefined, recomputed: RolloutEvent | undefined): string | null {
  if (!recorded || !recomputed || recorded.type !== recomputed.type)
    return `${recorded?.type ?? 'no event'} is recorded, recomputed is ${recomputed?.type ?? 'no event'}`;
  const plain = (text: string) => nodeOf(JSON.parse(text));
  const now = plain(inPresentWords(JSON.stringify(recomputed)));
  const [patch] = patchesBetween(plain(inPresentWords(JSON.stringify(asPresent(recorded, recomputed)))), now);
  if (!patch) return null;
  const [before, after] = [shown(patch.old), shown(patch.value)];
  const what = recorded.type === 'verdictReached' ? ` of ${verifierOf(recorded)}` : '';
  return `${recorded.type}${what}: ${showPath(patch.path)} is recorded as ${before}, recomputed as ${after}`;
}

/** Returns a recorded event with what earlier versions recorded otherwise as this version records it. */
const asPresent = (recorded: RolloutEvent, recomputed: RolloutEvent): RolloutEvent =>
  withPresentEvidence(withUnevaluated(recorded, recomputed), recomputed);

/** Returns a recorded reward with the items that earlier versions left out of its card. */
function withUnevaluated(recorded: RolloutEvent, recomputed: RolloutEvent): RolloutEvent {
  if (recorded.type !== 'rewarded' || recomputed.type !== 'rewarded' || !recorded.card || !recomputed.card)
    return recorded;
  return { ...recorded, card: withUnevaluatedRules(recorded.card, recomputed.card) };
}

/** Texts of recorded events as earlier versions wrote them, with the texts of today. */
const earlierTexts: readonly (readonly [RegExp, string])[] = [
  [/only a judge can tell, and this rollout has none/g, noJudge],
  [/, and no gated rule was violated| without a violation of a gated rule/g, ', and every gated rule was followed'],
  [
    /the call [\w.-]+\((?:(?! although this ).)* was made although this/g,
    'the conversation was handed over although this',
  ],
  [/the agent could not go on/g, 'the agent could not continue'],
  [/everything that had to be said was said/g, 'the agent said every required text'],
  [/nothing of it was said or done|the agent said and did none of it/g, 'no message or call broke the rule'],
  [/ failed and the agent went on another way/g, ' failed and the agent found another way'],
  [
    /nothing was changed but what the task wants, and no gate broken/g,
    'the only changes are those of the task, and every gate held',
  ],
  [
    /no rule of the safety layer and no judge says what was given away/g,
    'neither a rule of the safety layer nor a judge checks what was disclosed',
  ],
  [/ was called where it may be: /g, ' was called, and this holds: '],
  [/ was handed over where it may be/g, ' was handed over, as the rule allows'],
  [/as it stands in the call/g, 'with the value in the call'],
  // Earlier versions did not write the value.
  [/(with the value in the call): (?:[^"\\]|\\.)*/g, '$1'],
  // Earlier versions wrote a path with arrows, or with dots alone.
  [/ › /g, '.'],
  [/(?<=[\w$\]])\[(\d+)\]/g, '.$1'],
  [/(?<=[\w$\]])\[\\"((?:[^"\\]|\\(?!"))*)\\"\]/g, '.$1'],
  [/what has to be named can't be told: /g, 'it is unknown what has to be named: '],
  [/whether it had to be said can't be told: /g, 'it is unknown whether this had to be said: '],
  [/whether ([\w, ]+) can't be told: /g, 'it is unknown whether $1: '],
];

/** Returns a recorded event with the texts that earlier versions wrote otherwise as they are written now. */
function inPresentWords(event: string): string {
  return earlierTexts
    .reduce((text, [earlier, now]) => text.replaceAll(earlier, now), event)
    .replaceAll(/the rollout ended by (\w+)/g, (text, reason) => (isEndReason(reason) ? endReasonText(reason) : text));
}

const isEndReason = (word: string): word is EndReason => endReasons.some((reason) => reason === word);

function shown(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
