import type { EventOf, RolloutEvent, RolloutStarted } from '../../engine/core/events/event.ts';
import type { ToolCall } from '../../engine/core/events/message.ts';
import type { Numbered } from '../messages/protocol.ts';

/**
 * An entry of the view: one step, or several that belong together. A seat's message is with the rules it was checked
 * against; a call is with its rules, its writes and its result.
 */
export type Entry = {
  /** Number of its first step; no two entries share it. */
  readonly n: number;
  readonly speaker: Speaker;
  /** Responses of the agent so far: 0 before the first one. */
  readonly turn: number;
  readonly steps: readonly Numbered[];
};

export const speakers = ['agent', 'user', 'tool', 'engine'] as const;
export type Speaker = (typeof speakers)[number];

/** A recording as far as it was read, as entries. */
export type Trajectory = {
  readonly entries: readonly Entry[];
  /** Index of the entry that a step is in. */
  readonly entryOf: ReadonlyMap<number, number>;
  readonly started: RolloutStarted | null;
  readonly ended: EventOf<'rolloutEnded'> | null;
  readonly rewarded: EventOf<'rewarded'> | null;
  readonly turns: number;
  /** Index of the entry of each call that has no result yet, by the call's id. */
  readonly openCalls: ReadonlyMap<string, number>;
};

export const emptyTrajectory: Trajectory = {
  entries: [],
  entryOf: new Map(),
  started: null,
  ended: null,
  rewarded: null,
  turns: 0,
  openCalls: new Map(),
};

/** The trajectory with the events that follow it. */
export function appended(before: Trajectory, events: readonly Numbered[]): Trajectory {
  const entries = [...before.entries];
  const entryOf = new Map(before.entryOf);
  const openCalls = new Map(before.openCalls);
  let { started, ended, rewarded, turns } = before;
  for (const step of events) {
    const { event, n } = step;
    if (event.type === 'rolloutStarted') started = event;
    if (event.type === 'rolloutEnded') ended = event;
    if (event.type === 'rewarded') rewarded = event;
    if (event.type === 'agentReplied') turns += 1;
    const place = entryIndexOf(event, entries, openCalls);
    const there = entries[place];
    entries[place] = there
      ? { ...there, steps: [...there.steps, step] }
      : { n, speaker: speakerOf(event), turn: turns, steps: [step] };
    entryOf.set(n, place);
    const opens = callOpenedBy(event);
    if (opens !== null) openCalls.set(opens, place);
    if (event.type === 'toolReturned') openCalls.delete(event.callId);
  }
  return { entries, entryOf, started, ended, rewarded, turns, openCalls };
}

/** Index of the entry that an event belongs to; that after the last one for a new entry. */
function entryIndexOf(event: RolloutEvent, entries: readonly Entry[], openCalls: ReadonlyMap<string, number>): number {
  const last = entries.length - 1;
  const own = entries.length;
  switch (event.type) {
    case 'rulesChecked':
      if (event.callId !== null) return openCalls.get(event.callId) ?? own;
      return entries[last]?.speaker === 'agent' ? last : own;
    case 'toolCalled':
      return openCalls.get(event.call.id) ?? own;
    case 'faultInjected':
    case 'sourceSaved':
    case 'databaseWritten':
    case 'toolReturned':
      return openCalls.get(event.callId) ?? own;
    case 'worldSynced':
      return entries[last]?.speaker === 'tool' ? last : own;
    default:
      return own;
  }
}

/** The call that an event begins: a response without words is the beginning of its first call. */
function callOpenedBy(event: RolloutEvent): string | null {
  if (event.type === 'toolCalled') return event.call.id;
  if (event.type === 'rulesChecked') return event.callId;
  return wordlessCalls(event)[0]?.id ?? null;
}

/** Calls of a response without words; none of any other event. */
function wordlessCalls(event: RolloutEvent): readonly ToolCall[] {
  if (event.type === 'agentReplied' && !event.content && !event.reasoning) return event.toolCalls;
  if (event.type === 'userReplied' && event.content === '' && !event.reasoning && event.stop === null)
    return event.toolCalls ?? [];
  return [];
}

function speakerOf(event: RolloutEvent): Speaker {
  if (wordlessCalls(event).length > 0) return 'tool';
  if (event.type === 'agentReplied') return 'agent';
  if (event.type === 'userReplied') return 'user';
  const ofCall = ['toolCalled', 'toolReturned', 'databaseWritten', 'faultInjected', 'sourceSaved'];
  if (ofCall.includes(event.type) || (event.type === 'rulesChecked' && event.callId !== null)) return 'tool';
  return 'engine';
}

/** Returns the numbers of the steps of an entry: verdicts and the debugger name each of them. */
export function stepsText({ n, steps }: Pick<Entry, 'n' | 'steps'>): string {
  const last = steps.at(-1)?.n ?? n;
  return last === n ? `step ${n}` : `steps ${n} to ${last}`;
}

/** Returns the call of an entry; null if the entry is not a call. */
export function callOf({ steps }: Pick<Entry, 'steps'>): {
  readonly name: string;
  readonly by: 'agent' | 'user';
} | null {
  for (const { event } of steps) {
    if (event.type === 'toolCalled') return { name: event.call.name, by: event.by ?? 'agent' };
  }
  const first = steps[0]?.event;
  const [call] = first ? wordlessCalls(first) : [];
  return call && first ? { name: call.name, by: first.type === 'userReplied' ? 'user' : 'agent' } : null;
}
