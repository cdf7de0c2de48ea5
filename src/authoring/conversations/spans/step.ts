import type { Offered } from '../../../engine/core/domain/tool.ts';
import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { hasContent } from '../partTypes.ts';
import { isItemType, readItem } from '../readers/openaiResponses.ts';
import { listIn, objectOf, readMessage, resultText, type Said, textOf } from '../saidMessage.ts';

/** The kind of a span in a conversation: one call of a model, the work of an agent around it, or a call of a tool. */
export type StepKind = 'chat' | 'agent' | 'tool' | 'other';

/** A span as all tracing formats have it. */
export type Step = {
  readonly file: string;
  readonly line: number;
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  /** Traces that it links to. */
  readonly links: readonly string[];
  /** Nanoseconds, as text: they are larger than a number can hold. */
  readonly time: string;
  readonly name: string;
  readonly isError: boolean;
  readonly kind: StepKind;
  /** The conversation that contains it, if the span names one. */
  readonly conversation?: string | undefined;
  readonly input: readonly Said[];
  readonly output: readonly Said[];
  readonly tools?: readonly Offered[] | undefined;
  readonly called?: CalledTool | undefined;
  readonly lost: readonly string[];
  /** Attributes that hold words which no dialect reads. */
  readonly unread: readonly string[];
};

/** A call of a tool as its own span has it. */
export type CalledTool = {
  readonly id?: string | undefined;
  readonly name: string;
  /** Its arguments as the span records them, in any notation. */
  readonly given?: string | undefined;
  readonly result?: { readonly content: string; readonly isError: boolean } | undefined;
};

/** Returns the call of a tool whose span has its arguments as the input, and its result as the output. */
export function calledIn(
  name: string,
  input: Json | undefined,
  output: Json | undefined,
  isError: boolean,
): CalledTool {
  const [read] = typeof output === 'string' ? listIn(output) : [output];
  const message = objectOf(objectOf(read)['kwargs'] ?? read);
  // LangChain returns a message as the result.
  const isMessage = message['tool_call_id'] !== undefined && message['content'] !== undefined;
  const result = isMessage ? message['content'] : output;
  const hasFailed = isError || (isMessage && message['status'] === 'error');
  return {
    name,
    id: isMessage ? textOf(message['tool_call_id']) : undefined,
    ...(input === undefined || input === null ? {} : { given: textOf(input) ?? JSON.stringify(input) }),
    ...(result === undefined || result === null ? {} : { result: { content: resultText(result), isError: hasFailed } }),
  };
}

/** Messages that a span holds, and what of them cannot be read. */
export type Exchange = { readonly said: readonly Said[]; readonly lost: readonly string[] };

type Role = 'user' | 'assistant' | 'system';

/** Joins exchanges in order. */
export const joined = (...all: readonly Exchange[]): Exchange => ({
  said: all.flatMap(({ said }) => said),
  lost: all.flatMap(({ lost }) => lost),
});

export const nothing: Exchange = { said: [], lost: [] };

/**
 * Reads the input or the output of a call of a model in any of the forms that tracing formats keep: messages, an object
 * with messages, an answer with choices or generations, items of the Responses API, or a text.
 * @param role who says a text without a role
 */
export function exchangeIn(value: Json | undefined, role: Role): Exchange {
  if (value === undefined || value === null || value === '' || value === '[]') return nothing;
  if (typeof value === 'string') {
    const list = listIn(value);
    const isMessages = list.length > 0 && list.some((each) => typeof each === 'object');
    return isMessages ? exchangeOfAll(list, role) : readMessage({ role, content: value });
  }
  return Array.isArray(value) ? exchangeOfAll(value, role) : exchangeOfObject(objectOf(value), role);
}

function exchangeOfAll(list: readonly Json[], role: Role): Exchange {
  const isParts = list.length > 0 && list.every(isPartAlone);
  if (isParts) return readMessage({ role, content: list });
  if (list.length > 0 && list.every(isCallAlone)) return readMessage({ role, content: null, tool_calls: list });
  return joined(...list.map((each) => (Array.isArray(each) ? exchangeOfAll(each, role) : exchangeIn(each, role))));
}

/** Returns whether a value is a call of a message, and not a message. */
function isCallAlone(value: Json): boolean {
  const { role, function: called } = objectOf(value);
  return role === undefined && objectOf(called)['name'] !== undefined;
}

/** Returns whether a value is a part of a message, and not a message. */
function isPartAlone(value: Json): boolean {
  const { role, type, text, toolUse, toolResult, content } = objectOf(value);
  if (role !== undefined) return false;
  if (toolUse !== undefined || toolResult !== undefined) return true;
  const own = textOf(type) ?? '';
  return text !== undefined || (hasContent(own) && !isItemType(own) && content !== null);
}

function exchangeOfObject(object: JsonObject, role: Role): Exchange {
  const { messages, choices, generations, output, system, message, input, prompt } = object;
  if (isItemType(textOf(object['type']) ?? '')) return readItem(object);
  if (Array.isArray(messages)) {
    const opening = system === undefined || system === null ? [] : [{ role: 'system', content: system }];
    return exchangeOfAll([...opening, ...messages], role);
  }
  if (Array.isArray(choices)) return exchangeIn(objectOf(choices[0])['message'] ?? objectOf(choices[0])['text'], role);
  if (Array.isArray(generations)) {
    const [first] = Array.isArray(generations[0]) ? generations[0] : generations;
    return exchangeIn(objectOf(first)['message'] ?? objectOf(first)['text'], role);
  }
  if (Array.isArray(output)) return exchangeOfAll(output, role);
  if (typeof message === 'object' && message !== null) return exchangeIn(message, role);
  const words =
    object['role'] === undefined && object['content'] === undefined ? (prompt ?? input ?? output) : undefined;
  const { instructions } = object;
  const opening = typeof instructions === 'string' ? exchangeIn(instructions, 'system') : nothing;
  if (words !== undefined && words !== null) return joined(opening, exchangeIn(words, role));
  return readMessage(isNamed(object) ? object : { role, ...object });
}

/** Returns whether a message names who speaks, in its own way. */
const isNamed = ({ role, type, kwargs, lc }: JsonObject) =>
  role !== undefined ||
  kwargs !== undefined ||
  lc !== undefined ||
  /^(?:human|ai|system|tool)$/.test(textOf(type) ?? '');
