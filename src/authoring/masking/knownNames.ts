import { partsOfName, standsAlone } from './eastAsianNames.ts';
import type { Span } from './text/valueIndex.ts';

/** Names in Chinese, Japanese and Korean that were found, which are looked for everywhere. */
export class KnownNames {
  /** Whole names and their parts, by the first sign. */
  readonly #byFirst = new Map<string, Set<string>>();
  readonly #whole = new Set<string>();

  add(name: string): void {
    this.#whole.add(name);
    for (const each of [name, ...partsOfName(name)]) {
      const first = each[0] ?? '';
      const group = this.#byFirst.get(first);
      if (group) group.add(each);
      else this.#byFirst.set(first, new Set([each]));
    }
  }

  /** Returns how many whole names are known. */
  get count(): number {
    return this.#whole.size;
  }

  /** Returns where a text holds one of them, or a part of one that is alone. */
  *spansIn(text: string): Iterable<Span> {
    for (let start = 0; start < text.length; start++)
      for (const name of this.#byFirst.get(text[start] ?? '') ?? []) {
        const span = { start, end: start + name.length };
        if (text.startsWith(name, start) && standsAlone(text, span)) yield span;
      }
  }
}
