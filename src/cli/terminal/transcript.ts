import { rulesThat } from '../../engine/core/domain/decisiveVerdict.ts';
import { basisText, brokenEndText, endReasonText, unscoredText } from '../../engine/core/events/displayText.ts';
import {
  type EventOf,
  type Failure,
  isDemanding,
  type RolloutEvent,
  verdictText,
} from '../../engine/core/events/event.ts';
import { callText, type ToolCall } from '../../engine/core/events/message.ts';
import { lapsesOf, lapseText } from '../../engine/core/events/reportCard.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import { impossible } from '../../engine/core/values/impossible.ts';
import { readableText, showPath } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { eventInWords } from '../../engine/shell/domain/reasonInWords.ts';
import { beforeLastOutput } from '../../engine/shell/processes/lastOutput.ts';
import { type GuardNote, type GuardReader, guardReader } from '../../engine/shell/records/stepNotes.ts';

/** The subject of a line of the transcript; terminals and the Debug Console colour by it. */
export type Speaker =
  | 'user'
  | 'refused'
  | 'agent'
  | 'call'
  | 'result'
  | 'error'
  | 'rule'
  | 'violation'
  | 'database'
  | 'note'
  | 'reward';

export type TranscriptLine = {
  readonly speaker: Speaker;
  readonly text: string;
  /** The rule that the line is about, the first of several. */
  readonly rule?: string;
};

const colours: Readonly<Record<Speaker, number>> = {
  user: 36,
  refused: 31,
  agent: 32,
  call: 33,
  result: 90,
  error: 31,
  rule: 90,
  violation: 31,
  database: 35,
  note: 90,
  reward: 1,
};

/** One line of a transcript, with or without the colours of a terminal. */
export function lineText({ speaker, text }: TranscriptLine, colour: boolean): string {
  const label = (speaker === 'note' ? '' : speaker === 'violation' ? 'VIOLATED' : speaker).padEnd(10);
  const plain = terminalText(text);
  return colour ? `\u001b[${colours[speaker]}m${label}\u001b[0m${plain}` : `${label}${plain}`;
}

function saidBy({ content, toolCalls }: EventOf<'agentReplied'>): readonly TranscriptLine[] {
  if (!content) return [];
  return [toolCalls.length === 0 ? line('agent', content) : line('note', `the agent thinks aloud: ${content}`)];
}

/** Returns how an answer ended, where it is not whole. */
function endOf({ type, brokenEnd }: EventOf<'agentReplied' | 'userReplied'>): readonly TranscriptLine[] {
  const seat = type === 'agentReplied' ? 'agent' : 'user';
  return brokenEnd === undefined ? [] : [line('note', `this answer of the ${seat} was ${brokenEndText[brokenEnd]}`)];
}

/** Returns what a person reads of one event. The one renderer of rollouts: terminal, Debug Console and golden files. */
export function transcriptOf(event: RolloutEvent): readonly TranscriptLine[] {
  switch (event.type) {
    case 'rolloutStarted':
      return [
        line(
          'note',
          `${event.domain.name} / ${event.task.id}, trial ${event.trial}, seed ${event.seed}: agent ${event.seats.agent}, user ${event.seats.user}`,
        ),
        ...(event.parent
          ? [line('note', `fork of ${event.parent.recording} at step ${event.parent.event}: ${event.parent.edit}`)]
          : []),
      ];
    case 'worldPrepared':
      return event.writes.length > 0 ? [line('database', `the task starts with ${changes(event.writes)}`)] : [];
    case 'worldSynced':
      return event.writes.length > 0 ? [line('database', `synced: ${changes(event.writes)}`)] : [];
    case 'userReplied':
      if (event.toolCalls) return event.content ? [line('note', `the user thinks: ${event.content}`)] : [];
      return [
        line('user', event.content),
        ...endOf(event),
        ...(event.stop ? [line('note', `the user ends the conversation (${event.stop})`)] : []),
      ];
    case 'agentReplied':
      return [...saidBy(event), ...endOf(event)];
    case 'rulesChecked':
      return rulesOf(event.verdicts);
    case 'toolCalled':
      return [line('call', `${whose(event)}${callText(event.call as ToolCall)}`)];
    case 'faultInjected':
      return [line('note', `seeded fault: ${event.fault.type} of ${event.fault.tool}`)];
    case 'sourceSaved':
      return [line('note', `snapshot of ${event.source}`)];
    case 'databaseWritten':
      return [line('database', changes(event.writes))];
    case 'toolReturned':
      return [line(event.isError ? 'error' : 'result', `${whose(event)}${readableText(event.content)}`)];
    case 'worldEdited':
      return [line('database', `edited: ${changes(event.writes)}`)];
    case 'rolloutEnded':
      return [line('note', `ended: ${endText(event)}`)];
    case 'sourceRead':
      return [line('note', `read the state of ${event.source}`)];
    case 'judged': {
      const answer = event.holds === null ? 'no answer' : event.holds ? 'yes' : 'no';
      return [line('note', `the judge on "${event.question}": ${answer}: ${event.reason}`)];
    }
    case 'verdictReached':
      return [
        line('note', `${verdictText(event.verdict)}${isDemanding(event.verdict) ? `: ${event.verdict.detail}` : ''}`),
      ];
    case 'rewarded':
      return [
        ...lapsesOf(event.card ?? []).map((lapse) => line('violation', lapseText(lapse))),
        line('reward', scoreText(event)),
      ];
    default:
      return impossible('event', event);
  }
}

