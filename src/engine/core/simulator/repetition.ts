import { recogniseUser } from '../dialogue/userActs.ts';
import type { UserView } from '../seats/seat.ts';
import { wordsOf } from '../text/text.ts';
import { turnsOf } from './turns.ts';

/** Whether the user goes in circles: within its text, or by what it said before although the agent has moved on. */
export function repetition(view: UserView, content: string): string | null {
  if (isStuck(content)) return 'it repeats itself within one message';
  const turns = turnsOf(view.messages);
  const own = turns.flatMap((turn, at) => (turn.role === 'user' ? [{ ...turn, at }] : []));
  const text = spelled(content);
  if (text.split(' ').length < 4 || recogniseUser(content).confirms) return null;
  const same = own.filter((turn) => spelled(turn.content) === text);
  const last = same.at(-1);
  if (!last) return null;
  const isAnswerAgain = same.every(({ at }) => spelled(turns[at - 1]?.content ?? '') === heardLast(turns));
  const isInARow = own.at(-1)?.at === last.at;
  if (isAnswerAgain || (!isInARow && same.length < 2)) return null;
  return `it said exactly that before, and the agent has said something else since`;
}

/** One sentence three times, or one word five times in a row. */
function isStuck(content: string): boolean {
  const words = wordsOf(content);
  if (words.some((word, at) => at >= 4 && [1, 2, 3, 4].every((back) => words[at - back] === word))) return true;
  const sentences = content.split(/[.!?\n]+/).flatMap((each) => {
    const text = spelled(each);
    return text.split(' ').length >= 3 ? [text] : [];
  });
  return sentences.some((each) => sentences.filter((other) => other === each).length >= 3);
}

function heardLast(turns: readonly { readonly role: string; readonly content: string }[]): string {
  return spelled(turns.findLast(({ role }) => role === 'agent')?.content ?? '');
}

const spelled = (text: string) => wordsOf(text).join(' ');
