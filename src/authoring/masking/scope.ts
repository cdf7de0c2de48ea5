import { isMonth } from './dates.ts';
import type { PersonalKind } from './kind.ts';
import { type Span, ValueIndex, withoutAccents } from './text/valueIndex.ts';

/** A personal value that was found. */
export type KnownValue = {
  readonly kind: PersonalKind;
  readonly value: string;
  /** The name that this is another form of, and how its replacement is made. */
  readonly of?: NameForm;
};

export type NameForm = {
  readonly name: string;
  readonly standIn: () => string;
  /** A spelling counts as the name; a genitive needs a capital, and a spelling with umlauts needs these. */
  readonly is: 'spelling' | 'umlauts' | 'genitive' | 'handle';
};

/**
 * Whether a value means a person only in the conversation that it was found in: a PIN of four digits is a year in
 * another one, and Jan is a month.
 */
export function isOfOneConversation(kind: PersonalKind, value: string): boolean {
  return kind === 'name' ? value.length < 3 || isMonth(value) : /^\d{1,6}$/.test(value);
}

/** The part of what is known that holds for one conversation alone. */
export class Scope {
  /** Words of names that stay, in lower case. */
  readonly keptNames: ReadonlySet<string>;
  #values: ValueIndex<KnownValue> | null = null;

  constructor(keptNames: ReadonlySet<string> = new Set()) {
    this.keptNames = keptNames;
  }

  /** Whether nothing holds here alone, so that a text is masked as in every other such conversation. */
  get isEmpty(): boolean {
    return this.keptNames.size === 0 && this.#values === null;
  }

  add(known: KnownValue): void {
    this.#values ??= new ValueIndex(withoutAccents);
    this.#values.set(known.value, known);
  }

  /** Returns where a text may have one of its values, by the word that begins at a place. */
  at(text: string, word: string, index: number): readonly (Span & { readonly known: KnownValue })[] {
    return this.#values?.at(text, word, index) ?? [];
  }
}
