import type { Side } from '../../../engine/core/domain/tool.ts';
import type { EventOf, RolloutEvent } from '../../../engine/core/events/event.ts';
import { resumable } from '../../../engine/core/rollout/rollout.ts';
import { type Json, type Path, showPath } from '../../../engine/core/values/json.ts';
import { getAt, type Patch } from '../../../engine/core/world/database.ts';
import { Fault } from '../../../engine/shell/files/fault.ts';
import { callProblem, type Turn, toolsOf } from '../../../engine/shell/models/typedTurn.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';

/** A person's edit; each makes a fork. */
export type Edit =
  /** A message says or calls something else. */
  | ({ readonly type: 'message'; readonly step: number } & Turn)
  | {
      readonly type: 'arguments';
      readonly step: number;
      readonly callId: string;
      readonly path: readonly string[];
      readonly value: Json;
    }
  | { readonly type: 'database'; readonly side: Side; readonly path: Path; readonly value: Json }
  /** A person takes the turn of the seat that is next. */
  | ({ readonly type: 'turn' } & Turn)
  /** The seat that gave the answer at a step answers again. */
  | { readonly type: 'sample'; readonly step: number }
  /**
   * No change: what follows this step is played again, by other seats or after other files. `words` describe what is
   * new.
   */
  | { readonly type: 'none'; readonly step: number; readonly words: string };

/** The start of a fork. */
export type Edited = {
  readonly events: readonly RolloutEvent[];
  /** Number of the last event that it shares with its parent. */
  readonly at: number;
  /** The edit, for the recording. */
  readonly words: string;
  /** The point from which the fork continues. */
  readonly from: string;
};

/** @throws Fault that says why an edit can't be made and what can */
export function edited(steps: readonly Step[], cursor: number, edit: Edit): Edited {
  switch (edit.type) {
    case 'message':
      return messageEdited(steps, edit);
    case 'arguments':
      return argumentsEdited(steps, edit);
    case 'database':
      return databaseEdited(steps, cursor, edit);
    case 'turn':
      return turnTaken(steps, cursor, edit);
    case 'none':
      return unedited(steps, edit);
    case 'sample':
      return resampled(steps, edit.step);
  }
}

function messageEdited(steps: readonly Step[], { step, ...turn }: Extract<Edit, { type: 'message' }>): Edited {
  const original = steps[step]?.event;
  const shared = { events: eventsUpTo(steps, step), at: step - 1, from: 'the edited message' };
  if (original?.type === 'userReplied') {
    if (turn.call && !hasUserTools(steps)) throw refused('the user makes no calls: type what the user says');
    const event: RolloutEvent = { ...saidByUser(turn, step), origin: 'edited' };
    return { ...shared, events: [...shared.events, event], words: `the user's ${messageAt(steps, step)} was edited` };
  }
  if (original?.type !== 'agentReplied') throw refused('only messages of the agent and of the user can be edited');
  const event: RolloutEvent = { ...spoken(turn, step), origin: 'edited' };
  return { ...shared, events: [...shared.events, event], words: `the agent's ${messageAt(steps, step)} was edited` };
}

function argumentsEdited(steps: readonly Step[], edit: Extract<Edit, { type: 'arguments' }>): Edited {
  const original = steps[edit.step]?.event;
  if (original?.type !== 'agentReplied' && original?.type !== 'userReplied')
    throw refused('only the calls of a message have arguments');
  const toolCalls = (original.toolCalls ?? []).map((call) =>
    call.id === edit.callId ? { ...call, arguments: argumentsWith(call.arguments, edit) } : call,
  );
  const isUser = original.type === 'userReplied';
  const event: RolloutEvent = isUser
    ? { type: 'userReplied', content: original.content, stop: null, toolCalls, origin: 'edited' }
    : { type: 'agentReplied', content: original.content, toolCalls, origin: 'edited' };
  return {
    events: [...eventsUpTo(steps, edit.step), event],
    at: edit.step - 1,
    words: `an argument of a call in the ${isUser ? 'user' : 'agent'}'s ${messageAt(steps, edit.step)} was edited`,
    from: 'the edited call',
  };
}

type Arguments = EventOf<'agentReplied'>['toolCalls'][number]['arguments'];

function argumentsWith(
  given: Arguments,
  { path, value }: Pick<Extract<Edit, { type: 'arguments' }>, 'path' | 'value'>,
): Arguments {
  const next = withValue(given, path, value);
  if (typeof next !== 'string' && (typeof next !== 'object' || next === null || Array.isArray(next)))
    throw refused('the arguments of a call are a JSON object: type one, such as {"order": "W1"}');
  return next as Arguments;
}

/**
 * A database value changes between two calls, never inside one: there the call would be made again on top of it. At a
 * step where rules are decided it changes before, so that they are decided again.
 */
