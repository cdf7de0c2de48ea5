import { withoutFinalZeros } from '../text/text.ts';
import { memo } from '../values/memo.ts';

/** A text as its words, once with hyphens between letters taken out ("email") and once as spaces ("e mail"). */
type PhraseWords = { readonly joined: string; readonly split: string };

/** Scripts that are written without spaces, or with endings that have none: each of their letters is a word. */
const letterScripts =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]\p{M}*/gu;

/** Words; numbers with their sign, separators and letters of an id; signs of currencies and of percent; C# and C++. */
const word =
  /(?<![\p{L}\p{M}\p{N}])\p{L}(?:#|\+{1,2})(?![\p{L}\p{N}#+])|(?:(?<=^|[\s(:=\p{Sc}])-(?=\d))?[\p{L}\p{M}\p{N}]+(?:(?:(?<=\d)[.,:/](?=\d)|(?<=\p{L})'(?=\p{L}))[\p{L}\p{M}\p{N}]+)*|\p{Sc}|%/gu;

/**
 * Whether a text says a phrase: the same words and numbers in the same order, whatever their case, accents, quotes,
 * hyphens and other punctuation. A number is found as a whole only: 10 is not in W2010, 110, 10.50 or 2026-03-10, and
 * 1,000 and 1 000 are 1000. 1.000 can be read in two ways and equals only itself. The sign of a currency can be on either side.
 */
export function saysPhrase(text: string, phrase: string): boolean {
  const [said, wanted] = [phraseWords(text), phraseWords(phrase)];
  // A phrase of signs alone, such as an emoji, has no words.
  if (wanted.split.trim() === '') return folded(text).includes(folded(phrase).trim());
  return said.joined.includes(wanted.joined) || said.split.includes(wanted.split);
}

/** The words between spaces, so that a part of the text is a list of whole words. */
const phraseWords: (text: string) => PhraseWords = memo((text) => {
  const plain = folded(text);
  return { joined: listed(plain.replace(/(?<=\p{L})-(?=\p{L})/gu, '')), split: listed(plain) };
}, 2000);

function listed(text: string): string {
  // A hyphen behind a letter and before a digit belongs to an id: 10 is not in W-10.
  const words = text.replace(/(?<=\p{L})-(?=\d)/gu, '').match(word) ?? [];
  return ` ${words.flatMap(formsOf).join(' ')} `;
}

/** A number whose thousands are apart by spaces or apostrophes. */
const grouped =
  /(?<![\p{L}\p{N}.,:/-]|\d[ '\u2019\u00a0\u2009\u202f])[1-9]\d{0,2}(?:[ '\u2019\u00a0\u2009\u202f]\d{3})+(?![\p{L}\p{N}])/gu;
/** An id with a further part, such as P46-B: P46 is another one. */
const longId =
  /(?<![\p{L}\p{N}-])(\p{L}[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*)[-\u2010-\u2015](\p{N}+|\p{Lu}{1,3})(?![\p{L}\p{N}])/gu;
/** A date in figures, with the year first or last. */
const date =
  /(?<![\p{L}\p{N}-])(?:\d{4}[-\u2010-\u2012]\d{1,2}[-\u2010-\u2012]\d{1,2}|\d{1,2}[-\u2010-\u2012]\d{1,2}[-\u2010-\u2012]\d{4})(?!\p{N})/gu;
/** An amount with the sign of its currency behind it. */
const currencyBehind = /(?<![\p{L}\p{N}.,]|\p{Sc}\s?-?)(-?\d(?:[\d.,]*\d)?)\s?(\p{Sc})(?!\s?\d)/gu;

/** A text in lower case without accents and invisible signs, with straight quotes and plain hyphens. */
function folded(text: string): string {
  return (
    text
      // Before the normal form, in which an acute accent is a space with a mark.
      .replace(/[\u2018\u2019\u02bc\u00b4`]/g, "'")
      .replace(grouped, (number) => number.replace(/\D/g, ''))
      .replace(longId, '$1$2')
      .replace(date, (written) => written.replace(/\D/g, '/'))
      .replace(/(?<=^|[\s(:=\p{Sc}-])\.(?=\d)/gu, '0.')
      .replace(currencyBehind, '$2$1')
      .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '')
      // Some letters have another form in upper case only: ß is SS.
      .toUpperCase()
      .toLowerCase()
      .normalize('NFKD')
      // Marks of Latin, Greek and Cyrillic letters; those of other scripts are part of the word.
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .replace(/[\u2010-\u2015\u2212]/g, '-')
      .replace(letterScripts, ' $& ')
  );
}

/** The words that one is read as: a number in one form, without its unit; a name without its possessive ending. */
function formsOf(found: string): readonly string[] {
  const [, number, unit] = /^(-?\d[\d.,:/]*)(\p{L}*)$/u.exec(found) ?? [];
  if (number === undefined) {
    const [, owner, ending] = /^(.+)('s)$/.exec(found) ?? [];
    return owner === undefined || ending === undefined ? [found] : [owner, ending];
  }
  return [...numbersOf(number), ...(unit ? [unit] : [])];
}

/** One thousand in some languages, one with three decimals in others. */
const pointedThousand = /^-?[1-9]\d{0,2}\.\d{3}$/;

/** A number without the commas between thousands and the zeros behind its decimals; several where commas part them. */
function numbersOf(digits: string): readonly string[] {
  if (pointedThousand.test(digits)) return [digits];
  const isGrouped = /^-?(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?$/.test(digits);
  if (!isGrouped && /,.*,/.test(digits)) return digits.split(',').flatMap(numbersOf);
  const plain = isGrouped ? digits.replaceAll(',', '') : digits.replace(/^(-?\d+),(\d+)$/, '$1.$2');
  return [/^-?\d+\.\d+$/.test(plain) ? withoutFinalZeros(plain) : plain];
}
