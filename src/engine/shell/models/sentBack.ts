import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { exactArguments, largeIntegerPlaces, withDigits } from '../../core/values/largeIntegers.ts';
import { isTooDeep } from '../../core/values/nesting.ts';
import type { ProvidedMessage, ProviderFields } from '../../core/values/providerFields.ts';
import type { ChatCall, ChatMessage, SentMessage } from './chatMessage.ts';

/** Fields of one answer as they came, by the message and by its calls. `JSON.stringify` writes all digits of their numbers. */
export type CameWith = Omit<ProviderFields, 'from' | 'integers' | 'omitted'>;

/** Fields that the engine reads itself, or that an endpoint gives and does not take back. */
const ownFields = ['role', 'content', 'tool_calls', 'function_call', 'rehearsal_id', 'refusal', 'annotations', 'audio'];
const ownCallFields = ['id', 'type', 'index', 'function'];
const ownFunctionFields = ['name', 'arguments'];

type Raw = Readonly<Record<string, unknown>>;

/** Returns the fields of a message that the engine does not read itself. */
export function unreadFields(message: Raw): JsonObject {
  return without(message, ownFields);
}

/** Returns the fields of a call that the engine does not read itself. */
export function unreadCallFields(call: Raw & { readonly function: Raw }): JsonObject {
  const inFunction = without(call.function, ownFunctionFields);
  return { ...without(call, ownCallFields), ...(isEmpty(inFunction) ? {} : { function: inFunction }) };
}

function without(fields: Raw, own: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !own.includes(name) && !isEmpty(value) && !isTooDeep(value)),
  ) as JsonObject;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Characters of JSON that the fields of one answer may have in a recording: signatures have some thousand. */
const longestFields = 1_000_000;

/** Returns what a recording keeps of the fields of an answer; undefined where there is nothing to send back. */
export function recordedFields(seat: ModelSeat, { reasoningIn, message, calls }: CameWith): ProviderFields | undefined {
  const kept = {
    ...(message && !isEmpty(message) ? { message } : {}),
    ...(calls?.some((each) => !isEmpty(each)) ? { calls } : {}),
  };
  const text = JSON.stringify(kept);
  const isLong = text.length > longestFields;
  const integers = isLong ? [] : largeIntegerPlaces(text);
  const names = [message ?? {}, ...(calls ?? [])].flatMap((fields) => Object.keys(fields));
  const recorded = {
    ...(reasoningIn === undefined ? {} : { reasoningIn }),
    ...(isLong ? { omitted: [...new Set(names)] } : (withDigits(kept as JsonObject) as CameWith)),
    ...(integers.length === 0 ? {} : { integers }),
  };
  return isEmpty(recorded) ? undefined : { from: endpointOf(seat), ...recorded };
}

/** The model and the origin of its endpoint; without the path or a query. */
function endpointOf({ model, baseUrl }: ModelSeat): string {
  return `${model}@${new URL(baseUrl).origin}`;
}

/** Fields with what a model thought, in which some endpoints take no part of turns without calls. */
const isThought = (field: string) => field === 'content' || /^(?:reasoning|thinking)/.test(field);

/**
 * Returns a chat in which each message of the model has the fields again that its endpoint needs back. What it thought
 * goes back with the turns in which it called a tool: DeepSeek refuses such a turn without its thoughts, in all later
 * requests, and older reasoning models refuse thoughts in any other turn. A turn ends with what the other side says.
 * @param answerAt the recorded answer behind a message of the chat, where there is one
 */
export function withSentBack(
  chat: readonly ChatMessage[],
  seat: ModelSeat,
  answerAt: (index: number) => ProvidedMessage | undefined,
): readonly SentMessage[] {
  const endpoint = endpointOf(seat);
  const hasCalls = turnsWithCalls(chat);
  return chat.map((message, at) => {
    const answer = answerAt(at);
    if (message.role !== 'assistant' || answer?.providerFields?.from !== endpoint) return message;
    return { ...message, ...fieldsFor(message.tool_calls ?? [], answer, hasCalls[at] === true) };
  });
}

/** Whether each message is in a turn with calls. */
function turnsWithCalls(chat: readonly ChatMessage[]): readonly boolean[] {
  const isOwn = ({ role }: ChatMessage) => role === 'assistant' || role === 'tool';
  const found: boolean[] = [];
  for (let from = 0; from < chat.length; ) {
    const end = chat.findIndex((each, at) => at >= from && !isOwn(each));
    const turn = chat.slice(from, end < 0 ? undefined : Math.max(end, from + 1));
    const has = turn.some((each) => each.role === 'tool' || (each.role === 'assistant' && each.tool_calls));
    found.push(...turn.map(() => has));
    from += turn.length;
  }
  return found;
}

function fieldsFor(sent: readonly ChatCall[], answer: ProvidedMessage, hasCalls: boolean): object {
  const { reasoning, providerFields = { from: '' } } = answer;
  const { reasoningIn, integers } = providerFields;
  const { message, calls } = exactFields(providerFields, integers);
  return {
    ...Object.fromEntries(Object.entries(message).filter(([name]) => hasCalls || !isThought(name))),
    ...(hasCalls && reasoningIn && reasoning ? { [reasoningIn]: reasoning } : {}),
    ...(sent.length > 0 ? { tool_calls: sent.map((call, at) => withFields(call, calls[at])) } : {}),
  };
}

type Fields = { readonly message: JsonObject; readonly calls: readonly JsonObject[] };

function exactFields({ message = {}, calls = [] }: ProviderFields, integers: readonly string[] | undefined): Fields {
  return exactArguments({}, { message, calls }, integers) as Fields;
}

function withFields(call: ChatCall, fields: JsonObject = {}): ChatCall {
  const inFunction = fields['function'] as { readonly [name: string]: Json } | undefined;
  return { ...fields, ...call, function: { ...inFunction, ...call.function } };
}
