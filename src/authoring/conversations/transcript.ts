import type { Offered } from '../../engine/core/domain/tool.ts';
import { isObject, type Json } from '../../engine/core/values/json.ts';
import type { Conversation, ImportProblem, SpokenMessage } from './conversation.ts';
import { objectOf, type ReadMessage, readMessage, type Said, type SaidCall, textOf } from './saidMessage.ts';

/** A message of a log with its line, and what it is called in a message about it. */
export type PlacedRead = ReadMessage & {
  readonly line: number;
  readonly path: string;
  /** The time of the message, for logs that list their newest rows first. */
  readonly time?: number | undefined;
};

export type Transcript = { readonly messages: readonly SpokenMessage[]; readonly lost: readonly ImportProblem[] };

type OpenCall = {
  readonly id: string;
  readonly given: string | undefined;
  readonly name: string;
  readonly block: number;
};

/**
 * Returns the messages of a conversation in the order of their time, each result with the id of its call. Results without
 * an id go to the calls before them in order, by name where they have one.
 */
export function transcriptOf(file: string, given: readonly PlacedRead[], tools?: readonly Offered[]): Transcript {
  const messages: SpokenMessage[] = [];
  const lost: ImportProblem[] = [];
  const used = new Set(given.flatMap(({ said }) => said.flatMap(idsOf)));
  const taken = new Set<string>();
  let open: readonly OpenCall[] = [];
  let block = 0;
  for (const [index, { said, lost: unread, line, path }] of inOrder(given).entries()) {
    lost.push(...unread.map((what) => ({ file, line, message: `${path}: ${what}` })));
    const at = { line, number: index + 1 };
    for (const each of said) {
      if (each.role === 'agent') {
        if (messages.at(-1)?.role !== 'agent') block += 1;
        const calls = each.calls.map((call, place) => {
          const id = idFor(call, `call_${at.number}_${place}`, used, taken);
          open = [...open, { id, given: call.id, name: call.name, block }];
          return { ...call, id, arguments: givenArguments(call, tools) };
        });
        messages.push({ ...at, ...each, calls });
      } else if (each.role !== 'tool') messages.push({ ...at, ...each });
      else {
        const call = callFor(each, open);
        open = open.filter((other) => other !== call);
        const { callId = undefined, content, isError } = each;
        if (call) messages.push({ ...at, role: 'tool', callId: call.id, content, isError });
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

/** Returns the id of a call: its own, unless an earlier call has the same. */
function idFor({ id }: SaidCall, otherwise: string, used: ReadonlySet<string>, taken: Set<string>): string {
  let found = id ?? otherwise;
  for (let number = 2; taken.has(found) || (found !== id && used.has(found)); number++)
    found = `${id ?? otherwise}_${number}`;
  taken.add(found);
  return found;
}

function callFor({ callId, name }: Said & { readonly role: 'tool' }, open: readonly OpenCall[]): OpenCall | undefined {
  if (callId !== undefined) {
    const own = open.find(({ given }) => given === callId);
    if (own) return own;
  }
  const loose = callId === undefined ? open : open.filter(({ given }) => given === undefined);
  const named = name === undefined ? loose : loose.filter((call) => call.name === name);
  const last = Math.max(...named.map(({ block }) => block));
  return named.find(({ block }) => block === last);
}

/** Leaves out the nulls that a table of rows puts into arguments which a tool does not have. */
function givenArguments(call: SaidCall, tools: readonly Offered[] | undefined): SaidCall['arguments'] {
  const { properties } = tools?.find(({ name }) => name === call.name)?.parameters ?? {};
  if (typeof call.arguments === 'string' || !isObject(properties)) return call.arguments;
  return Object.fromEntries(
    Object.entries(call.arguments).filter(([key, value]) => value !== null || Object.hasOwn(properties, key)),
  );
}

/** Sorts messages by time, where all have one; those of one time keep their order, also where the newest is first. */
function inOrder(given: readonly PlacedRead[]): readonly PlacedRead[] {
  const times = given.map(({ time }) => time);
  if (times.some((time) => time === undefined)) return given;
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
};

/** Returns a conversation of messages that were read. */
export function conversationOf({ file, line, id, task, tools }: Outline, given: readonly PlacedRead[]): Conversation {
  return { id: id ?? null, file, line, task, tools, ...transcriptOf(file, given, tools) };
}

/** Reads a list of messages that has one line, and turns it where the newest is first. */
export function readMessages(list: readonly Json[], line: number, path = 'messages'): readonly PlacedRead[] {
  const read = list.map((each, index) => ({ ...readMessage(each), line, path: `${path}.${index}` }));
  const times = list.map(timeOf);
  const isNewestFirst =
    times.length > 1 &&
    times[0] !== times.at(-1) &&
    times.every((time, index) => time !== undefined && time <= (times[index - 1] ?? time));
  return isNewestFirst ? read.toReversed() : read;
}

const timeNames = new Set([
  'timestamp',
  'createdat',
  'createtime',
  'created',
  'time',
  'ts',
  'date',
  'datetime',
  'sentat',
  'starttime',
]);

/** Returns the milliseconds of a message's time under the names that logs give it. */
export function timeOf(message: Json): number | undefined {
  const found = Object.entries(objectOf(message)).find(
    ([key, value]) => timeNames.has(plainKey(key)) && value !== null,
  );
  return found === undefined ? undefined : timeIn(found[1]);
}

/** Returns a time in milliseconds: a date as text, or a number of seconds, milliseconds, microseconds or nanoseconds. */
export function timeIn(value: Json): number | undefined {
  const text = textOf(value)?.trim() ?? '';
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) {
    const date = Date.parse(text);
    return Number.isNaN(date) ? undefined : date;
  }
  const digits = Math.trunc(Math.abs(number)).toString().length;
  return digits <= 10 ? number * 1000 : digits <= 13 ? number : digits <= 16 ? number / 1000 : number / 1_000_000;
}

/** Returns a key without its case and the signs between its words. */
export const plainKey = (key: string) => key.toLowerCase().replace(/[\s_-]+/g, '');
