import type { Json } from '../../engine/core/values/json.ts';
import type { PersonalKind } from './kind.ts';
import { KnownValues, type KnownValuesOptions } from './knownValues.ts';
import { Scope } from './scope.ts';
import { stringsIn, textsIn } from './text/texts.ts';
import { TextMasker } from './textMasker.ts';

export type MaskOptions = KnownValuesOptions & {
  /** Words of names that stay in these texts, in lower case: of persons of the domain's database who are named there. */
  readonly keptNames?: (texts: readonly string[]) => ReadonlySet<string>;
  /** Names that are known beforehand. */
  readonly names?: readonly string[];
};

/** A text or a value of a conversation, and what it is of: a call of `find_customer` is about a person. */
export type Piece = {
  readonly value: Json;
  readonly within?: string;
  /** The message before it, which it may answer. */
  readonly asked?: string;
};

/** Masks the texts and values of one conversation. What a field declares is learned from its pieces alone. */
export type Masked = {
  readonly text: (text: string) => string;
  readonly json: <Value extends Json>(value: Value) => Value;
};

export type Masker = {
  /** Reads the texts and values of a conversation before any are masked: a name learned here is masked everywhere. */
  readonly look: (conversation: readonly Piece[]) => void;
  readonly conversation: (conversation: readonly Piece[]) => Masked;
  /** Returns the number of different values of each kind that were masked. */
  readonly counts: () => Readonly<Partial<Record<PersonalKind, number>>>;
};

/** Consistent replacements for the personal data of conversations, within and across them. */
export function maskerOf(options: MaskOptions): Masker {
  const known = new KnownValues(options);
  const masker = new TextMasker(known);
  for (const name of options.names ?? []) known.learnName(name);
  const looked = new WeakMap<readonly Piece[], Scope>();
  const look = (conversation: readonly Piece[]): Scope => {
    const before = looked.get(conversation);
    if (before) return before;
    const texts = textsIn(conversation.map(({ value }) => value));
    const scope = new Scope(options.keptNames?.(texts));
    looked.set(conversation, scope);
    for (const { value, within = '', asked } of conversation) {
      known.learn(value, scope, { field: '', beside: {}, within });
      if (asked !== undefined && typeof value === 'string') known.learnAnswer(asked, value, scope);
    }
    known.learnFullNames(texts, scope);
    return scope;
  };
  return {
    look: (conversation) => void look(conversation),
    conversation: (conversation) => {
      const scope = look(conversation);
      return {
        text: (text) => {
          known.learnNew(text, scope);
          return masker.text(text, scope);
        },
        json: (value) => {
          // What its fields declare is known from the pieces. A number without its field could be a phone number.
          for (const each of stringsIn(value)) known.learnNew(each, scope);
          return masker.json(value, scope) as typeof value;
        },
      };
    },
    counts: () => known.counts(),
  };
}
