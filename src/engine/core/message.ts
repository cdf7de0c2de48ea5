import * as z from 'zod';
import type { JsonObject } from './json.ts';
import type { Side } from './tool.ts';

/**
 * One call of a tool by a seat. `arguments` is the parsed object, or the raw text
 * when what the model wrote was not a JSON object; the engine answers that with an error result.
 */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.union([z.record(z.string(), z.json()), z.string()]),
});
export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject | string;
};

/**
 * One message of the conversation as the engine keeps it. `step` is the number of the event it came
 * from, so that every view can lead back to the recording. A text beside tool calls is kept but never shown to
 * the other seat.
 */
export type Message =
  | {
      readonly role: 'agent';
      readonly step: number;
      readonly content: string | null;
      readonly reasoning?: string;
      readonly toolCalls: readonly ToolCall[];
      /** Identity given by the endpoint (the gateway matches returning messages by it). */
      readonly messageId?: string;
    }
  | {
      readonly role: 'user';
      readonly step: number;
      readonly content: string;
      /** Calls of the user's own tools; the text beside them is said to nobody. */
      readonly toolCalls?: readonly ToolCall[];
    }
  | {
      readonly role: 'tool';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
      /** The seat that made the call and sees the result, where it is not the agent's. */
      readonly by?: 'user';
    };

/** What the two seats said to each other: no tool results, no text that accompanied a call. */
export type Utterance = { readonly role: 'agent' | 'user'; readonly step: number; readonly content: string };

/** The spoken part of a conversation, as the user's seat hears it. */
export function utterancesOf(messages: readonly Message[]): readonly Utterance[] {
  return messages.flatMap((message): Utterance[] => {
    if (message.role === 'tool' || callsIn(message).length > 0) return [];
    return message.content ? [{ role: message.role, step: message.step, content: message.content }] : [];
  });
}

/** The arguments of a call as an object, or their raw text where they are none. */
export function parsedArguments(text: string): JsonObject | string {
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : text;
  } catch {
    return text;
  }
}

/** The fields of a tool's result that is a JSON object; none of any other. */
export function fieldsOf(content: string): JsonObject {
  const fields = parsedArguments(content);
  return typeof fields === 'string' ? {} : fields;
}

/** A call as people read it: `get_order({"order_id":"W1"})`. */
export function callText({ name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${name}(${typeof given === 'string' ? given : JSON.stringify(given)})`;
}

/** The calls that a message makes. */
export function callsIn(message: Message): readonly ToolCall[] {
  return message.role === 'tool' ? [] : (message.toolCalls ?? []);
}

/** What a seat sees of a conversation: what was said, and its own calls with their results. */
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
