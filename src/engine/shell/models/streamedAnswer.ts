import { createParser } from 'eventsource-parser';
import * as z from 'zod';
import { jsonOf } from '../../core/values/json.ts';
import { bodyJson } from './bodyJson.ts';
import { callsInForm, isGiven } from './callForm.ts';
import { idSchema } from './chatAnswer.ts';
import { errorIn, errorOf, fieldsOf, isBlank } from './providerError.ts';

/** Some servers send numbers as texts. */
const indexSchema = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ])
  .nullish();
const callSchema = z.looseObject({
  index: indexSchema,
  // The whole answer is read with another schema, which names an id or a name that is not a text.
  id: z.union([idSchema, z.unknown()]).optional(),
  function: z.looseObject({ name: z.unknown().optional(), arguments: z.unknown().optional() }).nullish(),
});
type CallDelta = z.infer<typeof callSchema>;
const deltaSchema = z.looseObject({
  tool_calls: z.preprocess(callsInForm, z.array(callSchema).nullish()),
  /** OpenAI's form before `tool_calls`. */
  function_call: callSchema.shape.function,
});
const choiceSchema = z.looseObject({ index: indexSchema, delta: deltaSchema.nullish(), error: z.unknown().optional() });
const chunkSchema = z.looseObject({ error: z.unknown().optional(), choices: z.array(choiceSchema).nullish() });

/** Values that some servers write as the `finish_reason` of an unfinished answer. */
const unfinished: readonly unknown[] = ['', 'null'];

type Fields = Record<string, unknown>;
type Choice = {
  readonly fields: Fields;
  readonly message: Fields;
  readonly calls: CallDelta[];
  readonly legacy: CallDelta[];
};

/** Fields of a message that come in parts. In any other field the last value counts. */
const texts: readonly string[] = ['content', 'reasoning', 'reasoning_content', 'reasoning_text', 'thinking', 'refusal'];

/** Whether the body of an answer is a stream of events: servers also send one under another content type, or under none. */
export const isStream = (body: string) =>
  /^\s*(?:data|event|id|retry|error)?:/.test(body) && /^(?:data|error):/m.test(body);

/**
 * Returns the chat completion in the events of a stream, as JSON. Some servers stream although the request does not ask
 * for it. An event that is not a part of a completion, such as an error, is returned in its place. Returns null for a
 * stream that ends before its answer does.
 */
export function completionIn(stream: string): string | null {
  const head: Fields = {};
  const choices = new Map<number, Choice>();
  let isWhole = false;
  const events = eventsIn(stream);
  for (const [nth, { data, isError }] of events.entries()) {
    if (isError) return asError(data);
    if (data === '[DONE]') {
      isWhole = true;
      break;
    }
    const value = bodyJson(data);
    if (value === undefined) {
      const isCutOff = nth === events.length - 1 && data.startsWith('{');
      if (isWhole && !isCutOff) continue;
      return isCutOff ? null : JSON.stringify({ event: data });
    }
    const chunk = chunkSchema.safeParse(value).data;
    // It must not be read as a whole answer.
    if (!chunk) return errorIn(value) ? data : `{"event":${data}}`;
    if (errorOf(chunk.error) || (!chunk.choices && errorIn(chunk))) return data;
    // An event without choices has the counts, or keeps the connection open.
    const { choices: parts, ...rest } = chunk;
    assign(head, rest);
    for (const { index, delta, ...fields } of parts ?? []) {
      if (unfinished.includes(fields['finish_reason'])) fields['finish_reason'] = null;
      const at = index ?? 0;
      const choice = choices.get(at) ?? { fields: {}, message: {}, calls: [], legacy: [] };
      choices.set(at, choice);
      assign(choice.fields, fields);
      isWhole ||= typeof fields['finish_reason'] === 'string';
      const { tool_calls: calls, function_call: legacy, ...more } = delta ?? {};
      for (const [name, part] of Object.entries(more)) addPart(choice.message, name, part);
      if (legacy) addCall(choice.legacy, { index: 0, function: legacy });
      for (const call of calls ?? []) addCall(choice.calls, call);
    }
  }
  if (!isWhole) return null;
  const whole = [...choices].map(([index, { fields, message, calls: current, legacy }]) => {
    // llama-cpp-python sends a call in both forms.
    const calls = current.length > 0 ? current : legacy;
    return { index, message: { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) }, ...fields };
  });
  return JSON.stringify({ ...head, object: 'chat.completion', choices: whole });
}

type StreamEvent = { readonly data: string; readonly isError: boolean };

/**
 * Returns each event with data, including a last one that lacks the empty line after it. Older versions of llama.cpp
 * write an error in a separate field, and other servers as an event of type `error`.
 */
function eventsIn(stream: string): readonly StreamEvent[] {
  const found: StreamEvent[] = [];
  createParser({
    onEvent: ({ event, data }) => found.push({ data: data.trim(), isError: event === 'error' }),
    onError: ({ field, value = '' }) => field === 'error' && found.push({ data: value.trim(), isError: true }),
  }).feed(`${stream}\n\n`);
  return found.filter(({ data }) => data !== '');
}

/** Returns the data of an event that is an error as the body of an answer with one. */
function asError(data: string): string {
  const value = bodyJson(data);
  if (value === undefined) return JSON.stringify({ error: data });
  return isBlank(fieldsOf(value)?.['error']) ? `{"error":${data}}` : data;
}

