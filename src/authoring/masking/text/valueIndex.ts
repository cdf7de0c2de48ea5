import { firstWordIn, isAscii, isEastAsian, isJoined, matchWords } from './script.ts';
import { composed } from './texts.ts';

/** A piece of a text; the end is exclusive. */
export type Span = { readonly start: number; readonly end: number };

/**
 * Returns a text in lower case that has as many places: of its signs only `İ` takes two there. The Turkish letters with
 * and without a dot are one, as they are in capitals elsewhere.
 */
const folded = (text: string) => (isAscii(text) ? text : text.replace(/[İı]/g, 'i')).toLowerCase();

/** Returns the same without accents and with one sign for an apostrophe, so that a name is found in all its spellings. */
export function withoutAccents(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return folded(text).replace(/[\u00c0-\u024f\u02bc\u0370-\u03ff\u1e00-\u1fff\u2018\u2019]/g, (sign) =>
    /[\u02bc\u2018\u2019]/.test(sign)
      ? "'"
      : sign === 'ø'
        ? 'o'
        : sign === 'ł'
          ? 'l'
          : sign === 'đ'
            ? 'd'
            : (sign.normalize('NFD')[0] ?? sign),
  );
}

/** Returns whether a piece is whole within one of the spans. It takes the same time for many spans as for a few. */
export function coverOf(spans: readonly Span[]): (piece: Span) => boolean {
  if (spans.length === 0) return () => false;
  const sorted = spans.toSorted((a, b) => a.start - b.start);
  const reaches: number[] = [];
  for (const { end } of sorted) reaches.push(Math.max(reaches.at(-1) ?? 0, end));
  return ({ start, end }) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.start ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    return (reaches[low - 1] ?? -1) >= end;
  };
}

/**
 * Values of one length, in lower case, that begin as far before their first word and have the same sign behind it; the sign
 * is empty where a value ends with that word. With what is known of each.
 */
type Group<Known> = {
  readonly lead: number;
  readonly length: number;
  readonly next: string;
  readonly values: Map<string, Known>;
};

/**
 * Values that are looked for in texts, whatever their case, by their first word; those that begin with an East Asian sign
 * by that sign, since no space tells there where a word begins. What finds one does not look at the others that begin
 * alike: thousands of phone numbers share their first word.
 */
export class ValueIndex<Known = true> {
  readonly #groups = new Map<string, Group<Known>[]>();
  readonly #folded: (text: string) => string;
  /** The text that was searched last, and in lower case: it is searched for each of its words. */
  #searched = { text: '', lower: '' };

  /** @param asFolded returns what is equal for values that are the same, with as many places */
  constructor(asFolded: (text: string) => string = folded) {
    this.#folded = asFolded;
  }

  /** Adds a value, in place of what was known of it. */
  set(value: string, known: Known): void {
    const lower = this.#folded(composed(value));
    const word = keyOf(lower);
    if (word === undefined) return;
    const [lead, { length }] = [lower.indexOf(word), lower];
    const next = lower.charAt(lead + word.length);
    const groups = this.#groups.get(word) ?? [];
    if (groups.length === 0) this.#groups.set(word, groups);
    const isOwn = (group: Group<Known>) => group.lead === lead && group.length === length && group.next === next;
    const group = groups.find(isOwn);
    if (group) group.values.set(lower, known);
    else groups.push({ lead, length, next, values: new Map([[lower, known]]) });
  }

  get(value: string): Known | undefined {
    const lower = this.#folded(composed(value));
    const word = keyOf(lower);
    const groups = word === undefined ? undefined : this.#groups.get(word);
    return groups?.find(({ length, values }) => length === lower.length && values.has(lower))?.values.get(lower);
  }

  has(value: string): boolean {
    return this.get(value) !== undefined;
  }

  *all(): Iterable<Known> {
    for (const groups of this.#groups.values()) for (const { values } of groups) yield* values.values();
  }

  /** The values that a text holds by the word of it that begins at a place. */
  at(text: string, word: string, index: number): readonly Found<Known>[] {
    if (this.#searched.text !== text) this.#searched = { text, lower: this.#folded(text) };
    const { lower } = this.#searched;
    const groups = this.#groups.get(lower.slice(index, index + word.length));
    return groups ? foundIn(groups, lower, index, lower.charAt(index + word.length)) : nothing;
  }

  /** Returns where a text holds one of the values whole, the longest first. */
  spansIn(text: string): readonly Span[] {
    const lower = this.#folded(text);
    const spans: Span[] = [];
    let done = 0;
    for (const { word, index } of wordsIn(lower)) {
      const groups = index < done ? undefined : this.#groups.get(word);
      if (!groups) continue;
      let found: Span | null = null;
      for (const { start, end } of foundIn(groups, lower, index, lower.charAt(index + word.length))) {
        if (end <= (found?.end ?? 0)) continue;
        const last = lower[end - 1];
        if (isEastAsian(last) || !isJoined(last, lower[end])) found = { start, end };
      }
      if (!found) continue;
      spans.push(found);
      done = found.end;
    }
    return spans;
  }
}

type Found<Known> = Span & { readonly known: Known };

/** Returns the values of some groups that a text in lower case holds by the word at a place, which has a sign behind it. */
function foundIn<Known>(
  groups: readonly Group<Known>[],
  lower: string,
  index: number,
  after: string,
): readonly Found<Known>[] {
  let found: Found<Known>[] | undefined;
  for (const { lead, length, next, values } of groups) {
    if (index < lead || (next !== after && next !== '')) continue;
    const start = index - lead;
    const known = values.get(lower.slice(start, start + length));
    if (known === undefined) continue;
    found ??= [];
    found.push({ start, end: start + length, known });
  }
  return found ?? nothing;
}

const nothing: readonly never[] = [];

/** Returns an index of values of which nothing else is known. */
export function indexOfValues(values: Iterable<string>): ValueIndex {
  const index = new ValueIndex();
  for (const value of values) index.set(value, true);
  return index;
}

/** Returns what a value is found by: its first word, or the first sign of an East Asian one. */
function keyOf(lower: string): string | undefined {
  const word = firstWordIn(lower);
  return isEastAsian(word) ? word?.[0] : word;
}

export type Word = { readonly word: string; readonly index: number };

/** The words of a text, and each sign of those that are East Asian. */
export function wordsIn(text: string): readonly Word[] {
  if (isAscii(text)) return asciiWordsIn(text);
  const words: Word[] = [];
  for (const { 0: word, index } of matchWords(text)) {
    if (!isEastAsian(word)) words.push({ word, index });
    else for (let at = 0; at < word.length; at++) words.push({ word: word[at] ?? '', index: index + at });
  }
  return words;
}

/** Returns the words of a text of ASCII. A loop takes a fraction of the time of a pattern, and each text is read often. */
function asciiWordsIn(text: string): readonly Word[] {
  const words: Word[] = [];
  for (let [start, end] = [nextWord(text, 0), 0]; start < text.length; start = nextWord(text, end)) {
    end = endOfWord(text, start);
    words.push({ word: text.slice(start, end), index: start });
  }
  return words;
}

/** Returns where the next word of a text of ASCII begins. */
function nextWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isWordSign(text.charCodeAt(at))) at += 1;
  return at;
}

function endOfWord(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && isWordSign(text.charCodeAt(at))) at += 1;
  return at;
}

/** Reports whether a character code is that of a letter or a digit of ASCII. */
const isWordSign = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
