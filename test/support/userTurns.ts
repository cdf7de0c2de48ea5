import type { Domain } from '../../src/engine/core/domain/domain.ts';
import { personaOf, taskIn } from '../../src/engine/core/domain/taskVariant.ts';
import type { RolloutEvent, RolloutStarted } from '../../src/engine/core/events/event.ts';
import { type Message, messagesOf, type ToolCall } from '../../src/engine/core/events/message.ts';
import type { UserReply, UserView } from '../../src/engine/core/seats/seat.ts';

/** Returns each message of the user in a recording, with the view of its seat before it. */
export function userTurns(
  domain: Domain,
  events: readonly RolloutEvent[],
): readonly { readonly view: UserView; readonly reply: UserReply }[] {
  const [started] = events;
  if (started?.type !== 'rolloutStarted') throw new Error('a recording begins with rolloutStarted');
  const task = taskIn(domain, started.task.id);
  const persona = task && personaOf(domain, task);
  if (!task || !persona) throw new Error(`the domain has no task ${started.task.id}`);
  const messages: Message[] = [];
  const turns: { view: UserView; reply: UserReply }[] = [];
  const calls = new Map<string, string>();
  for (const [step, event] of events.entries()) {
    if (event.type === 'userReplied') {
      const { content, stop, toolCalls = [] } = event;
      const own = toolCalls as readonly ToolCall[];
      if (own.length === 0)
        turns.push({ view: viewOf(domain, task, persona, started, messages), reply: { content, stop } });
      for (const { id, name } of own) calls.set(id, name);
      messages.push({ role: 'user', step, content, ...(own.length > 0 ? { toolCalls: own } : {}) });
    } else if (event.type === 'agentReplied') {
      for (const { id, name } of event.toolCalls) calls.set(id, name);
      messages.push({ role: 'agent', step, content: event.content, toolCalls: event.toolCalls as never });
    } else if (event.type === 'toolReturned') {
      const { callId, content, isError, by } = event;
      const name = calls.get(callId) ?? '';
      messages.push({ role: 'tool', step, callId, name, content, isError, ...(by === 'user' ? { by } : {}) });
    }
  }
  return turns;
}

function viewOf(
  domain: Domain,
  task: UserView['task'],
  persona: UserView['persona'],
  started: RolloutStarted,
  messages: readonly Message[],
): UserView {
  return { domain, task, persona, started, messages: [...messagesOf('user', messages)] };
}
