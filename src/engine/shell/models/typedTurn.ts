import { callArguments, type ToolCall } from '../../core/events/message.ts';
import { jsonOf } from '../../core/values/json.ts';
import { deepest, isTooDeep } from '../../core/values/nesting.ts';

/** A turn that a person typed: words, or one call. */
export type Turn =
  | { readonly content: string; readonly call?: never }
  | { readonly content: null; readonly call: Omit<ToolCall, 'id'> };

/**
 * Reads what a person typed as a turn: words, or `/call NAME {"argument": "value"}`.
 * @returns the turn, or a sentence that says what was expected
 */
export function parseTurn(text: string): Turn | string {
  const call = /^\/call(?:\s+(?<name>[\w.-]+))?\s*(?<rest>.*)$/s.exec(text.trim())?.groups;
  if (!call) return { content: text };
  const { name, rest = '' } = call;
  if (!name) return 'name the tool, and its arguments as JSON: /call TOOL {"argument": "value"}';
  if (isTooDeep(jsonOf(rest))) return `the arguments of ${name} are nested deeper than ${deepest} levels`;
  const given = callArguments(rest);
  if (typeof given.arguments !== 'string') return { content: null, call: { name, ...given } };
  return `the arguments of ${name} are not a JSON object: write names and texts in double quotes, as in /call ${name} {"argument": "value"}`;
}

/**
 * Reads the turn of a seat.
 * @returns the turn, or a sentence that says what was expected
 */
export function turnFor(text: string, seat: 'agent' | 'user', canCall: boolean): Turn | string {
  const turn = parseTurn(text);
  if (typeof turn !== 'string' && turn.call && !canCall)
    return `the ${seat} makes no calls: type what the ${seat} says`;
  return turn;
}
