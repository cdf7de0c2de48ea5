import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ToolCall } from '../../core/message.ts';
import type { Offered } from '../../core/tool.ts';

/** The tools of a seat as a chat endpoint is offered them. */
export function offered(tools: readonly Offered[]): ChatCompletionTool[] {
  return tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: tool.parameters } }));
}

/** Gives an id to the calls that came without one. */
export function named(calls: readonly ToolCall[], id: string): readonly ToolCall[] {
  return calls.map((call, index) => (call.id === '' ? { ...call, id: `${id}_${index}` } : call));
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
