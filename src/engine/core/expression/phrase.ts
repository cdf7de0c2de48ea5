import { plain, wordsOf } from '../dialogue/text.ts';
import { containsWords } from '../dialogue/value.ts';

/** Words that may stand between the parts of a phrase. */
const gap = 6;

/**
 * Whether a text says a phrase: its words in their order, whatever their case, punctuation, contractions and plural
 * endings. `...` in a phrase stands for up to six words: "5 ... 7 business days" is said by "5 to 7 business days".
 */
export function saysPhrase(text: string, phrase: string): boolean {
  const said = wordsOf(plain(text));
  const parts = phrase.split(/\.{3}|\u2026/).map((part) => wordsOf(plain(part)));
  const [first = [], ...rest] = parts;
  if (rest.length === 0) return containsWords(said, first);
  return said.some((_, start) => follows(said, start, parts));
}

function follows(said: readonly string[], start: number, parts: readonly (readonly string[])[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return true;
  if (!part.every((word, at) => said[start + at] === word)) return false;
  if (rest.length === 0) return true;
  const end = start + part.length;
  return Array.from({ length: gap + 1 }, (_, skipped) => end + skipped).some((next) => follows(said, next, rest));
}

/** Amounts that a text states: numbers with a currency sign or with decimals, in order. */
export function amountsIn(text: string): readonly number[] {
  const found = text.matchAll(
    /(?:[$\u20ac\u00a3]\s?(\d[\d,]*(?:\.\d+)?))|(?:(\d[\d,]*(?:\.\d+)?)\s?(?:[$\u20ac\u00a3]|(?:eur|euros?|usd|dollars?|gbp|pounds?)\b))|(?<![\d.])(\d[\d,]*\.\d{1,2})(?!\d|\.\d|\s?(?:cm|kg|km|m|mm|ml|l|g)\b)/gi,
  );
  return [...found].map((match) => Number((match[1] ?? match[2] ?? match[3] ?? '').replaceAll(',', '')));
}

/** Every number in a text, without its sign, in order. */
export function numbersIn(text: string): readonly number[] {
  return (text.match(/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g) ?? []).map((each) =>
    Number(each.replaceAll(',', '')),
  );
}

/** Keys of a table that a text names, in the order of the text, each once. */
export function keysNamed(text: string, table: object): readonly string[] {
  const tokens = text.match(/[#\p{L}\p{N}_-]+/gu) ?? [];
  const found = tokens.flatMap((token) => {
    const bare = token.replace(/^-+|-+$/g, '');
    const forms = [bare, bare.toUpperCase(), bare.toLowerCase(), `#${bare}`, bare.replace(/^#/, '')];
    return forms.filter((form) => form !== '' && Object.hasOwn(table, form)).slice(0, 1);
  });
  return [...new Set(found)];
}
