import { createParser } from 'eventsource-parser';
import * as z from 'zod';
import { jsonOf } from '../../core/json.ts';

const callSchema = z.looseObject({
  index: z.number().nullish(),
  id: z.union([z.string(), z.number()]).nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.unknown() }).nullish(),
});
type CallDelta = z.infer<typeof callSchema>;
const deltaSchema = z.looseObject({
  tool_calls: z.array(callSchema).nullish(),
  /** OpenAI's form before `tool_calls`. */
  function_call: callSchema.shape.function,
});
const choiceSchema = z.looseObject({ index: z.number().nullish(), delta: deltaSchema.nullish() });
const chunkSchema = z.looseObject({ error: z.null().optional(), choices: z.array(choiceSchema).nullish() });

/** Keys by which servers report an error that is not under `error`. */
const errorKeys: readonly string[] = ['message', 'detail', 'errors'];

type Fields = Record<string, unknown>;
type Choice = { readonly fields: Fields; readonly message: Fields; readonly calls: CallDelta[] };

/** Fields of a message that come in parts. In any other field the last value counts. */
const texts: readonly string[] = ['content', 'reasoning', 'reasoning_content', 'refusal'];

/**
 * Returns the chat completion in the events of a stream, as JSON. Some servers stream although the request does not ask
 * for it. An event that is not a part of a completion, such as an error, is returned in its place. Returns null for a
 * stream that ends before its answer does.
 */
export function completionIn(stream: string): string | null {
  const head: Fields = {};
  const choices = new Map<number, Choice>();
  let isWhole = false;
  for (const data of dataIn(stream)) {
    if (data === '[DONE]') {
      isWhole = true;
      break;
    }
    const value = jsonOf(data);
    if (value === undefined) return null;
    const chunk = chunkSchema.safeParse(value).data;
    if (!chunk || (!chunk.choices && errorKeys.some((key) => Object.hasOwn(chunk, key)))) return data;
    // An event without choices has the counts, or keeps the connection open.
    const { choices: parts, ...rest } = chunk;
    assign(head, rest);
    for (const { index, delta, ...fields } of parts ?? []) {
      const at = index ?? 0;
      const choice = choices.get(at) ?? { fields: {}, message: {}, calls: [] };
      choices.set(at, choice);
      assign(choice.fields, fields);
      isWhole ||= typeof fields['finish_reason'] === 'string' && fields['finish_reason'] !== '';
      const { tool_calls: calls, function_call: legacy, ...more } = delta ?? {};
      for (const [name, part] of Object.entries(more)) addPart(choice.message, name, part);
      if (legacy) addCall(choice.calls, { index: 0, function: legacy });
      for (const call of calls ?? []) addCall(choice.calls, call);
    }
  }
  if (!isWhole) return null;
  const whole = [...choices].map(([index, { fields, message, calls }]) => ({
    index,
    message: { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
    ...fields,
  }));
  return JSON.stringify({ ...head, object: 'chat.completion', choices: whole });
}

/** Returns the data of each event, also of a last one without the empty line after it. */
function dataIn(stream: string): readonly string[] {
  const found: string[] = [];
  createParser({ onEvent: ({ data }) => found.push(data.trim()) }).feed(`${stream}\n\n`);
  return found.filter((data) => data !== '');
}

function assign(fields: Fields, given: Fields): void {
  for (const [name, value] of Object.entries(given)) if (value !== null && value !== undefined) fields[name] = value;
}

function addPart(message: Fields, name: string, part: unknown): void {
  const before = message[name];
  if (part === null || part === undefined) return;
  if (Array.isArray(before) || (Array.isArray(part) && before !== undefined))
    message[name] = [...partsOf(before), ...partsOf(part)];
  else message[name] = texts.includes(name) && typeof before === 'string' ? `${before}${part}` : part;
}

/** The content of a message is a text in some events and a list of parts in others. */
const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : [{ type: 'text', text: content }];

/**
 * Adds a part of a call. Some servers leave the index out, or give all calls of an answer the same one. A name after
 * whole arguments begins another call.
 */
function addCall(calls: CallDelta[], { function: part, ...given }: CallDelta): void {
  const isSame = ({ index, id }: CallDelta) =>
    (given.index ?? index) === index && (!given.id || !id || given.id === id);
  const last = calls.findLast(isSame);
  const isWhole = typeof last?.function?.arguments === 'string' && jsonOf(last.function.arguments) !== undefined;
  const known = part?.name && part.arguments && isWhole ? undefined : last;
  const call = known ?? { function: { arguments: undefined } };
  if (!known) calls.push(call);
  assign(call, given.id === '' ? { ...given, id: null } : given);
  const { function: before } = call;
  const { arguments: more, ...fields } = part ?? { arguments: undefined };
  const args = before?.arguments;
  const joined = typeof args === 'string' && typeof more === 'string' ? args + more : (more ?? args);
  call.function = { ...before, arguments: joined };
  assign(call.function, fields.name === '' ? { ...fields, name: null } : fields);
}
