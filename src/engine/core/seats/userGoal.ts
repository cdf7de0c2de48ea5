import type { Task } from '../domain/task.ts';
import { type Facts, factsOf, tells } from '../events/facts.ts';
import { capitalized } from '../text/capitalized.ts';
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

/** An address or an id is repeated as it is written. */
const beginsWithWord = /^\p{L}[\p{L}\p{M}'’-]*(?=[\s,;:.!?]|$)(?!\.\S)/u;

/** Returns what the user wants, to be said again: its last word on it, without greetings. */
export function userGoalOf(task: Task, isChanged: boolean): string {
  const said = isChanged ? task.user.change?.say : task.user.opening;
  const bare = withoutGreeting(said ?? firstPerson(firstSentence(task.user.goal)));
  return beginsWithWord.test(bare) ? capitalized(bare) : bare;
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
  return capitalized(
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

/**
 * Returns the sentences of a text that tell no value, or else its clauses that tell none. A text that has neither says only
 * that help is needed: a sentence with a hole in it is not one that a person writes.
 */
function withoutValues(text: string, facts: Facts): string {
  const isSilent = (part: string) => !Object.values(facts).some((fact) => tells(part, fact));
  const sentences = text.split(/(?<=[.!?]) (?=[A-Z])/);
  const silent = sentences.filter(isSilent);
  if (isMeaningful(silent.join(' '))) return silent.join(' ');
  const clauses = sentences.map((sentence) => silentClauses(sentence, isSilent)).filter((part) => part !== '');
  if (isMeaningful(clauses.join(' '))) return clauses.join(' ');
  return [...silent, 'I need your help with something.'].join(' ');
}

/** More words than a greeting has. */
const isMeaningful = (text: string) => wordsOf(withoutGreeting(text)).length > 3;

/** Returns the clauses at the beginning of a sentence, up to the first that tells a value, as a sentence. */
function silentClauses(sentence: string, isSilent: (part: string) => boolean): string {
  const clauses = sentence.split(/(?=[,;:]? (?:and|but|because|since|so|which|who) )|(?=[,;:] | - )/);
  const first = clauses.findIndex((clause) => !isSilent(clause));
  const kept = clauses
    .slice(0, first < 0 ? clauses.length : first)
    .join('')
    .replace(/[\s,;:-]+$/, '');
  return kept === '' || /[.!?]$/.test(kept) ? kept : `${kept}.`;
}
