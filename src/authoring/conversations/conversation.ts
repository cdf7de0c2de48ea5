import type { Offered } from '../../engine/core/domain/tool.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import type { ToolCall } from '../../engine/core/events/message.ts';
import { withoutThoughts } from '../../engine/core/events/thoughts.ts';
import type { JsonObject } from '../../engine/core/values/json.ts';

/** A part of a file that could not be read, or could only be read in a changed form. */
export type ImportProblem = { readonly file: string; readonly line: number; readonly message: string };

/** A message of a conversation from outside, with its line in the file and its number there, from 1. */
export type SpokenMessage = { readonly line: number; readonly number: number } & (
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'agent';
      readonly content: string | null;
      readonly reasoning?: string;
      readonly calls: readonly ToolCall[];
    }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string; readonly isError: boolean }
);

/** A conversation that was not rehearsed: from a log of chats, or from spans. */
export type Conversation = {
  /** Its id in the source; null if it has none there. */
  readonly id: string | null;
  readonly file: string;
  /** The line on which it begins. */
  readonly line: number;
  /** The task of the domain that it is of, where its source names one. */
  readonly task?: string | undefined;
  /** The tools that the agent was shown, where its source has them. */
  readonly tools?: readonly Offered[] | undefined;
  /** Whether it was logged as a request of a model with its answer: the next request repeats it. */
  readonly isRequest?: boolean | undefined;
  readonly messages: readonly SpokenMessage[];
  /** Messages that are not among them, since they can't be read. */
  readonly lost: readonly ImportProblem[];
};

/** The result of reading files of one format. */
export type Read = {
  readonly conversations: readonly Conversation[];
  readonly problems: readonly ImportProblem[];
  /** Parts left out on purpose, such as calls of a model apart from the conversation. */
  readonly notes: readonly ImportProblem[];
};

export type ReadConversations = Read & {
  /** The format that each file was read as. */
  readonly formats: readonly { readonly file: string; readonly format: string }[];
  /** Persons whom the logs declare outside of the messages, as fields such as `name` and `email`. */
  readonly persons: readonly JsonObject[];
};

/** Returns the agent's instructions before the conversation; null where its source has no system message. */
export function systemOf({ messages }: Conversation): string | null {
  const texts = messages.flatMap((each) => (each.role === 'system' ? [each.content] : []));
  return texts.length === 0 ? null : [...new Set(texts)].join('\n\n');
}

/** Returns a note where a recording cannot keep the place of a system message: it has them all at its start. */
export function movedSystem({ id, file, line, messages }: Conversation): readonly ImportProblem[] {
  const start = messages.findIndex(({ role }) => role !== 'system');
  const known = new Set(messages.slice(0, Math.max(0, start)).map(({ content }) => content));
  const moved = messages.slice(start).filter(({ role, content }) => role === 'system' && !known.has(content));
  if (start < 0 || moved.length === 0) return [];
  const what = moved.length === 1 ? 'a system message' : `${moved.length} system messages`;
  const message = `${id ?? 'a conversation'}: ${what} after the first message of the conversation moved to its start`;
  return [{ file, line: moved[0]?.line ?? line, message }];
}

/** An event, and the number of the message that it comes of. */
export type PlacedEvent = { readonly event: RolloutEvent; readonly place: number };

/** The events of a conversation. A call that was never answered is called and has no result. */
export function eventsOf({ messages }: Conversation): readonly PlacedEvent[] {
  const answers = Map.groupBy(
    messages.flatMap((each, index) => (each.role === 'tool' ? [{ ...each, index }] : [])),
    ({ callId }) => callId,
  );
  return messages.flatMap((message, index): readonly PlacedEvent[] => {
    const { number: place } = message;
    if (message.role === 'user')
      return [{ place, event: { type: 'userReplied', content: message.content, stop: null } }];
    if (message.role !== 'agent') return [];
    const { calls } = message;
    const spoken = withoutThoughts(message.content ?? '');
    const content = message.content === null ? null : spoken.content;
    const reasoning = [message.reasoning, spoken.thoughts].filter(Boolean).join('\n\n');
    const said = { type: 'agentReplied' as const, content, toolCalls: calls as ToolCall[] };
    const replied = { ...said, ...(reasoning === '' ? {} : { reasoning }) } as RolloutEvent;
    return [
      { place, event: replied },
      ...calls.flatMap((call) => {
        const answer = answers.get(call.id)?.find((each) => each.index > index);
        return eventsOfCall(call, place, answer);
      }),
    ];
  });
}

type Answer = SpokenMessage & { readonly role: 'tool' };

function eventsOfCall(call: ToolCall, place: number, answer: Answer | undefined): readonly PlacedEvent[] {
  const called: PlacedEvent = { place, event: { type: 'toolCalled', call: call as never } };
  if (!answer) return [called];
  const { callId, content, isError } = answer;
  return [called, { place: answer.number, event: { type: 'toolReturned', callId, content, isError } }];
}

/** Calls without a result and results without a call: what a conversation lacks to be whole. */
export function gapsIn({ file, messages }: Conversation): readonly ImportProblem[] {
  const calls = messages.flatMap((each, index) =>
    each.role === 'agent' ? each.calls.map((call) => ({ ...call, line: each.line, index })) : [],
  );
  const results = messages.flatMap((each, index) => (each.role === 'tool' ? [{ ...each, index }] : []));
  const resultsOf = Map.groupBy(results, ({ callId }) => callId);
  const callsOf = Map.groupBy(calls, ({ id }) => id);
  const open = calls.filter(({ id, index }) => !resultsOf.get(id)?.some((each) => each.index > index));
  const stray = results.filter(({ callId, index }) => !callsOf.get(callId)?.some((each) => each.index < index));
  return [
    ...open.map(({ line, name }) => ({ file, line, message: `the call of ${name} has no result in the log` })),
    ...stray.map(({ line, number }) => ({
      file,
      line,
      message: `message ${number} is the result of a call that is not in the log; it is left out`,
    })),
  ];
}
