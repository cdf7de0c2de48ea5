import type { Offered } from '../../engine/core/domain/tool.ts';
import { isObject, type Json } from '../../engine/core/values/json.ts';
import type { Conversation, ImportProblem, SpokenMessage } from './conversation.ts';
import { clockTimesOf, timesOf } from './messageTimes.ts';
import { type ReadMessage, readMessage, type Said, type SaidCall } from './saidMessage.ts';

/** A message of a log with its line, and what it is called in a message about it. */
export type PlacedRead = ReadMessage & {
  readonly line: number;
  readonly path: string;
  /** The time of the message, for logs that list their newest rows first. */
  readonly time?: number | undefined;
};

export type Transcript = { readonly messages: readonly SpokenMessage[]; readonly lost: readonly ImportProblem[] };

type OpenCall = { readonly id: string; readonly name: string; readonly hasId: boolean };

/**
 * Returns the messages of a conversation in the order of their time, each result with the id of its call. Results without
 * an id go to the calls before them that no result names, in order, by name where they have one.
 */
export function transcriptOf(file: string, given: readonly PlacedRead[], tools?: readonly Offered[]): Transcript {
  const messages: SpokenMessage[] = [];
  const lost: ImportProblem[] = [];
  const used = new Set(given.flatMap(({ said }) => said.flatMap(idsOf)));
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  const ordered = inOrder(given);
  const named = callsNamed(ordered.flatMap(({ said }) => said));
  const reserved = new Set(named.values());
  const ids = new Map<SaidCall, string>();
  const open = new OpenCalls();
  let block = 0;
  for (const [index, { said, lost: unread, line, path }] of ordered.entries()) {
    lost.push(...unread.map((what) => ({ file, line, message: `${path}: ${what}` })));
    const at = { line, number: index + 1 };
    for (const each of said) {
      if (each.role === 'agent') {
        if (messages.at(-1)?.role !== 'agent') block += 1;
        const calls = each.calls.map((call, place) => {
          const id = idFor(call, `call_${at.number}_${place}`, { used, taken, numbers });
          ids.set(call, id);
          if (!reserved.has(call)) open.add({ id, name: call.name, hasId: call.id !== undefined }, block);
          return { ...call, id, arguments: givenArguments(call, tools) };
        });
        messages.push({ ...at, ...each, calls });
      } else if (each.role !== 'tool') messages.push({ ...at, ...each });
      else {
        const { callId = undefined, content, isError } = each;
        const own = named.get(each);
        const id = own ? ids.get(own) : open.take(each)?.id;
        if (id !== undefined) messages.push({ ...at, role: 'tool', callId: id, content, isError });
        else if (callId === undefined || taken.has(callId))
          lost.push({ file, line, message: `${path}: ${unpaired(each)}` });
        else messages.push({ ...at, role: 'tool', callId, content, isError });
      }
    }
  }
  return { messages, lost };
}

const idsOf = (said: Said) => (said.role === 'agent' ? said.calls.flatMap(({ id }) => id ?? []) : []);

function unpaired({ callId, name }: Said & { readonly role: 'tool' }): string {
  if (callId !== undefined) return `is one more result of the call ${callId}; it is left out`;
  const of = name === undefined ? '' : ` of ${name}`;
  return `a result needs the id of its call (tool_call_id): no call${of} before it is without a result; it is left out`;
}

type Ids = {
  /** Ids that calls have in the log. */
  readonly used: ReadonlySet<string>;
  /** Ids that calls have got. */
  readonly taken: Set<string>;
  /** The number behind the last id of those that are alike. */
  readonly numbers: Map<string, number>;
};

/** Returns the id of a call: its own, unless an earlier call has the same. */
function idFor({ id }: SaidCall, otherwise: string, { used, taken, numbers }: Ids): string {
  const base = id ?? otherwise;
  let [found, number] = [base, numbers.get(base) ?? 1];
  while (taken.has(found) || (found !== id && used.has(found))) {
    number += 1;
    found = `${base}_${number}`;
  }
  numbers.set(base, number);
  taken.add(found);
  return found;
}

/** Calls of one message of the agent. */
type Block<Call> = { readonly block: number; readonly calls: Call[] };

function addTo<Call>(blocks: Block<Call>[], block: number, call: Call): void {
  const last = blocks.at(-1);
  if (last?.block === block) last.calls.push(call);
  else blocks.push({ block, calls: [call] });
}

/** Takes the first call that is open out of the last message that has one. */
function takeFrom<Call>(blocks: Block<Call>[], isOpen: (call: Call) => boolean = () => true): Call | undefined {
  for (let last = blocks.at(-1); last; last = blocks.at(-1)) {
    for (let call = last.calls.shift(); call !== undefined; call = last.calls.shift()) if (isOpen(call)) return call;
    blocks.pop();
  }
  return undefined;
}

/** Returns the call of each result that names it by its id. Of calls with one id, the result is of the last message's. */
function callsNamed(said: readonly Said[]): ReadonlyMap<Said, SaidCall> {
  const open = new Map<string, Block<SaidCall>[]>();
  const found = new Map<Said, SaidCall>();
  let [block, isAgents] = [0, false];
  for (const each of said) {
    if (each.role === 'agent' && !isAgents) block += 1;
    isAgents = each.role === 'agent';
    if (each.role === 'agent') {
      for (const call of each.calls) if (call.id !== undefined) addTo(listAt(open, call.id), block, call);
    } else if (each.role === 'tool' && each.callId !== undefined) {
      const call = takeFrom(open.get(each.callId) ?? []);
      if (call) found.set(each, call);
    }
  }
  return found;
}

