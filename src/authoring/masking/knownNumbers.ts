import type { PersonalKind } from './kind.ts';
import { mostDigits, type NumberRun, numberRunsIn } from './numberRuns.ts';
import { nationalLength } from './standIn.ts';
import type { Span } from './text/valueIndex.ts';

type KnownNumber = Span & { readonly kind: PersonalKind };

/** The numbers of phones, cards and persons that were found, which are looked for in every spelling. */
export class KnownNumbers {
  /** The last eight digits of phone numbers, with the whole of each: a field may hold one as a number of something. */
  readonly #phones = new Map<string, string>();
  /** The digits of cards and of numbers of persons, such as of their taxes, which are written with spaces and without. */
  readonly #numbers = new Map<string, PersonalKind>();
  /** Cards in full, by their last four digits. */
  readonly #cards = new Map<string, string>();

  add(kind: PersonalKind, value: string): void {
    const digits = value.replace(/\D/g, '');
    if (kind === 'phone') this.#phones.set(digits.slice(-8), value);
    if ((kind === 'id' || kind === 'card') && /^\d(?:[ ./-]?\d){6,}$/.test(value)) this.#numbers.set(digits, kind);
    if (kind === 'card' && /\d{4}$/.test(value) && value.length > 8) this.#cards.set(value.slice(-4), value);
  }

  /** Whether digits end with those of a known phone number. */
  isPhone(digits: string): boolean {
    return this.#phones.has(digits.slice(-8));
  }

  /** Returns the known card that ends with these four digits. */
  cardWith(lastDigits: string): string | undefined {
    return this.#cards.get(lastDigits);
  }

  /** Returns where a text has a known number, in any spelling. */
  spansIn(text: string): readonly KnownNumber[] {
    if (this.#phones.size + this.#numbers.size === 0 || !/\d/.test(text)) return [];
    return numberRunsIn(text).flatMap((groups) => {
      const found: KnownNumber[] = [];
      let done = 0;
      for (let to = 0; to < groups.length; to++) {
        const known = this.#knownUntil(text, groups.slice(Math.max(done, to + 1 - mostDigits), to + 1));
        if (!known) continue;
        found.push({ ...known, end: groups[to]?.end ?? 0 });
        done = to + 1;
      }
      return found;
    });
  }

  /** Returns the known number that some groups of a run end with, and where it begins. */
  #knownUntil(text: string, groups: NumberRun): Omit<KnownNumber, 'end'> | null {
    let digits = '';
    let first: number | null = null;
    for (let at = groups.length - 1; at >= 0 && digits.length <= mostDigits; at--) {
      const start = groups[at]?.start ?? 0;
      digits = `${text.slice(start, groups[at]?.end).replace(/\D/g, '')}${digits}`;
      const kind = this.#numbers.get(digits);
      if (kind !== undefined) return { kind, start };
      const phone = digits.length < 7 ? undefined : this.#phones.get(digits.slice(-8));
      if (phone === undefined) continue;
      first ??= start;
      const from = groups[0]?.start ?? start;
      // The code of a country may be before it.
      if (/^\(?(?:\+|0)[ \d()./-]{0,8}$/.test(text.slice(from, start))) return { kind: 'phone', start: from };
      const length = at > 0 ? nationalLength(phone, phone.replace(/\D/g, '')) : 0;
      if (digits.replace(/^0+/, '').length >= length) return { kind: 'phone', start };
    }
    return first === null ? null : { kind: 'phone', start: first };
  }
}
