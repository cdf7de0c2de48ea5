import { isTooDeep } from '../../core/values/nesting.ts';
import { type Fields, fieldsOf, isBlank } from './providerError.ts';

/** The names that the arguments of a call have: OpenAI's, Anthropic's and Cohere's. */
export const argumentNames: readonly string[] = ['arguments', 'input', 'parameters'];

/** The types of parts of a content that are calls. */
const callPart = /^(?:tool_use|tool_call|function_call)$/;

export const isGiven = (value: unknown) => value !== undefined && value !== null;

/** Whether a call says more than its place and its type. */
function isCall(call: unknown): boolean {
  const data = fieldsOf(call);
  return !isBlank(data ? { ...data, type: null, index: null } : call);
}

/** Returns the calls in a list that are not empty, or null if the value is not a list. */
export function callsInForm(calls: unknown): readonly unknown[] | null {
  return isGiven(calls) ? [calls].flat().filter(isCall).map(callInForm) : null;
}

/** Returns a call with its name and its arguments in `function`, where OpenAI has them. */
function callInForm(call: unknown): unknown {
  const data = fieldsOf(call);
  if (!data) return call;
  if (!isBlank(data['function'])) return { ...data, function: functionInForm(data['function']) };
  if (typeof data['name'] !== 'string') return call;
  const own = ['name', ...argumentNames];
  const entries = (isOwn: boolean) => Object.entries(data).filter(([name]) => own.includes(name) === isOwn);
  return {
    ...Object.fromEntries(entries(false)),
    function: functionInForm(Object.fromEntries(entries(true))),
  };
}

/** Returns a function with its arguments under that name, where it has them under another one. */
export function functionInForm(given: unknown): unknown {
  const data = fieldsOf(given);
  const name = data && argumentNames.find((each) => isGiven(data[each]));
  if (!name || name === 'arguments') return given;
  const { [name]: args, arguments: _, ...rest } = data;
  return { ...rest, arguments: args };
}

/** Returns a content without the parts that are calls, as Anthropic has them, and these calls. One part becomes a list. */
export function contentInForm(content: unknown): { readonly content: unknown; readonly calls: readonly unknown[] } {
  const parts = fieldsOf(content) ? [content] : content;
  if (!Array.isArray(parts)) return { content, calls: [] };
  const isCallPart = (part: unknown) => callPart.test(String(fieldsOf(part)?.['type']));
  const calls = parts.filter(isCallPart);
  if (calls.length === 0) return { content: parts, calls };
  const others = parts.filter((part) => !isCallPart(part));
  return { content: others.length > 0 ? others : null, calls };
}

export function withTextArguments(call: unknown): unknown {
  const data = fieldsOf(call);
  return data?.['function'] ? { ...data, function: functionInText(data['function']) } : call;
}

/** Returns a function whose arguments are a text, as OpenAI has them. */
export function functionInText(given: unknown): unknown {
  const own: Fields | undefined = fieldsOf(given);
  const { arguments: args } = own ?? {};
  if (!own || !isGiven(args) || typeof args === 'string') return given;
  return { ...own, arguments: isTooDeep(args) ? 'nested too deeply to be read' : JSON.stringify(args) };
}
