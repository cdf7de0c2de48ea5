import type { Side } from '../domain/tool.ts';
import { answeredIn, type Message, readArguments, type ToolMessage } from '../events/message.ts';
import { type Json, type JsonObject, jsonOrText } from '../values/json.ts';

/** A call with its result, as expressions see it. */
export type MadeCall = {
  readonly tool: string;
  readonly args: JsonObject;
  /** The data that the tool returned, or its text where that is not JSON. */
  readonly result: Json;
  readonly failed: boolean;
  /** The seat that made it. */
  readonly by: Side;
  /** Number of the event that brought the result. */
  readonly step: number;
};

const results = new WeakMap<ToolMessage, Json>();

/** The calls of a conversation that have a result, in their order. */
export function callsOf(messages: readonly Message[]): readonly MadeCall[] {
  return answeredIn(messages).map(({ call, result }) => madeCall(result, readArguments(call)));
}

/** The result is parsed when it is first read: most calls of most conversations are only counted. */
function madeCall(message: ToolMessage, args: JsonObject): MadeCall {
  const { name: tool, isError: failed, by = 'agent', step } = message;
  return {
    tool,
    args,
    get result() {
      return resultOf(message);
    },
    failed,
    by,
    step,
  };
}

function resultOf(message: ToolMessage): Json {
  const known = results.get(message);
  if (known !== undefined) return known;
  const result = jsonOrText(message.content);
  results.set(message, result);
  return result;
}

/** Whether an error reads as one that may pass: an outage, a time-out, a limit of the rate. */
export function isTransient(content: string): boolean {
  return /\b(?:time[d]? ?out|temporar\w*|try again|unavailable|rate limit|busy|overloaded|retry)\b/i.test(content);
}
