import { isConfirmation, isProposal } from '../dialogue/dialogue.ts';
import { factsOf, recogniserOf, tells } from '../events/facts.ts';
import type { UserReply, UserView } from '../seats/seat.ts';
import { standingOf } from './direction.ts';
import { turnsOf } from './turns.ts';

type Stop = NonNullable<UserReply['stop']>;

const stopWords: readonly (readonly [RegExp, Stop])[] = [
  [/#{2,}\s*stop\s*#*/gi, 'done'],
  [/#{2,}\s*transfer\s*#*/gi, 'transferred'],
  [/#{2,}\s*out[-_ ]of[-_ ]scope\s*#*/gi, 'outOfScope'],
  [/#{2,}\s*give[-_ ]up\s*#*/gi, 'gaveUp'],
];

/** The reply of a model that plays the user, and a stop that was removed from it. */
export type Understood = { readonly reply: UserReply; readonly withheld: Stop | null };

/**
 * Reads a model's answer as a message of the user. The engine decides what stops: a stop word beside a yes to what was
 * proposed, or beside the answer to a question, is not one, since the agent still has to act on it.
 */
export function understood(text: string, view: UserView): Understood {
  const { stopWords: own } = view.domain.file;
  if (own) return { reply: byOwnWords(text, own), withheld: null };
  const found = stopWords.find(([pattern]) => text.search(pattern) >= 0)?.[1] ?? null;
  const content = stopWords
    .reduce((rest, [pattern]) => rest.replace(pattern, ' '), text)
    .replace(/^\s*(?:customer|user)\s*:\s*/i, '')
    .replace(/[ \t]{2,}/g, ' ')
    .trim();
  const isHeld = found !== null && isAwaited(content, view);
  return { reply: { content, stop: isHeld ? null : found }, withheld: isHeld ? found : null };
}

/** Reads an answer by the stop words of the domain, as the benchmark does from which it was imported. */
function byOwnWords(text: string, words: readonly string[]): UserReply {
  const word = words.find((each) => text.includes(each));
  const content = words.reduce((rest, each) => rest.replaceAll(each, ' '), text).trim();
  const stop = stopWords.find(([pattern]) => word?.search(pattern) === 0)?.[1] ?? 'done';
  return { content, stop: word === undefined ? null : stop };
}

/** Whether the agent waits for what this says. */
function isAwaited(content: string, view: UserView): boolean {
  const heard = turnsOf(view.messages).at(-1);
  if (heard?.role !== 'agent' || content === '') return false;
  if (isProposal(heard.content, view.domain.lexicon)) return isConfirmation(content, heard.content);
  const facts = factsOf(view.task, standingOf(view).isChanged);
  const { asks } = recogniserOf(view.domain, view.task).agent(heard.content);
  return asks.some((name) => facts[name] !== undefined && tells(content, facts[name]));
}
