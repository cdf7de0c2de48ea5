import { answeredIn, callsIn, type Message, readArguments } from '../events/message.ts';
import { canonicalJson } from '../values/json.ts';
import { type Instruction, instructionsIn } from './instruction.ts';
import type { SeatView } from './seat.ts';

/** The user's actions with its own tools since the agent last spoke, and those that are still requested. */
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
  const open = done.reduce<readonly Instruction[]>((rest, deed) => {
    const at = rest.findIndex((each) => keyOf(each) === keyOf(deed));
    return at < 0 ? rest : rest.toSpliced(at, 1);
  }, asked);
  return { asked, done, next: open[0] ?? null };
}

const keyOf = ({ tool, arguments: values }: Instruction) => `${tool} ${canonicalJson(values)}`;

function deedsIn(messages: readonly Message[]): readonly Deed[] {
  return answeredIn(messages).map(({ call, result: { name: tool, content, isError } }) => {
    return { tool, arguments: readArguments(call), content, isError };
  });
}

/** An instruction that the agent gave the user, with the user's answer. */
export type Instructed = Instruction & { readonly step: number; readonly answer: string; readonly isError: boolean };

const failure =
  /^(?:(?:sorry|hm+|well|no|unfortunately|oh|i tried)\b[,.]? ?(?:but )?)*(?:(?:that|it|this) (?:did not|didn't|does not|doesn't|won't|will not) work|i (?:could not|couldn't|cannot|can't|was not able to|am not able to) do (?:that|it|this))\b/i;

/** A bare yes, or a question: the user has not done it yet. */
const agreement =
  /^(?:(?:yes|yeah|yep|sure|ok|okay|all right|alright|of course|certainly|right|fine|sounds good|please|please do|go ahead|will do|i will|one (?:moment|second)|just a (?:moment|second)|please proceed|i confirm|that is right|that's right)\b[\s,.!]*)+$/i;
const isOpen = (answer: string) =>
  agreement.test(answer.trim()) || (/\?\s*$/.test(answer) && answer.split(' ').length < 16);

/** Follows a conversation as it is spoken: the request is done when the user tells what came of it. */
export function instructedIn({ domain, messages }: Pick<SeatView, 'domain' | 'messages'>): readonly Instructed[] {
  const spoken = messages.filter((message) => message.role !== 'tool' && callsIn(message).length === 0);
  return spoken.flatMap((message, at): Instructed[] => {
    const answer = spoken[at + 1];
    if (message.role !== 'agent' || answer?.role !== 'user') return [];
    const asked = instructionsIn(message.content ?? '', domain);
    if (isOpen(answer.content)) return [];
    const isError = failure.test(answer.content);
    return asked.map((each) => ({ ...each, step: answer.step, answer: answer.content, isError }));
  });
}
