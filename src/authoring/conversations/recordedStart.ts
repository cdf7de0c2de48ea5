import type { Domain } from '../../engine/core/domain/domain.ts';
import { systemPrompt } from '../../engine/core/domain/policy.ts';
import { type Task, taskHash } from '../../engine/core/domain/task.ts';
import type { RolloutStarted } from '../../engine/core/events/event.ts';
import { startOf } from '../../engine/shell/start.ts';
import { type Conversation, type SpokenMessage, systemOf } from './conversation.ts';

/** The name of both seats in a conversation that was not rehearsed. */
export const recorded = 'recorded';

/** In place of the task of a conversation that is of none. */
export const noTask: Task = {
  id: 'none',
  split: 'train',
  persona: '',
  user: { goal: '', known: {}, unknown: [] },
  state: [],
  actions: [],
  assertions: [],
  communicate: [],
  evaluate: ['database'],
  train: ['database'],
};

type Named = {
  readonly id: string;
  readonly trial: number;
  readonly seed: string;
  /** The task of the domain that the conversation is of; null for most. */
  readonly task: Task | null;
};

/**
 * Returns the start of a rollout that is a conversation from outside.
 * @param database hash of the domain's base database
 */
export function startOfConversation(
  domain: Domain,
  database: string,
  conversation: Conversation,
  { id, trial, seed, task }: Named,
): RolloutStarted {
  const { messages, tools } = conversation;
  const placeholder = { ...noTask, id };
  const seats = { agent: { type: 'human' }, user: { type: 'human' } } as const;
  const started = startOf(domain, database, task ?? noTask, { seed, trial, basis: 'evaluate', ...seats });
  const {
    callCap: _,
    callsPerResponse: __,
    messageCap: ___,
    closing: ____,
    greeting: _____,
    unreadableCalls: ______,
    ...rest
  } = started;
  const greeting = greetingOf(messages);
  return {
    ...rest,
    task: { id, hash: task ? taskHash(task) : '', split: task?.split ?? 'train' },
    // Nothing that the domain limits is to cut a conversation that continued.
    turnCap: messages.length + 1,
    toolErrorCap: messages.length + 1,
    seats: { agent: recorded, user: recorded },
    system: systemOf(conversation) ?? systemPrompt(domain, placeholder),
    ...(greeting === '' ? {} : { greeting }),
    ...(tools ? { tools: tools as RolloutStarted['tools'] } : {}),
  };
}

const isGreeting = (message: SpokenMessage) => message.role === 'agent' && message.calls.length === 0;

/** Returns how many messages the agent speaks first with, system messages aside. */
function greetingEnd(messages: readonly SpokenMessage[]): number {
  const end = messages.findIndex((each) => each.role !== 'system' && !isGreeting(each));
  return end < 0 || messages[end]?.role !== 'user' ? 0 : end;
}

function greetingOf(messages: readonly SpokenMessage[]): string {
  return messages
    .slice(0, greetingEnd(messages))
    .flatMap((each) => (each.role === 'agent' ? [each.content ?? ''] : []))
    .join('\n\n');
}

/** Returns a conversation without the words that its start has as the greeting. */
export const withoutGreeting = (conversation: Conversation): Conversation => ({
  ...conversation,
  messages: conversation.messages.slice(greetingEnd(conversation.messages)),
});
