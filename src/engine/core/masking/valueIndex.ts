import { isEastAsian, isJoined, wordPattern } from './script.ts';

/** A piece of a text; the end is exclusive. */
export type Span = { readonly start: number; readonly end: number };

/**
 * Values that are looked for in texts, whatever their case, by their first word; those that begin with an East Asian sign
 * by that sign, since no space tells there where a word begins.
 */
export class ValueIndex {
  readonly #values = new Map<string, Set<string>>();

  constructor(values: Iterable<string> = []) {
    for (const value of values) this.add(value);
  }

  add(value: string): void {
    const lower = value.toLowerCase();
    const word = keyOf(lower);
    if (word === undefined) return;
    const group = this.#values.get(word);
    if (group) group.add(lower);
    else this.#values.set(word, new Set([lower]));
  }

  has(value: string): boolean {
    const lower = value.toLowerCase();
    return this.#values.get(keyOf(lower) ?? '')?.has(lower) ?? false;
  }

  /** Where a text holds one of the values whole, the longest first. */
  spansIn(text: string): readonly Span[] {
    const lower = text.toLowerCase();
    // A sign that takes another number of places in lower case would shift what stands behind it.
    if (lower.length !== text.length) return [];
    const spans: Span[] = [];
    for (const { word, index } of keysIn(lower)) {
      if (index < (spans.at(-1)?.end ?? 0)) continue;
      let found: Span | null = null;
      for (const value of this.#values.get(word) ?? []) {
        const start = index - value.indexOf(word);
        const end = start + value.length;
        if (end <= (found?.end ?? 0) || start < 0 || !lower.startsWith(value, start)) continue;
        if (isEastAsian(value.at(-1)) || !isJoined(value.at(-1), lower[end])) found = { start, end };
      }
      if (found) spans.push(found);
    }
    return spans;
  }
}

/** What a value is found by: its first word, or the first sign of an East Asian one. */
function keyOf(lower: string): string | undefined {
  const [word] = lower.match(wordPattern) ?? [];
  return isEastAsian(word) ? word?.[0] : word;
}

function* keysIn(lower: string): Iterable<{ readonly word: string; readonly index: number }> {
  for (const { 0: word, index } of lower.matchAll(wordPattern)) {
    if (isEastAsian(word)) for (let at = 0; at < word.length; at++) yield { word: word[at] ?? '', index: index + at };
    else yield { word, index };
  }
}
