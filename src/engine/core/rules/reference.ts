import { namesValue } from '../dialogue/dialogue.ts';
import type { Lexicon } from '../dialogue/lexicon.ts';
import { literal } from '../text/literal.ts';
import { plain, wordsOf } from '../text/text.ts';
import { isSpoken, type Rivals } from './naming.ts';

/**
 * Whether a proposal points back at a value that was named before it: by a noun for its kind with a definite article
 * ("that card", "the card you paid with", "your speaker"), or by "there" where its lexicon asks "where". What it points
 * at is what the conversation named last of this kind, and alone.
 */
export function isReferredTo(
  proposal: string,
  value: string,
  rivals: Rivals,
  nouns: ReadonlySet<string>,
  earlier: readonly string[],
): boolean {
  if (!pointsBack(proposal, nouns)) return false;
  const isOther = (text: string) => rivals().some((rival) => rival.length > 1 && namesValue(text, rival));
  const last = earlier.findLast((text) => isSpoken(text, value, rivals) || isOther(text));
  return last !== undefined && isSpoken(last, value, rivals) && !isOther(last) && !hasTwin(last, value);
}

/** Whether a text has another value of the same form: "47 Church Road, Ashford" and "12 Park Street, Dunmore". */
function hasTwin(text: string, value: string): boolean {
  const words = value.split(' ');
  if (words.length < 3 || !/\d/.test(value) || !/\p{Lu}/u.test(value)) return false;
  const shape = words.map((word) =>
    literal(word)
      .replace(/\d+/g, '\\d+')
      .replace(/\p{Lu}[\p{L}'-]*/gu, "\\p{Lu}[\\p{L}'-]*"),
  );
  const found = text.match(new RegExp(shape.join(' '), 'gu')) ?? [];
  return found.some((each) => each !== value);
}

/** Returns what the kind of a value is called: its own noun, and the last words of its argument's name and lexicon. */
export function nounsFor(argument: string, value: string, { facts }: Lexicon): ReadonlySet<string> {
  const { label = '', synonyms = [] } = facts[argument] ?? {};
  const phrases = [argument.replaceAll('_', ' '), label, ...synonyms].map(wordsOf);
  const own = wordsOf(value).filter((word) => /^[a-z]{3,}$/.test(word));
  const head = own.length > 1 || /\d/.test(value) ? own.slice(-1) : [];
  const isPlace = phrases.some(([first]) => first === 'where');
  return new Set([...phrases.flatMap((words) => words.at(-1) ?? []), ...head, ...(isPlace ? ['there'] : [])]);
}

const definite = /^(?:that|this|the|your|same|original)$/;

function pointsBack(proposal: string, nouns: ReadonlySet<string>): boolean {
  const words = wordsOf(plain(proposal));
  return words.some(
    (word, at) =>
      nouns.has(word) &&
      (word === 'there'
        ? words[at + 1] !== 'is'
        : [words[at - 1], words[at - 2]].some((each) => definite.test(each ?? ''))),
  );
}