/** Calls that have no result yet, and that no result names. */
class OpenCalls {
  /** The calls of each name and of any, and of these those without an id. */
  readonly #of = new Map<string, Block<OpenCall>[]>();
  readonly #closed = new Set<OpenCall>();

  add(call: OpenCall, block: number): void {
    const { name, hasId } = call;
    const keys = [keyOf(false), keyOf(false, name), ...(hasId ? [] : [keyOf(true), keyOf(true, name)])];
    for (const key of keys) addTo(listAt(this.#of, key), block, call);
  }

  /** Takes the call of a result: the first of the last message that has one of its name. */
  take({ callId, name }: Said & { readonly role: 'tool' }): OpenCall | undefined {
    const call = takeFrom(this.#of.get(keyOf(callId !== undefined, name)) ?? [], (each) => !this.#closed.has(each));
    if (call) this.#closed.add(call);
    return call;
  }
}

const keyOf = (isLoose: boolean, name?: string) => `${isLoose} ${name ?? ''}${name === undefined ? '*' : ' '}`;

/** Returns the list at a key of a map. It is added where the map lacks it. */
export function listAt<Key, Each>(lists: Map<Key, Each[]>, key: Key): Each[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Leaves out the nulls that a table of rows puts into arguments which a tool does not have. */
function givenArguments(call: SaidCall, tools: readonly Offered[] | undefined): SaidCall['arguments'] {
  const { properties } = tools?.find(({ name }) => name === call.name)?.parameters ?? {};
  if (typeof call.arguments === 'string' || !isObject(properties)) return call.arguments;
  return Object.fromEntries(
    Object.entries(call.arguments).filter(([key, value]) => value !== null || Object.hasOwn(properties, key)),
  );
}

/** Returns whether the newest of some messages is first, by the times of those that have one. */
function isFalling(times: readonly (number | undefined)[]): boolean {
  const known = times.filter((time) => time !== undefined);
  return known[0] !== known.at(-1) && known.every((time, at) => time <= (known[at - 1] ?? time));
}

/**
 * Sorts messages by time, where all have one; those of one time keep their order, also where the newest is first. Where
 * some have none, the messages are turned if the times of the others only fall.
 */
export function inOrder<Each extends Pick<PlacedRead, 'time'>>(given: readonly Each[]): readonly Each[] {
  const times = given.map(({ time }) => time);
  if (times.some((time) => time === undefined)) return isFalling(times) ? given.toReversed() : given;
  const isNewestFirst = (times[0] ?? 0) > (times.at(-1) ?? 0);
  return (isNewestFirst ? given.toReversed() : given).toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0));
}

/** Joins calls to the words of the agent before them, for formats that list each call as its own item. */
export function joinedItems(given: readonly PlacedRead[]): readonly PlacedRead[] {
  const joined: PlacedRead[] = [];
  for (const each of given) {
    const before = joined.at(-1);
    const [said, last] = [each.said[0], before?.said.at(-1)];
    if (before && each.said.length === 1 && said?.role === 'agent' && last?.role === 'agent' && mayFollow(last, said)) {
      const reasoning = [last.reasoning, said.reasoning].filter(Boolean).join('\n');
      const content = [last.content, said.content].filter((text) => text).join('\n') || null;
      const calls = [...last.calls, ...said.calls];
      const own = { role: 'agent' as const, calls, content: content ?? (calls.length > 0 ? null : '') };
      const both = reasoning === '' ? own : { ...own, reasoning };
      joined[joined.length - 1] = {
        ...before,
        said: [...before.said.slice(0, -1), both],
        lost: [...before.lost, ...each.lost],
      };
    } else joined.push(each);
  }
  return joined;
}

type Agent = Said & { readonly role: 'agent' };

/** Thoughts precede what they lead to, and words precede calls. */
function mayFollow(last: Agent, said: Agent): boolean {
  const isThought = !last.content && last.calls.length === 0;
  return isThought || (said.calls.length > 0 && !said.content && said.reasoning === undefined);
}

/** The data of a conversation in its source, apart from its messages. */
export type Outline = Pick<Conversation, 'file' | 'line'> & {
  readonly id?: string | undefined;
  readonly task?: string | undefined;
  readonly tools?: readonly Offered[] | undefined;
  readonly isRequest?: boolean | undefined;
};

/** Returns a conversation of messages that were read. */
export function conversationOf(outline: Outline, given: readonly PlacedRead[]): Conversation {
  const { file, line, id, task, tools, isRequest } = outline;
  return { id: id ?? null, file, line, task, tools, isRequest, ...transcriptOf(file, given, tools) };
}

/** Reads a list of messages that has one line, and turns it where the newest is first. */
export function readMessages(list: readonly Json[], line: number, path = 'messages'): readonly PlacedRead[] {
  const read = list.map((each, index) => ({ ...readMessage(each), line, path: `${path}.${index}` }));
  const dated = timesOf(list);
  const times = dated.some((time) => time !== undefined) ? dated : (clockTimesOf(list) ?? dated);
  return isFalling(times) ? read.toReversed() : read;
}
