import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { put } from '../../engine/core/values/json.ts';
import { datesIn } from './dates.ts';
import type { KnownValues } from './knownValues.ts';
import { isAlsoWord, isNoName, isParticle } from './names.ts';
import type { KnownValue, Scope } from './scope.ts';
import { matchesOf } from './text/matches.ts';
import { RecentTexts } from './text/recentTexts.ts';
import { isJoined } from './text/script.ts';
import { composed, jsonIn } from './text/texts.ts';
import { coverOf, type Span, type Word, wordsIn } from './text/valueIndex.ts';
import { encodedIn, entitiesIn } from './valuesWithin.ts';

type Replaced = Span & { readonly standIn: string };

/** Matches letters with the same sign between them. */
const spelledLetters = /(?<![\p{L}\p{N}])\p{L}(?<sign>[-. ]|\. |, | - )\p{L}(?:\k<sign>\p{L}(?![\p{L}\p{N}])){1,40}/gu;

/** Writes the replacements of known values into texts. */
export class TextMasker {
  readonly #known: KnownValues;
  /** Texts as they were masked by what is known now, where no name stays. */
  readonly #masked = new RecentTexts<string>();
  #changes = 0;

  constructor(known: KnownValues) {
    this.#known = known;
  }

  /** Returns a value with its texts and whole numbers masked, keys included. */
  json(value: Json, scope: Scope): Json {
    if (typeof value === 'string') return this.text(value, scope);
    if (typeof value === 'number') {
      if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return value;
      const masked = this.text(String(value), scope);
      return masked === String(value) ? value : Number(masked);
    }
    if (Array.isArray(value)) return value.map((each) => this.json(each, scope));
    if (typeof value !== 'object' || value === null) return value;
    const made: Record<string, Json> = {};
    const births = this.#known.births.fieldsIn(value as JsonObject);
    for (const [key, each] of Object.entries(value))
      put(made, this.#words(key, scope), births[key] ?? this.json(each, scope));
    return made;
  }

  /** Returns a text masked. JSON stays JSON. */
  text(text: string, scope: Scope): string {
    const inner = jsonIn(text);
    if (inner === undefined) return this.#withValues(text, scope);
    const masked = JSON.stringify(this.json(inner, scope));
    return masked === JSON.stringify(inner) ? text : masked;
  }

  /** Returns a text masked, in which values of JSON are masked as such where they have escapes. */
  #withValues(text: string, scope: Scope): string {
    let [made, done] = ['', 0];
    for (const { start, end, value } of this.#known.valuesIn(text)) {
      const source = text.slice(start, end);
      if (!(source.includes('\\u') || this.#hasBirthFields(value)) || jsonIn(source) === undefined) continue;
      const masked = JSON.stringify(this.json(value, scope));
      made += this.#words(text.slice(done, start), scope) + (masked === JSON.stringify(value) ? source : masked);
      done = end;
    }
    return made + this.#words(text.slice(done), scope);
  }

  #hasBirthFields(value: Json): boolean {
    if (typeof value !== 'object' || value === null) return false;
    const isOne = !Array.isArray(value) && Object.keys(this.#known.births.fieldsIn(value as JsonObject)).length > 0;
    return isOne || Object.values(value).some((each: Json) => this.#hasBirthFields(each));
  }

  /** Returns a text, except JSON, masked with the values known so far. */
  #words(text: string, scope: Scope): string {
    if (this.#changes !== this.#known.changes) this.#masked.clear();
    this.#changes = this.#known.changes;
    const known = scope.isEmpty ? this.#masked.get(text) : undefined;
    if (known !== undefined) return known;
    const plain = composed(text);
    const made = this.#composed(plain, scope);
    const masked = made === plain ? text : made;
    if (scope.isEmpty) this.#masked.set(text, masked);
    return masked;
  }

  #composed(text: string, scope: Scope): string {
    const found = this.#replacedIn(text, scope);
    if (found.length === 0) return this.#withEntries(text, scope);
    let [made, done] = ['', 0];
    for (const { start, end, standIn } of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
      if (start < done) continue;
      made += `${this.#withEntries(text.slice(done, start), scope)}${standIn}`;
      done = end;
    }
    return made + this.#withEntries(text.slice(done), scope);
  }

  /** Returns what is found in other ways than by its words, with its replacement. */
  #replacedIn(text: string, scope: Scope): readonly Replaced[] {
    const { births, kept, replacements } = this.#known;
    const isKept = coverWhenAsked(() => kept.spansIn(text));
    const names = this.#known.eastAsianIn(text, scope).map(({ start, end }) => ({
      start,
      end,
      standIn: replacements.ofEastAsianName(text.slice(start, end)),
    }));
    const encoded = encodedIn(text).flatMap(({ start, end, plain }) => {
      const masked = this.#words(plain, scope);
      return masked === plain ? [] : [{ start, end, standIn: encodeURIComponent(masked) }];
    });
    const letters = entitiesIn(text).flatMap(({ start, end, plain }) => {
      const masked = this.#words(plain, scope);
      return masked === plain ? [] : [{ start, end, standIn: masked }];
    });
    const dates = births.spansIn(text, isKept);
    const numbers = this.#known
      .numbersIn(text)
      .filter((span) => !isKept(span))
      .map(({ kind, start, end }) => ({ start, end, standIn: replacements.of(kind, text.slice(start, end)) }));
    return [...names, ...encoded, ...letters, ...dates, ...numbers, ...this.#spelledIn(text)];
  }

  /** Returns where a text spells a known name letter by letter, and its replacement spelled alike. */
  #spelledIn(text: string): readonly Replaced[] {
    return matchesOf(spelledLetters, text).flatMap(({ 0: spelled, groups, index }) => {
      const { sign = ' ' } = groups ?? {};
      const letters = [...spelled.matchAll(/\p{L}/gu)].map((each) => ({ letter: each[0], at: index + each.index }));
      const found: Replaced[] = [];
      // Other letters may be beside those of the name: "B R A U N I think".
      for (let from = 0; from < letters.length - 2; from++)
        for (let to = letters.length; to > from + 2; to--) {
          const word = letters
            .slice(from, to)
            .map(({ letter }) => letter)
            .join('');
          const entry = this.#known.entry(word);
          if (entry?.kind !== 'name') continue;
          const standIn = [...this.#known.replacementOf(entry, word)].join(sign);
          found.push({ start: letters[from]?.at ?? 0, end: (letters[to - 1]?.at ?? 0) + 1, standIn });
          from = to - 1;
          break;
        }
      return found;
    });
  }

  #withEntries(text: string, scope: Scope): string {
    const isKept = coverWhenAsked(() => this.#known.kept.spansBesideNames(text));
    // Digits alone can be a date as well: 101112.
    const isInDate = coverWhenAsked(() => datesIn(text).filter((date) => !isNumber(text, date)));
    let [made, done] = ['', 0];
    for (const found of wordsIn(text)) {
      const lead = leadOf(text, found);
      const word = found.word.slice(lead);
      const index = found.index + lead;
      if (index < done) continue;
      const name = nameIn(text, { word, index });
      const entries = this.#known.entriesAt(text, word, index);
      const numbered = name === '' ? [] : this.#known.entriesAt(text, name, index);
      const own = scope.at(text, word, index);
      if (entries.length + numbered.length + own.length === 0) continue;
      const places = [...entries, ...numbered, ...own.filter((span) => !isInDate(span))];
      const entry = longest(places, ({ start, end, known }) => {
        if (start < done || isKept({ start, end })) return false;
        if (known.kind === 'name' && !isNamedBy(text.slice(start, end), known, scope)) return false;
        const last = known.kind === 'name' && end === index + name.length ? index + word.length : end;
        return isWhole(text, lead > 0 && start === index ? found.index : start, last);
      });
      if (!entry) continue;
      const { start, end, known } = entry;
      made += text.slice(done, start) + this.#known.replacementOf(known, text.slice(start, end));
      done = end;
    }
    return made + text.slice(done);
  }
}

