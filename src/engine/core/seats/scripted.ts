import type { Task } from '../domain/task.ts';
import { numberFormsOf, type ToolCall } from '../events/message.ts';
import type { AgentReply, SeatView, UserReply } from './seat.ts';

/**
 * The agent's next turn of the task's script, or null when the script is used up or the task has none.
 * Its place in the script is the number of agent messages so far.
 */
export function scriptedAgent({ task, messages }: SeatView): AgentReply | null {
  const turn = task.script?.[messages.filter(({ role }) => role === 'agent').length];
  if (turn === undefined) return null;
  if (typeof turn === 'string') return { content: turn, toolCalls: [] };
  return { content: null, toolCalls: scriptedCalls(turn, `call_${messages.length}`) };
}

/**
 * The user's next turn of its script; when the script is used up, or there is none, it says goodbye and leaves. It also
 * leaves where the agent reached the cap on calls.
 */
export function scriptedUser({ task, messages, isCallCapReached = false }: SeatView): UserReply {
  if (isCallCapReached) return { content: 'Goodbye.', stop: 'gaveUp' };
  const turn = task.user.script?.[messages.filter(({ role }) => role === 'user').length];
  const { otherwise } = task.user;
  if (turn === undefined && otherwise !== undefined) return { content: otherwise, stop: null };
  if (turn === undefined) return { content: 'Goodbye.', stop: 'done' };
  if (typeof turn === 'string') return { content: turn, stop: null };
  return { content: '', stop: null, toolCalls: scriptedCalls(turn, `user_call_${messages.length}`) };
}

type Calls = Exclude<NonNullable<Task['script']>[number], string>;

function scriptedCalls(calls: Calls, id: string): readonly ToolCall[] {
  return calls.map(({ tool, arguments: values, ...forms }, at) => ({
    id: calls.length === 1 ? id : `${id}_${at}`,
    name: tool,
    arguments: values,
    ...numberFormsOf(forms),
  }));
}
