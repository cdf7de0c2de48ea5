import { isAlsoWord } from './names.ts';
import { isAscii } from './text/script.ts';
import { withoutAccents } from './text/valueIndex.ts';

/** A word of a name. */
export const nameWord = /\p{L}[\p{L}\p{M}'’]*[\p{L}\p{M}]/gu;

const pairs = [
  ['ä', 'ae'],
  ['ö', 'oe'],
  ['ü', 'ue'],
  ['ß', 'ss'],
  ['å', 'aa'],
  ['æ', 'ae'],
  ['ø', 'oe'],
] as const;

/** Returns a word of a name with two letters for each umlaut: Mueller for Müller; null for a word without any. */
export function withTwoLetters(word: string): string | null {
  if (isAscii(word)) return null;
  const lower = word.normalize('NFC').toLowerCase();
  const made = pairs.reduce((text, [sign, letters]) => text.replaceAll(sign, letters), lower);
  return made === lower ? null : made;
}

/** Returns a word of a name with umlauts for what may be their two letters: Müller for Mueller. */
export function withUmlauts(word: string): string | null {
  if (isAscii(word) && !/[aou]e|ss/i.test(word)) return null;
  const lower = word.normalize('NFC').toLowerCase();
  const made = pairs.slice(0, 4).reduce((text, [sign, letters]) => text.replaceAll(letters, sign), lower);
  return made === lower || made.length < 3 ? null : made;
}

/** Returns the genitive of a name in German: Brauns for Braun. Names that are words as well have it as their plural. */
export const genitiveOf = (word: string): string | null =>
  word.length < 3 || /[sxzß]$/i.test(word) || isAlsoWord(word) ? null : `${word}s`;

/** The parts of a handle. */
type Handle = { readonly first: string; readonly last: string; readonly isInitial: boolean };

/** Returns what people call themselves where a name has no space, with what each is made of: jgarcia, josegarcia. */
export function handlesOf(words: readonly string[]): readonly { readonly handle: string; readonly of: Handle }[] {
  const [first = '', ...others] = words;
  if (first.length < 2) return [];
  return others.flatMap((last) => {
    if (last.length < 4) return [];
    const spellings = [withoutAccents(last), withTwoLetters(last) ?? ''].filter((each) => each !== '');
    return spellings.flatMap((each) => [
      { handle: `${withoutAccents(first)[0] ?? ''}${each}`, of: { first, last, isInitial: true } },
      { handle: `${withoutAccents(first)}${each}`, of: { first, last, isInitial: false } },
    ]);
  });
}