/** Returns whether a piece is within one of the spans, which are looked for with the first piece: most texts have none. */
function coverWhenAsked(spans: () => readonly Span[]): (piece: Span) => boolean {
  let isCovered: ((piece: Span) => boolean) | undefined;
  return (piece) => {
    isCovered ??= coverOf(spans());
    return isCovered(piece);
  };
}

const endsInDigit = (word: string): boolean => {
  const code = word.charCodeAt(word.length - 1);
  return code >= 0x30 && code <= 0x39;
};

/** Returns the length of the number of a passenger, which airlines write right before the name: 1.1ROE/JANE. */
const leadOf = (text: string, { word, index }: Word): number =>
  text[index - 1] === '.' ? (/^\d(?=\p{L}{2,}$)/u.exec(word)?.[0].length ?? 0) : 0;

/** Returns the name that a word begins with: handles have a number behind it, and airlines the title. */
function nameIn(text: string, { word, index }: Word): string {
  if (endsInDigit(word)) return /^\p{L}{3,}(?=\d{1,4}$)/u.exec(word)?.[0] ?? '';
  return text[index - 1] === '/' ? (/^\p{Lu}{3,}(?=(?:MRS?|MSTR)$)/u.exec(word)?.[0] ?? '') : '';
}

const isNumber = (text: string, { start, end }: Span) => /^\d+$/.test(text.slice(start, end));

/** Whether what is written here means the name that is known. */
function isNamedBy(said: string, { value, of }: KnownValue, scope: Scope): boolean {
  const lower = said.toLowerCase();
  if (scope.keptNames.has(lower) || scope.keptNames.has((of?.name ?? value).toLowerCase())) return false;
  if (of?.is === 'genitive' && lower.startsWith(said[0] ?? '')) return false;
  if (of?.is === 'umlauts' && !/[^ -~]/.test(said)) return false;
  // Without its accents a name may be a word of the language: Lê.
  if (lower !== value.toLowerCase() && (said.length < 3 || isNoName(said) || isParticle(lower))) return false;
  return !isAlsoWord(said) || said !== lower;
}

function longest<Place extends Span>(places: Iterable<Place>, fits: (place: Place) => boolean): Place | undefined {
  let found: Place | undefined;
  for (const each of places) if ((!found || each.end > found.end) && fits(each)) found = each;
  return found;
}

/** Whether a piece of a text is separate, and is not part of a longer word. */
function isWhole(text: string, start: number, end: number): boolean {
  return start >= 0 && !isJoined(text[start - 1], text[start]) && !isJoined(text[end - 1], text[end]);
}
