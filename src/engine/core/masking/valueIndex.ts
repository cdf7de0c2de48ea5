/** A piece of a text; the end is exclusive. */
export type Span = { readonly start: number; readonly end: number };

/** The words of a text: runs of letters and digits. */
export const wordPattern = /[\p{L}\p{N}]+/gu;

/** Values that are looked for in texts, whatever their case, by their first word. */
export class ValueIndex {
  readonly #values = new Map<string, Set<string>>();

  constructor(values: Iterable<string> = []) {
    for (const value of values) this.add(value);
  }

  add(value: string): void {
    const lower = value.toLowerCase();
    const [word] = lower.match(wordPattern) ?? [];
    if (word === undefined) return;
    const group = this.#values.get(word);
    if (group) group.add(lower);
    else this.#values.set(word, new Set([lower]));
  }

  has(value: string): boolean {
    const lower = value.toLowerCase();
    return this.#values.get(lower.match(wordPattern)?.[0] ?? '')?.has(lower) ?? false;
  }

  /** Where a text holds one of the values whole, the longest first. */
  spansIn(text: string): readonly Span[] {
    const lower = text.toLowerCase();
    // A sign that takes another number of places in lower case would shift what stands behind it.
    if (lower.length !== text.length) return [];
    const spans: Span[] = [];
    for (const { 0: word, index } of lower.matchAll(wordPattern)) {
      if (index < (spans.at(-1)?.end ?? 0)) continue;
      let found: Span | null = null;
      for (const value of this.#values.get(word) ?? []) {
        const start = index - value.indexOf(word);
        const end = start + value.length;
        if (end <= (found?.end ?? 0) || start < 0 || !lower.startsWith(value, start)) continue;
        if (!/[\p{L}\p{N}]/u.test(lower[end] ?? '') || !/[\p{L}\p{N}]/u.test(value.at(-1) ?? ''))
          found = { start, end };
      }
      if (found) spans.push(found);
    }
    return spans;
  }
}
