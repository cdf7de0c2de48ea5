import type { JsonObject } from '../../engine/core/values/json.ts';
import { dateFieldsIn, dateOfTimestamp, datesIn } from './dates.ts';
import { birthDateFor } from './standIn.ts';
import type { Span } from './text/valueIndex.ts';

/** The dates of birth that were found, which are looked for in every spelling. */
export class BirthDates {
  readonly #seed: string;
  /** Dates as `YYYY-MM-DD`, in each reading of those that have two. */
  readonly #known = new Set<string>();
  readonly #made = new Set<string>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Adds a value. Returns whether it is a date. */
  add(value: string): boolean {
    const found = datesIn(value);
    const longest = Math.max(...found.map(({ start, end }) => end - start));
    const read = found.filter(({ start, end }) => end - start === longest).flatMap(({ readings }) => readings);
    const dates = read.length > 0 ? read : [dateOfTimestamp(value)?.date ?? []].flat();
    for (const each of dates) if (!this.#made.has(each)) this.#known.add(each);
    return read.length > 0;
  }

  /** Returns how many dates are known; the two readings of one count once. */
  get count(): number {
    return new Set([...this.#known].map((each) => [...each].toSorted().join(''))).size;
  }

  /**
   * Returns where a text has a known date, whatever its spelling, with its replacement.
   * @param isKept whether a piece of the text stays
   */
  spansIn(text: string, isKept: (span: Span) => boolean): readonly (Span & { readonly standIn: string })[] {
    if (this.#known.size === 0) return [];
    return datesIn(text).flatMap(({ start, end, readings, spell }) => {
      if (!readings.some((each) => this.#known.has(each)) || isKept({ start, end })) return [];
      const [made = ''] = readings.map((each) => this.#replacementOf(each));
      return [{ start, end, standIn: spell(made) }];
    });
  }

  /** Returns the fields of an object that are the parts of a known date, with their replacements. */
  fieldsIn(object: JsonObject): JsonObject {
    if (this.#known.size === 0) return {};
    const known = dateFieldsIn(object).filter(({ date }) => this.#known.has(date));
    return Object.assign({}, ...known.map(({ date, spell }) => spell(this.#replacementOf(date))));
  }

  /** Returns the replacement of a date, and notes that it is one. */
  #replacementOf(date: string): string {
    const made = birthDateFor(date, this.#seed);
    this.#made.add(made);
    return made;
  }
}