function assign(fields: Fields, given: Fields): void {
  for (const [name, value] of Object.entries(given)) if (value !== null && value !== undefined) fields[name] = value;
}

function addPart(message: Fields, name: string, part: unknown): void {
  const before = message[name];
  if (part === null || part === undefined) return;
  if (name === 'content' && fieldsOf(part)) addPart(message, name, [part]);
  else if (Array.isArray(before) || (Array.isArray(part) && before !== undefined))
    message[name] = withParts(partsOf(before), partsOf(part));
  else
    message[name] =
      texts.includes(name) && typeof before === 'string' && typeof part !== 'object' ? `${before}${part}` : part;
}

/** The content of a message is a text in some events and a list of parts in others. */
const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : [{ type: 'text', text: content }];

/** Fields of a part that come in pieces. In any other field the last value counts. */
const partTexts: readonly string[] = ['text', 'thinking', 'summary', 'data'];

/**
 * Returns parts with further ones. A part that continues an earlier one is added to it: a signature is that of the whole
 * thought, and Anthropic refuses one that comes back with a piece.
 */
function withParts(before: readonly unknown[], parts: readonly unknown[]): readonly unknown[] {
  const whole = [...before];
  for (const part of parts) {
    const fields = fieldsOf(part);
    const at = fields ? indexOfEarlier(whole, fields) : -1;
    if (fields && at >= 0) whole[at] = joinedParts(whole[at] as Fields, fields);
    else whole.push(part);
  }
  return whole;
}

/** The last parts, of which one with a number can be a further piece. */
const nearParts = 8;

/** Returns the index of the part of which another one is a further piece; -1 where it is not a piece. */
function indexOfEarlier(parts: readonly unknown[], part: Fields): number {
  const from = Math.max(0, parts.length - (isGiven(part['index']) ? nearParts : 1));
  const at = parts.slice(from).findLastIndex((each) => continues(fieldsOf(each), part));
  return at < 0 ? -1 : from + at;
}

/** Whether a part of a text or a thought may be a further piece of another one. */
function continues(earlier: Fields | undefined, { type, index, id, data }: Fields): boolean {
  if (!/^(?:output_)?text$|think|thought|reason/i.test(String(type)) || !earlier || earlier['type'] !== type)
    return false;
  if ((earlier['index'] ?? null) !== (index ?? null)) return false;
  if (isGiven(id) && (earlier['id'] ?? id) !== id) return false;
  // Data without a number is whole.
  return isGiven(index) || data === undefined;
}

function joinedParts(earlier: Fields, part: Fields): Fields {
  const joined = { ...earlier };
  assign(joined, part);
  for (const name of partTexts) {
    const [first, more] = [earlier[name], part[name]];
    if (typeof first === 'string' && typeof more === 'string') joined[name] = first + more;
    else if (Array.isArray(first) && Array.isArray(more)) joined[name] = withParts(first, more);
  }
  return joined;
}

/**
 * Adds a part of a call. Some servers leave the index out, give all calls of an answer the same one, or give the parts of
 * a call different ones, or different ids. A name after whole arguments begins another call.
 */
function addCall(calls: CallDelta[], { function: part, ...given }: CallDelta): void {
  const isSame = ({ index, id }: CallDelta) =>
    (!given.id || !id || given.id === id) &&
    ((given.index ?? index) === index || (Boolean(given.id) && given.id === id && !part?.name));
  // A part that names nothing belongs to the call that is not whole yet, whatever its index is.
  const isTail = (last: CallDelta | undefined) => !given.id && !part?.name && last !== undefined && !isWhole(last);
  // Each part has another id: no call begins without a name.
  const isPart = ({ index }: CallDelta) => Boolean(given.id) && !part?.name && isGiven(index) && given.index === index;
  const known = calls.findLast(isSame) ?? calls.findLast(isPart) ?? (isTail(calls.at(-1)) ? calls.at(-1) : undefined);
  const begins =
    known !== undefined &&
    Boolean(part?.name) &&
    (Boolean(part?.arguments) || part?.name !== known.function?.name) &&
    isWhole(known);
  const call = begins || !known ? {} : known;
  if (call !== known) calls.push(call);
  const { index, id, ...fields } = given;
  assign(call, { ...fields, id: call.id || id || null, index: call.index ?? index });
  call.function = functionWith(call.function, part);
}

const isWhole = ({ function: given }: CallDelta) =>
  typeof given?.arguments === 'string' && jsonOf(given.arguments) !== undefined;

type FunctionDelta = CallDelta['function'];

/** Returns a function with a further part. A name can come in parts before the arguments, or again with each part. */
function functionWith(before: FunctionDelta, part: FunctionDelta): FunctionDelta {
  const { name: more, arguments: given, ...fields } = part ?? {};
  const { name, arguments: args } = before ?? {};
  const whole = {
    ...before,
    arguments: typeof args === 'string' && typeof given === 'string' ? args + given : (given ?? args),
  };
  assign(whole, fields);
  const isPart = typeof name === 'string' && typeof more === 'string' && name && more && name !== more && !args;
  return { ...whole, name: isPart ? name + more : name || more };
}
