import type { Offered } from '../../core/domain/tool.ts';
import type { RolloutStarted } from '../../core/events/event.ts';
import { callArguments, type Message, offeredNow, type ToolCall } from '../../core/events/message.ts';
import { jsonOf } from '../../core/values/json.ts';
import { deepest, isTooDeep } from '../../core/values/nesting.ts';
import { didYouMean } from '../source/nearest.ts';

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

/** Returns the tools that a seat can call at this point of the conversation. */
export function toolsOf(
  seat: 'agent' | 'user',
  { started, messages }: { readonly started: RolloutStarted; readonly messages: readonly Message[] },
): readonly Offered[] {
  return seat === 'agent' ? offeredNow(started.tools, messages) : (started.userTools ?? []);
}

/**
 * Reads the turn of a seat.
 * @param tools that the seat can call
 * @returns the turn, or a sentence that says what was expected
 */
export function turnFor(text: string, seat: 'agent' | 'user', tools: readonly Offered[]): Turn | string {
  const turn = parseTurn(text);
  if (typeof turn === 'string' || !turn.call) return turn;
  return callProblem(turn.call.name, seat, tools) ?? turn;
}

/** Returns why a person cannot call a tool of this name in the turn of a seat, or null. */
export function callProblem(name: string, seat: 'agent' | 'user', tools: readonly Offered[]): string | null {
  if (tools.length === 0) return `the ${seat} makes no calls: type what the ${seat} says`;
  const names = tools.map((tool) => tool.name);
  if (names.includes(name)) return null;
  return `the ${seat} has no tool "${name}". ${didYouMean(name, names, '/help lists the tools')}`;
}
