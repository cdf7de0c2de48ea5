import type { Json } from '../values/json.ts';
import { memo } from '../values/memo.ts';
import { clockTimesIn, isClockTime } from './clockTime.ts';
import { wordsOf } from './text.ts';

export const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/**
 * Whether a text names a value: the same words in the same order, whatever their case, punctuation,
 * separators and plural endings, at word boundaries, so that "10" is not named by "100". Numbers may carry a
 * currency sign and thousands separators; an ISO date may be written with the month's name, and a time of day with am or
 * pm. Of a list or object in JSON every value must be named. An empty value is always named.
 */
export function namesValue(text: string, value: string): boolean {
  if (isClockTime(value)) return clockTimesIn(text).includes(clockTimesIn(value)[0] ?? '');
  const leaves = spellingsOf(value);
  if (leaves.length === 0) return true;
  const said = wordsOf(streetsInFull(text));
  return leaves.every((spellings) => spellings.some((words) => containsWords(said, words)));
}

/** Short forms of the words of an address, as they are written after a name: "12 Mill Ln". */
const fullStreetWords = new Map(
  'st:street rd:road ave:avenue av:avenue ln:lane cl:close clo:close ct:court dr:drive sq:square pl:place blvd:boulevard cres:crescent gdn:garden gdns:gardens ter:terrace terr:terrace hwy:highway pkwy:parkway apt:apartment'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
const shortStreetWord = new RegExp(`(?<=[\\p{L}\\d] )(?:${[...fullStreetWords.keys()].join('|')})\\b\\.?`, 'giu');

/** A text with the words of addresses written out: "12 Mill Ln" as "12 Mill lane". */
const streetsInFull: (text: string) => string = memo(
  (text) => text.replace(shortStreetWord, (word) => fullStreetWords.get(word.replace('.', '').toLowerCase()) ?? word),
  4000,
);

/** For each value that a text has to name, the words that name it. */
const spellingsOf: (value: string) => readonly (readonly (readonly string[])[])[] = memo((value) => {
  const leaves = jsonLeaves(value);
  return leaves ? leaves.flatMap(spellingsOf) : [wordings(value).map((each) => wordsOf(streetsInFull(each)))];
}, 4000);

function wordings(value: string): readonly string[] {
  const date = /^(\d{4})-(\d{2})-(\d{2})(?:$|T00:00)/.exec(value);
  const month = date ? months[Number(date[2]) - 1] : undefined;
  if (!date || !month) return [value];
  const day = String(Number(date[3]));
  const names = [month, month.slice(0, 3)];
  const ordinals = [day, `${day}st`, `${day}nd`, `${day}rd`, `${day}th`];
  return [
    date[0],
    `${day}.${Number(date[2])}.${date[1]}`,
    ...names.flatMap((name) =>
      ordinals.flatMap((each) => [`${name} ${each}`, `${each} ${name}`, `${each} of ${name}`]),
    ),
  ];
}

/** Whether consecutive words (of `wordsOf`) spell the value; words may be split or joined differently. */
export function containsWords(said: readonly string[], value: readonly string[]): boolean {
  if (value.length === 0) return true;
  const whole = value.length === 1 ? (value[0] ?? '') : value.join('');
  const first = whole.charCodeAt(0);
  for (let start = 0; start < said.length; start++) {
    const word = said[start] ?? '';
    // Most words differ in their first letter, and comparing that is much faster.
    if ((word !== '' && word.charCodeAt(0) !== first) || !whole.startsWith(word)) continue;
    if (value.every((each, at) => said[start + at] === each) || spells(said, start, whole)) return true;
  }
  return false;
}

function spells(said: readonly string[], start: number, whole: string): boolean {
  const isLongNumber = whole.length >= 6;
  let spelled = '';
  for (let at = start; at < said.length && spelled.length < whole.length; at++) {
    const word = said[at] ?? '';
    if (!isLongNumber && /\d$/.test(spelled) && /^\d/.test(word)) return false;
    spelled += word;
    if (!whole.startsWith(spelled)) return false;
  }
  return spelled === whole;
}

function jsonLeaves(value: string): readonly string[] | null {
  if (!/^\s*[[{]/.test(value)) return null;
  try {
    return leavesOf(JSON.parse(value));
  } catch {
    return null;
  }
}

/** The scalar values of a JSON value as texts, in order; null counts as no value. */
export function leavesOf(value: unknown): readonly string[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'object') return Object.values(value).flatMap(leavesOf);
  return [String(value)];
}

/** The keys of the objects within a JSON value, outer ones first. */
export function keysIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysIn)];
}

/** Returns a JSON value with others in place of its scalar values; null stays. */
export function mapLeaves(value: Json, change: (leaf: string | number | boolean) => Json): Json {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => mapLeaves(each, change));
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapLeaves(each, change)]));
  return change(value as string | number | boolean);
}

/** Returns a value of a database as a verdict shows it. */
export const shownValue = (value: Json | undefined, most = Number.POSITIVE_INFINITY): string =>
  value === undefined ? 'missing' : JSON.stringify(value).slice(0, most);
