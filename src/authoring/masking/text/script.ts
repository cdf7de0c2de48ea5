import { matchesOf } from './matches.ts';

/** Signs of Chinese, Japanese and Korean, which are written without spaces between the words, or with endings at them. */
export const eastAsian = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー`;

const sign = new RegExp(`[${eastAsian}]`, 'u');

/** Whether a text holds signs of Chinese, Japanese or Korean. */
export const isEastAsian = (text: string | undefined): boolean => text !== undefined && sign.test(text);

/**
 * The words of a text: runs of letters and digits. East Asian signs are words apart from the letters and digits beside
 * them: a phone number is right behind the word for it.
 */
export const wordPattern = new RegExp(String.raw`[${eastAsian}]+|[[\p{L}\p{N}]--[${eastAsian}]]+`, 'gv');

const firstWord = new RegExp(wordPattern.source, 'v');
const asciiWord = /[A-Za-z0-9]+/g;

export const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

/** Finds the words of a text. Without other signs than those of ASCII, a pattern without classes of Unicode is faster. */
export const matchWords = (text: string): Iterable<RegExpExecArray> =>
  matchesOf(isAscii(text) ? asciiWord : wordPattern, text);

/** Returns the first word of a text; undefined for a text without words. */
export const firstWordIn = (text: string): string | undefined =>
  (isAscii(text) ? /[A-Za-z0-9]+/ : firstWord).exec(text)?.[0];

const isWordSign = (text: string | undefined) => text !== undefined && /[\p{L}\p{N}]/u.test(text);

/** Reports whether two adjacent characters belong to one word. */
export function isJoined(before: string | undefined, after: string | undefined): boolean {
  return isWordSign(before) && isWordSign(after) && isEastAsian(before) === isEastAsian(after);
}

/** The pieces of a text between East Asian signs, with where they begin; the whole of a text without any. */
export function piecesApart(text: string): readonly { readonly text: string; readonly start: number }[] {
  if (!isEastAsian(text)) return [{ text, start: 0 }];
  return [...text.matchAll(new RegExp(`[^${eastAsian}]+`, 'gu'))].map(({ 0: piece, index }) => ({
    text: piece,
    start: index,
  }));
}
