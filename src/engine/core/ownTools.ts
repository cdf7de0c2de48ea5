import { type Instruction, instructionsIn } from './dialogue/instruction.ts';
import { contentHash } from './hash.ts';
import type { JsonObject } from './json.ts';
import { callsIn, type Message, type ToolCall } from './message.ts';
import type { SeatView } from './seat.ts';

/** What the user has done with its own tools since the agent last spoke, and what is still asked of it. */
export type Doing = {
  readonly asked: readonly Instruction[];
  readonly done: readonly Deed[];
  readonly next: Instruction | null;
};

/** A call of the user's with its result. */
export type Deed = Instruction & { readonly content: string; readonly isError: boolean };

/** Reads off the user's own view what the agent's last words ask it to do. */
export function doingOf({ domain, messages }: Pick<SeatView, 'domain' | 'messages'>): Doing {
  const spoken = messages.findLastIndex((message) => message.role === 'agent' && callsIn(message).length === 0);
  const text = spoken < 0 ? '' : (messages[spoken]?.content ?? '');
  const asked = instructionsIn(text, domain);
  const done = asked.length === 0 ? [] : deedsIn(messages.slice(spoken + 1));
  return { asked, done, next: asked[done.length] ?? null };
}

function deedsIn(messages: readonly Message[]): readonly Deed[] {
  const calls = messages.flatMap(callsIn);
  return messages.flatMap((message): Deed[] => {
    if (message.role !== 'tool') return [];
    const call = calls.find(({ id }) => id === message.callId);
    const { name: tool, content, isError } = message;
    return [{ tool, arguments: argumentsOf(call), content, isError }];
  });
}

const argumentsOf = (call: ToolCall | undefined): JsonObject =>
  call === undefined || typeof call.arguments === 'string' ? {} : call.arguments;

/** What the agent has asked the user to do, and what the user said to that. */
export type Instructed = Instruction & { readonly step: number; readonly answer: string; readonly hasFailed: boolean };

const failure =
  /^(?:(?:sorry|hm+|well|no|unfortunately|oh|i tried)\b[,.]? ?(?:but )?)*(?:(?:that|it|this) (?:did not|didn't|does not|doesn't|won't|will not) work|i (?:could not|couldn't|cannot|can't|was not able to|am not able to) do (?:that|it|this))\b/i;

/** Follows a conversation as it is spoken: an instruction is done when the user answers and does not say that it failed. */
export function instructedIn({ domain, messages }: Pick<SeatView, 'domain' | 'messages'>): readonly Instructed[] {
  const spoken = messages.filter((message) => message.role !== 'tool' && callsIn(message).length === 0);
  return spoken.flatMap((message, at): Instructed[] => {
    const answer = spoken[at + 1];
    if (message.role !== 'agent' || answer?.role !== 'user') return [];
    const asked = instructionsIn(message.content ?? '', domain);
    const isOpen = /\?\s*$/.test(answer.content) && answer.content.split(' ').length < 16;
    const hasFailed = isOpen || failure.test(answer.content);
    return asked.map((each) => ({ ...each, step: answer.step, answer: answer.content, hasFailed }));
  });
}

/** Equal for calls of the same tool with the same arguments. */
export function instructionKey({ tool, arguments: values }: Instruction): string {
  return `${tool} ${contentHash(values)}`;
}
