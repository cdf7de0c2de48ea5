import type { Dialect } from '../engine/core/domain/dialect.ts';
import type { Offered } from '../engine/core/domain/tool.ts';
import type { RolloutEvent } from '../engine/core/events/event.ts';
import { type Message, messagesOf, type ToolCall } from '../engine/core/events/message.ts';
import { offered } from '../engine/shell/models/chatCalls.ts';
import type { ChatMessage } from '../engine/shell/models/chatMessage.ts';
import { chatOf } from '../engine/shell/models/chatRequest.ts';
import type { Selected } from './settle.ts';

/** A rollout as chat JSONL has it: `weight` is on each message of the agent, 1 where it is learned and 0 where not. */
export type ChatLine = Pick<Selected, 'recording' | 'domain' | 'task' | 'persona' | 'difficulty' | 'outcome'> & {
  readonly messages: readonly (ChatMessage & { readonly weight?: 0 | 1 })[];
  readonly tools: ReturnType<typeof offered>;
  /** The dialect in which the trainer renders its tools and calls. */
  readonly dialect: Dialect;
};

/** The conversation as the agent's model saw it; null where its tools changed midway, which one line can't say. */
export function chatLine(events: readonly RolloutEvent[], row: Selected, dialect: Dialect): ChatLine | null {
  const [started] = events;
  if (started?.type !== 'rolloutStarted') throw new Error('a recording begins with rolloutStarted');
  if (events.some((event) => event.type === 'userReplied' && event.tools)) return null;
  const seen = messagesOf('agent', events.flatMap(messageOf));
  const given = chatOf({ started, messages: [] });
  const said = seen.map((message) => {
    const [chat] = chatOf({ started: { ...started, system: '', greeting: undefined }, messages: [message] });
    return { chat, message };
  });
  const { recording, domain, task, persona, difficulty, outcome } = row;
  return {
    ...{ recording, domain, task, persona, difficulty, outcome, dialect },
    messages: [
      ...given.map((message) => (message.role === 'assistant' ? { ...message, weight: 0 as const } : message)),
      ...said.flatMap(({ chat, message }) => {
        if (!chat) return [];
        if (message.role !== 'agent') return [chat];
        return [{ ...chat, weight: row.withheld.includes(message.step) ? (0 as const) : (1 as const) }];
      }),
    ],
    tools: offered(started.tools as readonly Offered[]),
  };
}

function messageOf(event: RolloutEvent, step: number): readonly Message[] {
  switch (event.type) {
    case 'userReplied': {
      const toolCalls = event.toolCalls as readonly ToolCall[] | undefined;
      return [{ role: 'user', step, content: event.content, ...(toolCalls ? { toolCalls } : {}) }];
    }
    case 'agentReplied':
      return [{ role: 'agent', step, content: event.content, toolCalls: event.toolCalls as readonly ToolCall[] }];
    case 'toolReturned': {
      const { callId, content, isError, by } = event;
      return [{ role: 'tool', step, callId, name: '', content, isError, ...(by ? { by } : {}) }];
    }
    default:
      return [];
  }
}
