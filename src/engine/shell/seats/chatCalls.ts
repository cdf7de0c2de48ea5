import type { ChatCompletion, ChatCompletionTool } from 'openai/resources/chat/completions';
import { callArguments, type ToolCall } from '../../core/message.ts';
import type { Offered } from '../../core/tool.ts';

/** The tools of a seat as a chat endpoint is offered them. */
export function offered(tools: readonly Offered[]): ChatCompletionTool[] {
  return tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: tool.parameters } }));
}

/** The calls of an answer; `id` is for those that come without one. */
export function callsOf(
  { tool_calls: made = [] }: ChatCompletion['choices'][0]['message'],
  id: string,
): readonly ToolCall[] {
  return made.flatMap((call, index): ToolCall[] =>
    call.type === 'function'
      ? [{ id: call.id || `${id}_${index}`, name: call.function.name, ...callArguments(call.function.arguments) }]
      : [],
  );
}

/** Calls as they are sent back to the endpoint. */
export function sentCalls(calls: readonly ToolCall[]) {
  return calls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
}
