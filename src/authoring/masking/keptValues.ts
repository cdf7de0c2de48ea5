import { toldNamesIn } from './names.ts';
import { coverOf, type Span, type ValueIndex } from './text/valueIndex.ts';

type OwnValues = { readonly whole: readonly Span[]; readonly besideNames: readonly Span[] };

/** Texts that are longer than the largest number of a sign are read again. */
const mostPacked = 0xffff;
const noSpans = ['', ''] as const;
const noValues: OwnValues = { whole: [], besideNames: [] };

/** Returns the places of spans as signs, since there is a span for each value of the database in each text of a log. */
const packed = (spans: readonly Span[]) => spans.map(({ start, end }) => String.fromCharCode(start, end)).join('');

const unpacked = (places: string): readonly Span[] =>
  Array.from({ length: places.length / 2 }, (_, at) => ({
    start: places.charCodeAt(2 * at),
    end: places.charCodeAt(2 * at + 1),
  }));

/** The parts of texts that stay as they are: values of the domain's own database, and replacements. */
export class KeptValues {
  readonly #ownIn: (text: string) => readonly Span[];
  readonly #replacements: ValueIndex;
  readonly #known = new Map<string, readonly [whole: string, besideNames: string]>();

  constructor(ownIn: (text: string) => readonly Span[], replacements: ValueIndex) {
    this.#ownIn = ownIn;
    this.#replacements = replacements;
  }

  spansIn(text: string): readonly Span[] {
    return [...this.#own(text).whole, ...this.#replacements.spansIn(text)];
  }

  /** Returns the same without single words of the database that are within the name of a person: Karen Black. */
  spansBesideNames(text: string): readonly Span[] {
    return [...this.#own(text).besideNames, ...this.#replacements.spansIn(text)];
  }

  /** Whether a word, or a part of it, stays. */
  has(word: string): boolean {
    return this.spansIn(word).length > 0;
  }

  /** Whether one of the values of a text that stay is around a piece of it. */
  covers(text: string, { start, end }: Span): boolean {
    return this.spansIn(text).some((span) => span.start <= start && span.end >= end);
  }

  #own(text: string): OwnValues {
    const known = this.#known.get(text);
    if (known === noSpans) return noValues;
    if (known) return { whole: unpacked(known[0]), besideNames: unpacked(known[1]) };
    const whole = this.#ownIn(text);
    const isTold = coverOf(whole.length === 0 ? [] : toldNamesIn(text));
    const isOfName = (span: Span) => !/\s/.test(text.slice(span.start, span.end)) && isTold(span);
    const own = { whole, besideNames: whole.filter((span) => !isOfName(span)) };
    if (whole.length === 0) this.#known.set(text, noSpans);
    else if (text.length < mostPacked) this.#known.set(text, [packed(own.whole), packed(own.besideNames)]);
    return own;
  }
}
