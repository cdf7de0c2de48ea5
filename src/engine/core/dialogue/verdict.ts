import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { isReport } from './agentSentence.ts';
import { hasAlternative } from './contrast.ts';
import { lists, patterns, words } from './patterns.ts';

const { openVerdict, openWord, awaited, movement, factQuestion, willed, inverted } = patterns.verdict;
const { announcements } = lists.verdict;

const nouns = new Set(words.verdict.nouns);
const states = new Set(words.verdict.states);
const deeds = new Set(words.verdict.deeds);
/** All words that a question for a verdict can have. */
const known = new Set([...nouns, ...states, ...words.verdict.deictics, ...words.verdict.functionWords]);
/**
 * Reports whether a question asks only for a verdict on what was said: every word of its last clause is a function
 * word, refers to what was said, or is a word of agreement. "Is that your final word?", "Your answer?", "Are we
 * agreed?"
 */
export function asksForVerdict(question: string): boolean {
  const clauses = clausesOf(question);
  const last = clauses.at(-1) ?? '';
  const clause = /^(?:then|please|sir|madam|mr \w+|now|so)$/.test(last) ? (clauses.at(-2) ?? last) : last;
  if (openWord.test(clause)) return openVerdict.test(clause) && isOfVerdict(clause);
  if (hasAlternative(clause)) return false;
  return isOfVerdict(clause);
}

/** Reports whether a clause has only words of a question for a verdict, and asks for one. */
function isOfVerdict(clause: string): boolean {
  const words = clause.match(/[a-z]+(?:-[a-z]+)*/g) ?? [];
  const isKnown = (word: string, at: number) =>
    known.has(word) ||
    (word === 'order' && words[at - 1] === 'in') ||
    (deeds.has(word) && /^(?:the|this|that|such)$/.test(words[at - 1] ?? ''));
  // Other words are not allowed, so "is that all right Boris" is not a question for a verdict.
  if (words.length === 0 || words.length > 14 || !words.every(isKnown)) return false;
  const isVerdict = words.some((word) => nouns.has(word) || states.has(word)) || /\bin order\b/.test(clause);
  const isWilled = willed.test(clause) || /\b(?:shall|should|may|can|could|will) (?:i|we)\b/.test(clause);
  return isVerdict ? !/\b(?:you|i|we) (?:have|had|got) (?:the|a|an)\b/.test(clause) : isWilled;
}

/** Reports whether a sentence invites a verdict on what is about to be done. */
export function invitesVerdict({ text, question }: Sentence): boolean {
  return question ? asksForVerdict(text) : awaited.test(text);
}

/**
 * Reports whether an utterance says what the agent is about to do, in any form, and does not only ask for something.
 */
export function announces(text: string): boolean {
  const sentences = sentencesOf(plain(text)).map((sentence) => sentence.text);
  if (sentences.some((sentence) => announcements.some((pattern) => pattern.test(sentence)))) return true;
  return sentences.some((sentence) => movement.test(sentence)) && !sentences.some(isReport);
}

/**
 * Returns the last question of an utterance if it can be a question for a yes without any of the usual words: it does
 * not ask for a fact and does not offer a choice. "And the boots of W1047, 139 to mastercard 1481 as well?"
 */
export function closedQuestionOf(text: string): string | null {
  const last = sentencesOf(plain(text)).findLast((each) => each.question);
  const isClosed = last && !factQuestion.test(last.text) && !hasAlternative(last.text);
  return isClosed ? last.text : null;
}

/** Reports whether a question is one that a no accepts: "Would you mind if I cancelled it?", "Any objections?" */
export function isInverted({ text, question }: Sentence): boolean {
  return question && inverted.test(text);
}