/**
 * Returns a function that takes the events of a rollout in turn, and returns them in the order in which they are read: a
 * call comes before the verdicts on it, which are recorded first.
 */
export function readingOrder(): (event: RolloutEvent) => readonly RolloutEvent[] {
  let calls: EventOf<'agentReplied'>['toolCalls'] = [];
  let judged: string | undefined;
  return (event) => {
    if (event.type === 'agentReplied') [calls, judged] = [event.toolCalls, undefined];
    // A person can edit the world between the verdicts and the call.
    if (event.type === 'toolCalled' && event.call.id === judged) {
      judged = undefined;
      return [];
    }
    const call = event.type === 'rulesChecked' && calls.find(({ id }) => id === event.callId);
    if (!call) return [event];
    judged = call.id;
    return [{ type: 'toolCalled', call }, event];
  };
}

/**
 * Returns a function that takes the steps of a rollout in turn, and returns what a terminal shows of each: what the guard
 * refused on the way to it, then its event.
 * @param recording of the rollout, also while it is being written
 * @param domain whose policy puts reasons in words; null where it is not there
 */
export function transcriptReader(
  recording: string,
  domain: LoadedDomain | null,
  colour: boolean,
): (step: Parameters<GuardReader>[0]) => readonly string[] {
  const guard = guardReader(recording);
  const inOrder = readingOrder();
  return (step) => {
    const event = domain ? eventInWords(domain, step.event) : step.event;
    const lines = [...guardTranscript(guard(step) ?? {}), ...inOrder(event).flatMap(transcriptOf)];
    return lines.map((each) => lineText(each, colour));
  };
}

/**
 * Returns what a person reads of the guard's work before a step: every message that it refused, and a stop that was
 * taken back. Of a result, how it differs from its output schema.
 */
export function guardTranscript({ flaws = [], withheld, mismatch }: GuardNote): readonly TranscriptLine[] {
  return [
    ...flaws.map(({ code, message, content }) =>
      line('refused', `${code} (${message}): ${content.trim() || 'no text'}`),
    ),
    ...(withheld === undefined
      ? []
      : [line('note', `a stop (${withheld}) was taken back: the agent has yet to act on these words`)]),
    ...(mismatch === undefined ? [] : [line('note', `the result does not fit: ${mismatch}`)]),
  ];
}

function scoreText({ reward, basis, reason }: EventOf<'rewarded'>): string {
  if (reward === null) return unscoredText(reason);
  return `reward ${reward}, ${basisText(basis)}: ${reason}`;
}

/** Returns why a rollout ended. For a cancelled one, the message of its failure is enough. */
function endText({ reason, failure }: EventOf<'rolloutEnded'>): string {
  if (failure?.code === 'cancelled') return failureText(failure);
  return `${endReasonText(reason)}${failure ? `: ${failureText(failure)}` : ''}`;
}

/** The user's own calls are marked: the agent sees nothing of them. */
function whose({ by }: { readonly by?: 'user' | undefined }): string {
  return by === 'user' ? 'user: ' : '';
}

/** Returns what went wrong, and the place to look at. */
export function failureText({ message, file, line: at }: Failure): string {
  return file === undefined ? message : beforeLastOutput(message, `; see ${file}${at === undefined ? '' : `:${at}`}`);
}

/** One line for what held together, one for each violated rule: several checks may find it violated. */
function rulesOf(verdicts: Extract<RolloutEvent, { type: 'rulesChecked' }>['verdicts']): readonly TranscriptLine[] {
  const violated = Map.groupBy(
    verdicts.filter(({ verdict }) => verdict === 'violated'),
    ({ rule }) => rule,
  );
  const held = rulesThat('held', verdicts);
  const unknown = verdicts.filter(({ verdict }) => verdict === 'unknown');
  return [
    ...held.slice(0, 1).map((rule) => ({ ...line('rule', `${held.join(', ')} held`), rule })),
    ...unknown.map(({ rule, gate, reason }) => ({
      ...line('rule', `${rule} unknown${gate ? '' : ' (does not change the reward)'}: ${reason}`),
      rule,
    })),
    ...[...violated].map(([rule, own]) => {
      const gated = own.some(({ gate }) => gate) ? ' (makes the reward 0)' : '';
      return { ...line('violation', `${rule}${gated}: ${own.map(({ reason }) => reason).join('; ')}`), rule };
    }),
  ];
}

function changes(writes: Extract<RolloutEvent, { type: 'databaseWritten' }>['writes']): string {
  return writes
    .flatMap(({ side, patches }) => patches.map((patch) => ({ ...patch, side })))
    .map(({ side, op, path, value, old }) => {
      const where = `${side === 'user' ? 'user: ' : ''}${showPath(path)}`;
      if (op === 'remove') return `${where} removed`;
      return old === undefined ? `${where} = ${short(value)}` : `${where}: ${short(old)} -> ${short(value)}`;
    })
    .join('; ');
}

const short = (value: unknown): string => excerpt(JSON.stringify(value) ?? 'nothing', 80);

function line(speaker: Speaker, text: string): TranscriptLine {
  return { speaker, text };
}
