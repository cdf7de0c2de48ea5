import type { AgentReply, SeatView } from './seat.ts';

/**
 * The agent's next turn of the task's script, or null when the script is used up or the task has none.
 * Its place in the script is the number of agent messages so far.
 */
export function scriptedAgent({ task, messages }: SeatView): AgentReply | null {
  const turn = task.script?.[messages.filter(({ role }) => role === 'agent').length];
  if (turn === undefined) return null;
  if (typeof turn === 'string') return { content: turn, toolCalls: [] };
  const toolCalls = turn.map(({ tool, arguments: values }, at) => ({
    id: turn.length === 1 ? `call_${messages.length}` : `call_${messages.length}_${at}`,
    name: tool,
    arguments: values,
  }));
  return { content: null, toolCalls };
}
