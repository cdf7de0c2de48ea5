import { birthDatesIn } from './dates.ts';
import { eastAsianNamesIn } from './eastAsianNames.ts';
import { isNameOfThing } from './keyedLines.ts';
import type { Found } from './kind.ts';
import { namesIn } from './names.ts';
import { patternsIn } from './patterns.ts';
import { matchesOf } from './text/matches.ts';
import { RecentTexts } from './text/recentTexts.ts';
import { isEastAsian, piecesApart } from './text/script.ts';
import type { Span } from './text/valueIndex.ts';

/** The facts about a text that do not depend on where it is. */
export type ReadText = {
  readonly found: readonly Found[];
  readonly names: readonly string[];
  readonly eastAsianNames: readonly Span[];
  /** Names in greetings, in lower case. */
  readonly greeted: readonly string[];
  /** Names that somebody may introduce in lower case. */
  readonly small: readonly { readonly first: string; readonly last: string | undefined }[];
};

/** A name in lower case behind the words that introduce one: it is one where the other greets by it. */
const smallIntroduction =
  /(?<![\p{L}\p{N}])(?:i['’]?m|i am|this is)[ \t]+(?<first>\p{Ll}{3,20})(?:[ \t]+(?<last>\p{Ll}[\p{Ll}'’-]{2,20}))?(?=[ \t]*(?:[.,!?;\n]|$|and\b|from\b))/gimu;

const greetings =
  /(?<![\p{L}\p{N}])(?:hi|hello|hey|dear|hallo|hola)[ \t]+(?<name>\p{L}{3,20})(?=[ \t]*(?:[,.!?;\n]|$))/giu;

const noSmallNames = { greeted: [], small: [] } as const;

/** Returns the names in greetings, and what may be names behind the words that introduce one, in lower case. */
function smallNamesIn(text: string): Pick<ReadText, 'greeted' | 'small'> {
  return {
    greeted: matchesOf(greetings, text).map(({ groups }) => groups?.['name']?.toLowerCase() ?? ''),
    small: matchesOf(smallIntroduction, text).map(({ groups }) => ({
      first: groups?.['first'] ?? '',
      last: groups?.['last'],
    })),
  };
}

export type ReadOptions = {
  /** Names that a recogniser found in a text. */
  readonly recognised?: (text: string) => readonly Span[];
  /** The shapes of ids, such as those of the domain's tables. Each has a digit. */
  readonly ids?: readonly RegExp[];
};

/** Finds what may be personal data in texts. */
export class TextReader {
  readonly #options: ReadOptions;
  readonly #onText: (text: string) => void;
  readonly #texts = new RecentTexts<ReadText>();

  /** @param onText is called with each text that is read for the first time */
  constructor(options: ReadOptions, onText: (text: string) => void) {
    this.#options = options;
    this.#onText = onText;
  }

  read(text: string): ReadText {
    const known = this.#texts.get(text);
    if (known) return known;
    const recognised = this.#options.recognised?.(text) ?? [];
    const found = [
      ...piecesApart(text).flatMap((piece) => this.#foundIn(piece, text)),
      ...recognised.map(({ start, end }): Found => ({ kind: 'name', start, end })),
    ];
    const names = isEastAsian(text) ? namesIn(text) : found.filter(({ kind }) => kind === 'name');
    const read = {
      found,
      names: names.map(({ start, end }) => text.slice(start, end)),
      eastAsianNames: eastAsianNamesIn(text),
      ...(/[ \t]/.test(text) ? smallNamesIn(text) : noSmallNames),
    };
    this.#texts.set(text, read);
    this.#onText(text);
    return read;
  }

  /** Returns what is found in a piece of a text, as it is in the whole of it. */
  #foundIn(piece: { readonly text: string; readonly start: number }, whole: string): readonly Found[] {
    const all = [
      ...patternsIn(piece.text, whole.slice(0, piece.start)),
      ...birthDatesIn(piece.text).map((span): Found => ({ kind: 'birthDate', ...span })),
      ...this.#shapesIn(piece.text),
      ...namesIn(piece.text).filter(({ start }) => !isNameOfThing(piece.text, start)),
    ];
    return all.flatMap((each) => {
      const [start, end] = [each.start + piece.start, each.end + piece.start];
      const isAmount =
        (each.kind === 'phone' || each.kind === 'id') && /^\s?[元円圆圓원万萬億亿만억]/u.test(whole.slice(end));
      return isAmount ? [] : [{ ...each, start, end }];
    });
  }

  #shapesIn(text: string): readonly Found[] {
    if (!/\d/.test(text)) return [];
    return (this.#options.ids ?? []).flatMap((shape) =>
      matchesOf(shape, text).map(
        ({ 0: value, index }): Found => ({ kind: 'id', start: index, end: index + value.length }),
      ),
    );
  }
}

/** Returns what is not within something longer: the digits of an IBAN are not a separate number. */
export function outermost(found: readonly Found[]): ReadonlySet<Found> {
  const outer = new Set<Found>();
  let last: Span | null = null;
  for (const each of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const isWithin = last !== null && each.end <= last.end && (each.start > last.start || each.end < last.end);
    if (isWithin) continue;
    outer.add(each);
    last = each;
  }
  return outer;
}
