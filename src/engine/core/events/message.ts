import * as z from 'zod';
import type { Offered, Side } from '../domain/tool.ts';
import { isObject, type Json, type JsonObject, readableEntries } from '../values/json.ts';
import { jsonObjectSchema } from '../values/jsonObjectSchema.ts';
import { keysOfPointer, pointerKey } from '../values/jsonPointer.ts';
import { exactJson, largeIntegerPlaces } from '../values/largeIntegers.ts';
import type { Attachments } from '../values/media.ts';
import { memo } from '../values/memo.ts';
import { isTooDeep } from '../values/nesting.ts';
import type { ProvidedMessage } from '../values/providerFields.ts';
import { isPythonCall } from '../values/pythonCall.ts';

/**
 * One call of a tool by a seat. `arguments` is the parsed object, or the raw text
 * when what the model wrote was not a JSON object; the engine answers that with an error result.
 * `floats` are JSON Pointers of the whole numbers that were written as 5.0: a tool in Python tells them from 5.
 * `integers` are those of texts of digits that were written as numbers, which a JavaScript number cannot hold.
 */
export const toolCallSchema = z.object({
  id: z.string().describe('By this the result names the call, as `callId`.'),
  name: z.string().describe('Name of the tool that is called.'),
  arguments: z
    .union([jsonObjectSchema, z.string()])
    .describe('The arguments; the received text where it is not a JSON object.'),
  floats: z.array(z.string()).optional().describe('JSON Pointers of whole numbers in the arguments that are floats.'),
  integers: z
    .array(z.string())
    .optional()
    .describe('JSON Pointers of texts of digits in the arguments that are whole numbers beyond 2^53.'),
});
export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject | string;
} & NumberForms;

/** Marks the numbers of arguments whose form JSON data does not keep. */
export type NumberForms = {
  readonly floats?: readonly string[] | undefined;
  readonly integers?: readonly string[] | undefined;
};

/** Returns the forms of the numbers of a call, as far as there are some. */
export const numberFormsOf = ({ floats, integers }: NumberForms): NumberForms => ({
  ...(floats ? { floats } : {}),
  ...(integers ? { integers } : {}),
});

/**
 * One message of the conversation as the engine keeps it. `step` is the number of the event it came
 * from, so that every view can lead back to the recording. A text beside tool calls is kept but never shown to
 * the other seat.
 */
export type Message =
  | (ProvidedMessage & {
      readonly role: 'agent';
      readonly step: number;
      readonly content: string | null;
      readonly toolCalls: readonly ToolCall[];
      /** Identity given by the endpoint (the gateway matches returning messages by it). */
      readonly messageId?: string;
    })
  | (ProvidedMessage & {
      readonly role: 'user';
      readonly step: number;
      readonly content: string;
      /** Calls of the user's own tools; no one receives the text beside them. */
      readonly toolCalls?: readonly ToolCall[];
      /** Tools that the agent is offered from this message on, beside those before. */
      readonly tools?: readonly Offered[];
    })
  | (Attachments & {
      readonly role: 'tool';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
      /** The seat that made the call and sees the result, where it is not the agent's. */
      readonly by?: 'user';
    });

/** The syntax in which a benchmark writes calls. Some arguments cannot be written in it. */
export type CallSyntax = 'python';

/** A message from one seat to the other: not a tool result, and not a text that accompanied a call. */
export type Utterance = { readonly role: 'agent' | 'user'; readonly step: number; readonly content: string };

/** Returns the spoken part of a conversation, as the user's seat hears it. */
export function utterancesOf(messages: readonly Message[]): readonly Utterance[] {
  return messages.flatMap((message): Utterance[] => {
    if (message.role === 'tool' || callsIn(message).length > 0) return [];
    return message.content ? [{ role: message.role, step: message.step, content: message.content }] : [];
  });
}

/** Returns what one side said, each text by itself. */
export const textsBy = (role: Utterance['role'], spoken: readonly Utterance[]): readonly string[] =>
  spoken.flatMap((each) => (each.role === role ? [each.content] : []));