function databaseEdited(
  steps: readonly Step[],
  cursor: number,
  { side, path, value }: Extract<Edit, { type: 'database' }>,
): Edited {
  let at = cursor;
  while (at > 0 && (steps[at]?.state.phase.type === 'resultAwaited' || steps[at]?.event.type === 'rulesChecked'))
    at -= 1;
  const state = steps[at]?.state;
  if (!state || state.phase.type === 'closed' || state.ended)
    throw refused('the rollout is over here: step back before its end, and edit there');
  const old = getAt(state.world[side], path);
  const patch: Patch = {
    op: old === undefined ? 'add' : 'replace',
    path,
    value,
    ...(old === undefined ? {} : { old }),
  };
  const write: RolloutEvent = { type: 'worldEdited', writes: [{ side, patches: [patch as never] }] };
  return {
    events: [...eventsUpTo(steps, at + 1), write],
    at,
    words: `${showPath(path)} was edited`,
    from: 'the edited value',
  };
}

function turnTaken(steps: readonly Step[], cursor: number, turn: Turn): Edited {
  const state = steps[cursor]?.state;
  const phase = state?.phase.type;
  const shared = { events: eventsUpTo(steps, cursor + 1), at: cursor, from: 'the typed turn' };
  if (phase === 'userAwaited') {
    if (turn.call && !hasUserTools(steps))
      throw refused('the user is next, and the user makes no calls: type /say TEXT');
    throwIfUnknown(turn, 'user', state);
    const event: RolloutEvent = { ...saidByUser(turn, cursor + 1), origin: 'typed' };
    return { ...shared, events: [...shared.events, event], words: "the user's turn was typed" };
  }
  if (phase !== 'agentAwaited')
    throw refused('no seat speaks next here: step to where the agent or the user is next (see Rollout)');
  throwIfUnknown(turn, 'agent', state);
  const event: RolloutEvent = { ...spoken(turn, cursor + 1), origin: 'typed' };
  return { ...shared, events: [...shared.events, event], words: "the agent's turn was typed" };
}

/** Throws a `Fault` for a call of a tool that the seat does not have. */
function throwIfUnknown({ call }: Turn, seat: 'agent' | 'user', state: Step['state'] | undefined): void {
  const problem = call && state ? callProblem(call.name, seat, toolsOf(seat, state)) : null;
  if (problem !== null) throw refused(problem);
}

/** Returns the fork that changes nothing itself. A call that was interrupted is made again from its start. */
function unedited(steps: readonly Step[], { step, words }: Extract<Edit, { type: 'none' }>): Edited {
  const state = steps[step]?.state;
  if (!state || state.ended)
    throw refused('the rollout is over here: step back before its end, or choose an earlier turn in the call stack');
  const events = resumable(eventsUpTo(steps, step + 1));
  const at = events.length - 1;
  return { events, at, words, from: `step ${at}` };
}

/** The fork ends before the answer: the loop asks the seat for it, with its own numbers. */
function resampled(steps: readonly Step[], step: number): Edited {
  const type = steps[step]?.event.type;
  if (type !== 'agentReplied' && type !== 'userReplied')
    throw refused('only an answer of the agent or of the user can be re-sampled');
  const seat = type === 'agentReplied' ? 'agent' : 'user';
  return {
    events: eventsUpTo(steps, step),
    at: step - 1,
    words: `the ${seat}'s ${messageAt(steps, step)} was re-sampled`,
    from: `where the ${seat} answers again`,
  };
}

/** Whether the user's seat has its own tools. */
function hasUserTools(steps: readonly Step[]): boolean {
  return (steps[0]?.state.started.userTools ?? []).length > 0;
}

/** Returns a typed call as it is in an event, where types are mutable. */
const typedCalls = (call: NonNullable<Turn['call']>, step: number) =>
  [{ id: `typed_${step}`, ...call }] as unknown as EventOf<'agentReplied'>['toolCalls'];

function saidByUser({ content, call }: Turn, step: number): EventOf<'userReplied'> {
  if (!call) return { type: 'userReplied', content, stop: null };
  return { type: 'userReplied', content: '', stop: null, toolCalls: typedCalls(call, step) };
}

function spoken({ content, call }: Turn, step: number): EventOf<'agentReplied'> {
  return { type: 'agentReplied', content, toolCalls: call ? typedCalls(call, step) : [] };
}

/** A message by the number that VARIABLES shows, which counts messages, and by its step, which everything else shows. */
function messageAt(steps: readonly Step[], step: number): string {
  const messages = steps[step]?.state.messages ?? [];
  return `message ${messages.findIndex((message) => message.step === step) + 1} (step ${step})`;
}

function eventsUpTo(steps: readonly Step[], end: number): readonly RolloutEvent[] {
  return steps.slice(0, end).map(({ event }) => event);
}

function withValue(value: unknown, path: readonly string[], to: Json): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (Array.isArray(value))
    return value.map((each, index) => (String(index) === key ? withValue(each, rest, to) : each));
  const object = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { ...object, [key]: withValue(object[key], rest, to) };
}

function refused(message: string): Fault {
  return new Fault({ who: 'environment', code: 'edit/refused', message });
}
