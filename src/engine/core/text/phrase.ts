import { memo } from '../values/memo.ts';
import { plain, wordsOf } from './text.ts';
import { containsWords } from './value.ts';

/** Words that may be between the parts of a phrase. */
const gap = 6;

/** Returns phrases as a list: a rule may name one of them alone. */
export const phrasesIn = (phrases: string | readonly string[]): readonly string[] =>
  typeof phrases === 'string' ? [phrases] : phrases;

/**
 * Whether a text says one of several phrases: its words in their order, whatever their case, punctuation, contractions and
 * plural endings. `...` in a phrase matches up to six words: "5 ... 7 business days" matches "5 to 7 business days".
 */
export function saysAny(text: string, phrases: readonly string[]): boolean {
  const said = wordsOf(plain(text));
  return phrases.some((phrase) => {
    const parts = partsOf(phrase);
    const [first = []] = parts;
    return parts.length === 1 ? containsWords(said, first) : said.some((_, start) => follows(said, start, parts));
  });
}

const partsOf = memo(
  (phrase): readonly (readonly string[])[] => phrase.split(/\.{3}|\u2026/).map((part) => wordsOf(plain(part))),
  4000,
);

/**
 * Whether a text has the words of a value of two words or more in their order, with up to six others between, whatever
 * the endings of the verbs: "because you no longer need it" has "no longer needed". Dates, times and other values with
 * numbers side by side are one word: "2026-03-09 at 10:00" does not have "09:00".
 */
export function saysInOrder(text: string, value: string): boolean {
  if (/\d[^\p{L}\d]+\d/u.test(value)) return false;
  const stems = stemsOf(value).map((stem) => [stem]);
  const said = stemsOf(text);
  return stems.length > 1 && said.some((_, start) => follows(said, start, stems));
}

const stemsOf = memo((words): readonly string[] =>
  wordsOf(plain(words)).map((word) => (word.length > 5 ? word.replace(/(?:ed|ing)$/, '') : word)),
);

function follows(said: readonly string[], start: number, parts: readonly (readonly string[])[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return true;
  if (!part.every((word, at) => said[start + at] === word)) return false;
  if (rest.length === 0) return true;
  const end = start + part.length;
  return Array.from({ length: gap + 1 }, (_, skipped) => end + skipped).some((next) => follows(said, next, rest));
}

const marked = String.raw`(?:[$€£]\s?(\d[\d,]*(?:\.\d+)?))|(?:(\d[\d,]*(?:\.\d+)?)\s?(?:[$€£]|(?:eur|euros?|usd|dollars?|gbp|pounds?)\b))`;
const decimal = String.raw`(?<![\d.])(\d[\d,]*\.\d{1,2})(?!\d|\.\d|\s?(?:cm|kg|km|m|mm|ml|l|g)\b)`;
const counted = String.raw`(?!\d|[.,]\d|\s?(?:%|-|to \d|(?:business |working )?(?:days?|weeks?|hours?|months?|minutes?|times?|items?|orders?|pieces?|of)\b))`;
const said = String.raw`\b(?:total(?:s|ling)?|sum|altogether|together|comes? to|adds? up to|makes?|get|receive|refund|difference|cheaper by|costs?|price|save|instead of|extra|another)(?: is| are| of| to| that is| would be| will be)?,? (\d[\d,]*)${counted}|(?<![\w.-])(\d[\d,]*) (?:back|more|less|extra|cheaper|dearer|on top|in total|in all|altogether|together)\b`;
const amount = new RegExp([marked, decimal, said].join('|'), 'gi');

/** Amounts that a text states, in order: numbers with a currency sign, with decimals, or said about a sum of money. */
export const amountsIn = memo((text): readonly number[] => {
  const found = [...text.matchAll(amount)].map((match) => match.slice(1).find((part) => part !== undefined) ?? '');
  return found.map((each) => Number(each.replaceAll(',', '')));
});

/** Every number in a text, without its sign, in order. */
export function numbersIn(text: string): readonly number[] {
  return (text.match(/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g) ?? []).map((each) =>
    Number(each.replaceAll(',', '')),
  );
}

const promising = new Set(['within', 'in', 'take', 'about', 'to', 'least', 'most', 'another']);
const units = new Set(['minute', 'hour', 'day', 'week', 'month', 'year']);
const unnumbered =
  /\b(?:within|in|under|takes?|another) (?:about |just |less than |under )?(half an?|an?|the|one|a couple of|a few) (?:(?:business|working|full) )?(?:hour|day|week|month)s?\b(?! ago)/g;

/**
 * Lengths of time that a text promises: the numbers of "within 5 to 7 business days", and half of "in half an hour", but
 * not of "20 days ago".
 */
export const durationsIn = memo((text): readonly number[] => {
  const words = wordsOf(text);
  const numbered = words.flatMap((word, at) => {
    if (!promising.has(word) || !/^\d+$/.test(words[at + 1] ?? '')) return [];
    const unit = words.findIndex((each, index) => index > at + 1 && index <= at + 5 && units.has(each));
    if (unit < 0 || words[unit + 1] === 'ago') return [];
    return words.slice(at + 1, unit).flatMap((each) => (/^\d+$/.test(each) ? [Number(each)] : []));
  });
  return [...numbered, ...[...plain(text).matchAll(unnumbered)].map(([, count = '']) => lengthOf(count))];
});

function lengthOf(count: string): number {
  if (count.startsWith('half')) return 0.5;
  return count.endsWith(' of') ? 2 : count.endsWith('few') ? 3 : 1;
}

/** Keys of a table that a text names, in the order of the text, each once. */
export function keysNamed(text: string, table: object): readonly string[] {
  const found = formsIn(text).flatMap((forms) => forms.find((form) => Object.hasOwn(table, form)) ?? []);
  return [...new Set(found)];
}

/** Returns the forms that each word of a text may have as a key. */
const formsIn = memo((text): readonly (readonly string[])[] =>
  (text.match(/[#\p{L}\p{N}_-]+/gu) ?? []).map((token) => {
    const bare = token.replace(/^-+|-+$/g, '');
    const forms = [bare, bare.toUpperCase(), bare.toLowerCase(), `#${bare}`, bare.replace(/^#/, '')];
    return [...new Set(forms)].filter((form) => form !== '');
  }),
);

const item = /^\s*(?:[-*\u2022]|\d+[.)])\s+/;

/** The sentences of a text, as they are there; each line of a list with what introduces it. */
export function textSentences(text: string): readonly string[] {
  let intro = '';
  return text.split(/\n+/).flatMap((line) => {
    if (item.test(line) && intro !== '') return [`${intro} ${line.replace(item, '')}`];
    const sentences = line.split(/(?<=[.!?]["')\]]*)\s+|(?<=;)\s+/).filter((sentence) => sentence.trim() !== '');
    const last = sentences.at(-1) ?? '';
    if (last !== '') intro = /:\W*$/.test(last) ? last : '';
    return sentences;
  });
}

/** Its sentences, parted where they continue with something opposed or a reason: "white is gone, but oak is there". */
export function textClauses(text: string): readonly string[] {
  return textSentences(text).flatMap((sentence) =>
    sentence.split(/[,;]?\s+(?=(?:but|however|though|although|whereas|while|yet|so|because)\b)/i),
  );
}
