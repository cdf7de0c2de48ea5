import type { EventOf, RolloutEvent } from './event.ts';
import type { ToolCall } from './message.ts';
import type { AgentReply, SeatView, UserReply } from './seat.ts';

/** The seats of a recording: each gives its recorded replies in order, and null when they are used up. */
export function recordedSeats(events: readonly RolloutEvent[]): {
  readonly agent: (view: SeatView) => AgentReply | null;
  readonly user: (view: SeatView) => UserReply | null;
} {
  const agentReplies = events.filter((event) => event.type === 'agentReplied');
  const userReplies = events.filter((event) => event.type === 'userReplied');
  return {
    agent: ({ messages }) => {
      const event = agentReplies[messages.filter(({ role }) => role === 'agent').length];
      return event ? agentReply(event) : null;
    },
    user: ({ messages }) => {
      const event = userReplies[messages.filter(({ role }) => role === 'user').length];
      if (!event) return null;
      const toolCalls = event.toolCalls as readonly ToolCall[] | undefined;
      return { content: event.content, stop: event.stop, ...(toolCalls ? { toolCalls } : {}) };
    },
  };
}

function agentReply({ content, reasoning, toolCalls, messageId }: EventOf<'agentReplied'>): AgentReply {
  return {
    content,
    toolCalls: toolCalls as readonly ToolCall[],
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(messageId === undefined ? {} : { messageId }),
  };
}
