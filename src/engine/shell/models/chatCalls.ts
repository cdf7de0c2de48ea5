import { serverToolName } from '../../core/domain/serverToolName.ts';
import { isToolName, type Offered } from '../../core/domain/tool.ts';
import { callsIn, type Message, type ToolCall } from '../../core/events/message.ts';
import { exactSchema } from '../../core/values/exactSchema.ts';
import { exactArguments } from '../../core/values/largeIntegers.ts';
import type { ChatCall, ChatMessage } from './chatMessage.ts';

/** The tools of a seat as a chat endpoint is offered them. */
export function offered(tools: readonly Offered[]) {
  return tools.map((tool) => {
    const parameters = exactSchema(tool.parameters);
    return { type: 'function' as const, function: parameters === tool.parameters ? tool : { ...tool, parameters } };
  });
}

/**
 * Returns calls with ids that are unique in their rollout: some endpoints send none, and some send the same ones again.
 * @param id what a made-up id begins with
 * @param taken ids of earlier calls of the rollout
 */
export function nameCalls(calls: readonly ToolCall[], id: string, taken: readonly string[]): readonly ToolCall[] {
  const used = new Set(taken);
  return calls.map((call, index) => {
    const own = freeId(call.id || `${id}_${index}`, used);
    used.add(own);
    return { ...call, id: own };
  });
}

/** Returns an id as it is, or with the first number that makes it unique. */
export function freeId(id: string, used: ReadonlySet<string>): string {
  let free = id;
  for (let count = 2; used.has(free); count += 1) free = `${id}_${count}`;
  return free;
}

/** Returns the ids of all calls of a conversation. */
export function idsOfCalls(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => callsIn(message).map(({ id }) => id));
}

/**
 * Returns calls as they are sent back to the endpoint. Servers parse the arguments of earlier calls and refuse the whole
 * request where they are not an object, so text that is not one goes back in an object.
 * @param tools those that the model is offered: where their schemas or the model had numbers, large ones are numbers again
 */
export function sentCalls(calls: readonly ToolCall[], tools: readonly Offered[] = []): readonly ChatCall[] {
  return calls.map((call) => {
    const { parameters = {} } = tools.find(({ name }) => name === call.name) ?? {};
    const text =
      typeof call.arguments === 'string'
        ? JSON.stringify({ arguments: call.arguments })
        : JSON.stringify(exactArguments(parameters, call.arguments, call.integers));
    return { id: call.id, type: 'function', function: { name: call.name, arguments: text } };
  });
}

/**
 * Returns a message as it is sent back: the name of a tool that was not offered is one that providers take. Several refuse
 * the whole request for another one, and all later requests with it.
 */
export function withSentNames(message: ChatMessage, tools: ReturnType<typeof offered>): ChatMessage {
  const isTaken = (name: string) => isToolName(name) || tools.some((tool) => tool.function.name === name);
  if (message.role !== 'assistant' || !message.tool_calls) return message;
  if (message.tool_calls.every((call) => isTaken(call.function.name))) return message;
  const calls = message.tool_calls.map((call) => {
    const { name, arguments: given } = call.function;
    return isTaken(name) ? call : { ...call, function: { name: serverToolName(name, {}), arguments: given } };
  });
  return { ...message, tool_calls: calls };
}
