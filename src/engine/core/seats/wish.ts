import type { Task } from '../domain/task.ts';
import { type Facts, factsOf, tells } from '../events/facts.ts';
import { wordsOf } from '../text/text.ts';
import { memo } from '../values/memo.ts';
import { speech } from './agendaSpeech.ts';
import type { SeatView } from './seat.ts';

/**
 * The user's first words: the task's opening, else its goal in the first person. A persona that omits leaves
 * out what it knows, unless the opening as it is written leaves something out already.
 */
export function openingOf(view: SeatView): string {
  const { task, persona } = view;
  const { opening } = task.user;
  const facts = factsOf(task, false);
  const full = opening ?? speech(persona.style, view.random).opening(firstPerson(firstSentence(task.user.goal)));
  const tellsAll = Object.values(facts).every((fact) => tells(full, fact));
  return persona.behaviours.omits && (tellsAll || opening === undefined) ? withoutValues(full, facts) : full;
}

/** Returns what the user wants, to be said again: its last word on it, without greetings. */
export function wishOf(task: Task, isChanged: boolean): string {
  const said = isChanged ? task.user.change?.say : task.user.opening;
  return upper(withoutGreeting(said ?? firstPerson(firstSentence(task.user.goal))));
}

function withoutGreeting(text: string): string {
  const bare = text.replace(
    /^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|no|sorry|wait|oh no|oh|actually)(?: there)?[,.!]? *)+/i,
    '',
  );
  return bare === '' ? text : bare;
}

/** "You want to cancel your order." -> "I want to cancel my order." */
const firstPerson = memo(inFirstPerson, 200);

function inFirstPerson(text: string): string {
  const swaps: Readonly<Record<string, string>> = {
    "you're": "I'm",
    "you've": "I've",
    "you'd": "I'd",
    yours: 'mine',
    yourself: 'myself',
    your: 'my',
  };
  return upper(
    text
      .replace(/\byou are\b/gi, 'I am')
      .replace(/\byou were\b/gi, 'I was')
      .replace(
        /\b(to|for|with|from|at|of|by|about|give|gives|sent|send|charged|tell|told) you\b(?! (?:want|need|have|know|would|are))/gi,
        '$1 me',
      )
      .replace(/\b(?:you're|you've|you'd|yours|yourself|your)\b/gi, (found) => swaps[found.toLowerCase()] ?? found)
      .replace(/\byou\b/gi, 'I'),
  );
}

/** The first sentence that says something beyond who the user is. */
function firstSentence(goal: string): string {
  const sentences = goal
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.!?]) (?=[A-Z])/);
  return sentences.find((sentence) => !/^You are [A-Z]/.test(sentence)) ?? sentences[0] ?? goal;
}

/** Without the sentences that tell a value; where that would leave nothing, without the values themselves. */
function withoutValues(text: string, facts: Facts): string {
  const names = Object.values(facts);
  const sentences = text.split(/(?<=[.!?]) (?=[A-Z])/);
  const silent = sentences.filter((sentence) => !names.some((fact) => tells(sentence, fact)));
  if (silent.some((sentence) => wordsOf(sentence).length > 3)) return silent.join(' ');
  const cut = names.reduce((now, { value, say }) => withoutValue(withoutValue(now, say), String(value)), text);
  return cut
    .replace(/\s+([,.!?])/g, '$1')
    .replace(/\s{2,}/g, ' ')
    .trim();
}

function withoutValue(text: string, value: string): string {
  const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lead = '(?:,? ?\\b(?:to|from|at|on|in|with|for|of|is|as|because|number|no\\.?|id|by) )?(?:the |a |an )?#?';
  return text.replace(new RegExp(`${lead}(?<![\\p{L}\\d])${escaped}(?![\\p{L}\\d])`, 'giu'), '');
}

const upper = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