/** Returns the arguments of a call as an object, or their raw text where that is not an object that can be recorded. */
export function parsedArguments(text: string): JsonObject | string {
  try {
    const value: Json = text.trim() === '' ? {} : exactJson(text, finite);
    if (isTooDeep(value)) return text;
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

/** Refuses a number such as 1e400, which a recording would turn into null. */
function finite(_key: string, value: Json): Json {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('the number is too large');
  return value;
}

/** The arguments of a call that was written as a JSON text, with the forms of its numbers. */
export function callArguments(text: string): Omit<ToolCall, 'id' | 'name'> {
  const [floats, integers] = [wholeFloats(text), largeIntegerPlaces(text)];
  return {
    arguments: parsedArguments(text),
    ...(floats.length > 0 ? { floats } : {}),
    ...(integers.length > 0 ? { integers } : {}),
  };
}

/**
 * Parses a JSON text that holds calls. An object whose `arguments` have whole numbers that were written as floats gets
 * their places as `floats`, and those of numbers that are too large as `integers`. Throws a SyntaxError for a text that is
 * not JSON.
 */
export function parsedCalls(text: string): unknown {
  const value: unknown = exactJson(text);
  const mark = (form: keyof NumberForms, place: string) => {
    const [, before = '', inside] = /^(.*?)\/arguments(\/.*)$/.exec(place) ?? [];
    if (inside === undefined) return;
    const call = keysOfPointer(before).reduce((at, key) => (at as never)[key], value);
    const { [form]: places = [] } = call as NumberForms;
    Object.assign(call as object, { [form]: [...places, inside] });
  };
  for (const place of wholeFloats(text)) mark('floats', place);
  for (const place of largeIntegerPlaces(text)) mark('integers', place);
  return value;
}

/** JSON Pointers of the whole numbers in a JSON text that were written as floats, such as 5.0 or 5e3. */
function wholeFloats(text: string): readonly string[] {
  if (!/\d[.eE]/.test(text)) return [];
  const written = (_key: string, value: unknown, { source }: { readonly source?: string } = {}) =>
    Number.isInteger(value) && source !== undefined && /[.eE]/.test(source) ? writtenAsFloat : value;
  try {
    return [...floatPlaces((JSON.parse as (text: string, reviver: typeof written) => unknown)(text, written), '')];
  } catch {
    return [];
  }
}

const writtenAsFloat = Symbol('float');

function* floatPlaces(value: unknown, place: string): Iterable<string> {
  if (value === writtenAsFloat) yield place;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) yield* floatPlaces(each, `${place}/${pointerKey(key)}`);
}

/** Whether the arguments of a call of this message are not a JSON object. */
export function isUnreadable(message: Message | undefined, syntax: CallSyntax | undefined): boolean {
  return (
    message !== undefined &&
    message.role !== 'tool' &&
    callsIn(message).some(
      ({ arguments: each }) => typeof each === 'string' || (syntax === 'python' && !isPythonCall(each)),
    )
  );
}

export function lastResponse(messages: readonly Message[]): Message | undefined {
  return messages.findLast(({ role }) => role === 'agent');
}

/** Returns the results of the response that is under way, in the order of its calls. */
export function resultsSoFar(messages: readonly Message[]): readonly ToolResult[] {
  const results: ToolResult[] = [];
  for (const message of messages.toReversed()) {
    if (message.role !== 'tool') break;
    results.unshift({ content: message.content, isError: message.isError });
  }
  return results;
}

export type ToolResult = { readonly content: string; readonly isError: boolean };

/** The fields of a tool's result that is a JSON object; none of any other. Seats read a conversation again each turn. */
export const fieldsOf: (content: string) => JsonObject = memo((content) => {
  const fields = parsedArguments(content);
  return typeof fields === 'string' ? {} : fields;
}, 200);

/** A call as people read it: `get_order(order_id: "W1")`. */
export function callText({ name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${name}(${typeof given === 'string' ? given : readableEntries(given)})`;
}

/** The calls that a message makes. */
export function callsIn(message: Message): readonly ToolCall[] {
  return message.role === 'tool' ? [] : (message.toolCalls ?? []);
}

export type ToolMessage = Extract<Message, { role: 'tool' }>;

/** A result, and the call before it that it answers. */
export type Answered = { readonly call: ToolCall | undefined; readonly result: ToolMessage };

/** Returns the results of a conversation with their calls, in order. */
export function answeredIn(messages: readonly Message[]): readonly Answered[] {
  let open: readonly ToolCall[] = [];
  return messages.flatMap((message): readonly Answered[] => {
    if (message.role === 'tool') return [{ call: open.find(({ id }) => id === message.callId), result: message }];
    open = callsIn(message);
    return [];
  });
}

/** Returns the arguments of a call; none where what the model wrote was not a JSON object. */
export function readArguments(call: ToolCall | undefined): JsonObject {
  return call === undefined || typeof call.arguments === 'string' ? {} : call.arguments;
}

/** Returns what a seat sees of a conversation: what was said, and its own calls with their results. */
export function messagesOf(seat: Side, messages: readonly Message[]): readonly Message[] {
  const isOthers = (message: Message) =>
    message.role === 'tool' ? (message.by ?? 'agent') !== seat : message.role !== seat && callsIn(message).length > 0;
  return messages.some(isOthers) ? messages.filter((message) => !isOthers(message)) : messages;
}

/** Messages with calls since the last one that was said. */
export function callsInARow(messages: readonly Message[]): number {
  const said = messages.findLastIndex((message) => message.role !== 'tool' && callsIn(message).length === 0);
  return messages.slice(said + 1).filter(({ role }) => role === 'user').length;
}

/** Responses of the agent that only call, since the user's last message. */
export function responsesInARow(messages: readonly Message[]): number {
  return messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ role }) => role === 'agent').length;
}

/** Messages after the first one, where all results of one response count as one. */
export function exchangedIn(messages: readonly Message[]): number {
  return messages.filter(({ role }, at) => at > 0 && !(role === 'tool' && messages[at - 1]?.role === 'tool')).length;
}

/** The tools that the agent is offered now: those of the start, and those that came with messages of the user. */
export function offeredNow(atStart: readonly Offered[], messages: readonly Message[]): readonly Offered[] {
  const later = messages.flatMap((message) => (message.role === 'user' ? (message.tools ?? []) : []));
  return later.length === 0 ? atStart : [...atStart, ...later];
}
