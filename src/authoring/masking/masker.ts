import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { put } from '../../engine/core/values/json.ts';
import { isTooDeep } from '../../engine/core/values/nesting.ts';
import { answersIn, type Question, questionIn } from './answers.ts';
import { dateFieldsIn, dateOfTimestamp, datesIn, isDate, isOfBirth } from './dates.ts';
import { eastAsianNamesIn, partsOfName } from './eastAsianNames.ts';
import {
  isNamedPerson,
  isNationalId,
  isPersonName,
  isPersonWord,
  isSecretField,
  kindOfField,
  mayBe,
} from './fields.ts';
import { isNameOfThing } from './keyedLines.ts';
import type { Found, PersonalKind } from './kind.ts';
import { KnownNames } from './knownNames.ts';
import { matchesOf } from './matches.ts';
import { genitiveOf, handlesOf, withTwoLetters, withUmlauts } from './nameForms.ts';
import { fullNamesIn, isAlsoWord, isNoName, isParticle, namesIn, toldNamesIn, withoutTitles } from './names.ts';
import { mostDigits, type NumberRun, numberRunsIn } from './numberRuns.ts';
import { patternsIn } from './patterns.ts';
import { RecentTexts } from './recentTexts.ts';
import { isAscii, isEastAsian, isJoined, matchWords, piecesApart, wordPattern } from './script.ts';
import { birthDateFor, inCase, keyOf, nationalLength, standInFor } from './standIn.ts';
import { namedValuesIn } from './tables.ts';
import { coverOf, indexOfValues, type Span, ValueIndex, withoutAccents, wordsIn } from './valueIndex.ts';
import {
  encodedIn,
  entitiesIn,
  pairsIn,
  plainValue,
  rowsOf,
  type ValueWithin,
  valuesWithin,
  withoutEntities,
} from './valuesWithin.ts';

export type MaskOptions = {
  /** The same seed gives the same stand-ins. Who has it can find out whom one replaces. */
  readonly seed: string;
  /** Spans of a text that stay: values of the domain's own database. */
  readonly kept?: (text: string) => readonly Span[];
  /** Words of names that stay in these texts, in lower case: of persons of the domain's database who are named there. */
  readonly keptNames?: (texts: readonly string[]) => ReadonlySet<string>;
  /** Names that are known beforehand. */
  readonly names?: readonly string[];
  /** Names that a recogniser found in a text. */
  readonly recognised?: (text: string) => readonly Span[];
  /** The shapes of ids, such as those of the domain's tables. Each has a digit. */
  readonly ids?: readonly RegExp[];
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

type Entry = {
  readonly kind: PersonalKind;
  readonly value: string;
  /** The name that this is another form of, and how its replacement is made. */
  readonly of?: Form;
};

type Form = {
  readonly name: string;
  readonly standIn: () => string;
  /** A spelling counts as the name; a genitive needs a capital, and a spelling with umlauts needs these. */
  readonly is: 'spelling' | 'umlauts' | 'genitive' | 'handle';
};

/** Consistent stand-ins for the personal data of conversations, within and across them. */
export function maskerOf(options: MaskOptions): Masker {
  const book = new Book(options);
  for (const name of options.names ?? []) book.learnName(name);
  const looked = new WeakMap<readonly Piece[], ReadonlySet<string>>();
  const look = (conversation: readonly Piece[]): ReadonlySet<string> => {
    const known = looked.get(conversation);
    if (known) return known;
    const texts = textsIn(conversation.map(({ value }) => value));
    const keptNames = options.keptNames?.(texts) ?? new Set<string>();
    looked.set(conversation, keptNames);
    for (const { value, within, asked } of conversation) {
      book.learn(value, keptNames, '', {}, within);
      if (asked !== undefined && typeof value === 'string') book.learnAnswer(asked, value, keptNames);
    }
    book.learnFullNames(texts, keptNames);
    return keptNames;
  };
  return {
    look: (conversation) => void look(conversation),
    conversation: (conversation) => {
      const keptNames = look(conversation);
      return {
        text: (text) => {
          book.learnNew(text, keptNames);
          return maskedText(text, book, keptNames);
        },
        json: (value) => {
          // What its fields declare is known from the pieces. A number without its field could be a phone number.
          for (const each of stringsIn(value)) book.learnNew(each, keptNames);
          return maskedJson(value, book, keptNames) as typeof value;
        },
      };
    },
    counts: () => book.counts(),
  };
}

/** Returns all the texts in some values, keys included. */
export function textsIn(values: readonly Json[]): readonly string[] {
  return values.flatMap((value): readonly string[] => {
    if (typeof value === 'string') {
      const inner = jsonIn(value);
      return inner === undefined ? [value.normalize('NFC')] : textsIn([inner]);
    }
    if (typeof value !== 'object' || value === null) return value === null ? [] : [String(value)];
    return [...(Array.isArray(value) ? [] : Object.keys(value)), ...textsIn(Object.values(value as JsonObject))];
  });
}

/** Returns the texts in a value as they are, keys included, without its numbers. */
function stringsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [
    ...(Array.isArray(value) ? [] : Object.keys(value)),
    ...Object.values(value as JsonObject).flatMap(stringsIn),
  ];
}

/** Somebody says a name that is written small: it is one where the other greets by it. */
const smallIntroduction =
  /(?<![\p{L}\p{N}])(?:i['’]?m|i am|this is)[ \t]+(?<first>\p{Ll}{3,20})(?:[ \t]+(?<last>\p{Ll}[\p{Ll}'’-]{2,20}))?(?=[ \t]*(?:[.,!?;\n]|$|and\b|from\b))/gimu;

const greetings =
  /(?<![\p{L}\p{N}])(?:hi|hello|hey|dear|hallo|hola)[ \t]+(?<name>\p{L}{3,20})(?=[ \t]*(?:[,.!?;\n]|$))/giu;

/** Returns the names in greetings, in lower case. */
function greetedIn(text: string): readonly string[] {
  return matchesOf(greetings, text).map(({ groups }) => groups?.['name']?.toLowerCase() ?? '');
}

const noSmallNames = { greeted: [], small: [] } as const;

/** Returns what may be names in lower case behind the words that introduce one. */
function smallNamesIn(text: string): ReadText['small'] {
  return matchesOf(smallIntroduction, text).map(({ groups }) => ({
    first: groups?.['first'] ?? '',
    last: groups?.['last'],
  }));
}

/** The facts about a text that do not depend on where it is. */
type ReadText = {
  readonly found: readonly Found[];
  readonly names: readonly string[];
  readonly eastAsianNames: readonly Span[];
  /** Names in greetings, in lower case. */
  readonly greeted: readonly string[];
  /** Names that somebody may introduce in lower case. */
  readonly small: readonly { readonly first: string; readonly last: string | undefined }[];
};

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

/** The kinds of values of which each spelling has its own stand-in, with the same digits. */
const isSpelled: ReadonlySet<PersonalKind> = new Set(['phone', 'card', 'iban', 'id']);

/** A word of a name. */
const nameWord = /\p{L}[\p{L}\p{M}'’]*[\p{L}\p{M}]/gu;

/** Matches letters with the same sign between them. */
const runs = /(?<![\p{L}\p{N}])\p{L}(?<sign>[-. ]|\. |, | - )\p{L}(?:\k<sign>\p{L}(?![\p{L}\p{N}])){1,40}/gu;

/** No stand-in has more characters. */
const longestStandIn = 200;

/** Returns the conditions under which a piece is learned. */
const pieceWith = (keptNames: ReadonlySet<string>) =>
  keptNames.size === 0 ? 'piece' : ['piece', ...keptNames].join('\n');

/** The values found so far, and their replacements. */
class Book {
  readonly #options: MaskOptions;
  readonly #texts = new RecentTexts<ReadText>();
  readonly #values = new RecentTexts<readonly ValueWithin[]>();
  readonly #questions = new RecentTexts<Question>();
  /** Names that were learned where none stays. */
  readonly #names = new Set<string>();
  /** Texts that were learned, by the conditions: the field that they were in, the fields beside it, and the names that stay. */
  readonly #learned = new Map<string, Set<string>>();
  readonly #own = new Map<string, readonly [whole: string, besideNames: string]>();
  readonly #entries = new ValueIndex<Entry>(withoutAccents);
  /** By kind and key of the value. */
  readonly #standIns = new Map<string, string>();
  readonly #given = indexOfValues([]);
  /** Cards in full, by their last four digits. */
  readonly #cards = new Map<string, string>();
  readonly #eastAsian = new KnownNames();
  /** Dates of birth as `YYYY-MM-DD`, in each reading of those that have two. */
  readonly #births = new Set<string>();
  readonly #madeBirths = new Set<string>();
  /**
   * The last eight digits of phone numbers, with the whole of each: a field may hold one as a number of something.
   */
  readonly #phones = new Map<string, string>();
  /** The digits of cards and of numbers of persons, such as of their taxes, which are written with spaces and without. */
  readonly #numbers = new Map<string, PersonalKind>();
  /** Words of the sources, which no stand-in may be. */
  readonly #said = new Set<string>();

  /** Texts as they were masked by what is known now, where no name stays. */
  readonly #masked = new RecentTexts<string>();

  constructor(options: MaskOptions) {
    this.#options = options;
  }

  /** Returns a text masked with the values known so far. */
  masked(text: string, keptNames: ReadonlySet<string>): string {
    const known = keptNames.size === 0 ? this.#masked.get(text) : undefined;
    if (known !== undefined) return known;
    const composed = text.normalize('NFC');
    const made = plainText(composed, this, keptNames);
    const masked = made === composed ? text : made;
    if (keptNames.size === 0) this.#masked.set(text, masked);
    return masked;
  }

  /** Learns a text that was in none of the pieces that were learned with the same names. */
  learnNew(text: string, keptNames: ReadonlySet<string>): void {
    if (this.#isFirst(text, pieceWith(keptNames))) this.learn(text, keptNames);
  }

  /** Notes that a text was learned under some conditions. Returns whether it is the first time. */
  #isFirst(text: string, key: string): boolean {
    const texts = this.#learned.get(key) ?? new Set();
    if (texts.has(text)) return false;
    this.#learned.set(key, texts.add(text));
    return true;
  }

  learn(value: Json, keptNames: ReadonlySet<string>, field = '', beside: JsonObject = {}, within = ''): void {
    if (typeof value === 'string') {
      this.#isFirst(value, pieceWith(keptNames));
      const inner = jsonIn(value);
      if (inner !== undefined) this.learn(inner, keptNames, field, beside, within);
      else this.#learnSegments(value.normalize('NFC'), keptNames, field, beside, within);
    } else if (typeof value === 'number') this.#learnNumber(value, field);
    else if (Array.isArray(value)) {
      for (const each of value) this.learn(each, keptNames, field, {}, within);
      this.#learnPairs(value, keptNames, field, within);
    } else if (typeof value === 'object' && value !== null) {
      for (const row of rowsOf(value as JsonObject)) this.learn(row, keptNames, field, {}, within);
      this.#learnPairs([value], keptNames, field, within);
      for (const { date, field: named } of dateFieldsIn(value as JsonObject))
        if (/birth|born|dob/.test(named) || kindOfField(field) === 'birthDate') this.#learnBirthDate(date);
      for (const [key, each] of Object.entries(value)) {
        this.#learnText(key, keptNames, '', {}, '');
        const inside = /^(?:name|data|result|attributes)$/.test(field) ? within : field || within;
        const plain = plainValue(each);
        if (plain !== each) this.learn(plain, keptNames, key, value as JsonObject, inside);
        this.learn(each, keptNames, key, value as JsonObject, inside);
      }
    }
  }

  /** Returns the values of JSON or Python between the words of a text. */
  valuesIn(text: string): readonly ValueWithin[] {
    if (!text.includes('{')) return [];
    const known = this.#values.get(text);
    if (known) return known;
    const values = valuesWithin(text);
    this.#values.set(text, values);
    return values;
  }

  /** Learns a list of pairs as the object that it is of. */
  #learnPairs(list: readonly Json[], keptNames: ReadonlySet<string>, field: string, within: string): void {
    const fields = pairsIn(list);
    if (!fields) return;
    for (const [key, value] of Object.entries(fields)) this.learn(value, keptNames, key, fields, field || within);
  }

  /** Learns a text that may hold values of JSON or Python between its words. */
  #learnSegments(
    text: string,
    keptNames: ReadonlySet<string>,
    field: string,
    beside: JsonObject,
    within: string,
  ): void {
    const embedded = this.valuesIn(text);
    let done = 0;
    for (const { start, end, value } of embedded) {
      this.#learnText(text.slice(done, start), keptNames, '', {}, '');
      this.learn(value, keptNames, field, beside, within);
      done = end;
    }
    const rest = text.slice(done);
    if (embedded.length > 0) {
      this.#learnText(rest, keptNames, '', {}, '');
      // A value may be in a cell of a table, whose other cells are on both sides of it.
      this.#learnNamed(text, keptNames, within);
    } else this.#learnText(rest, keptNames, field, beside, within);
    for (const { plain } of encodedIn(text)) this.#learnText(plain, keptNames, '', {}, '');
    const plain = withoutEntities(text);
    if (plain !== text) this.#learnSegments(plain, keptNames, field, beside, within);
  }

  /** Learns the personal data in a text from the question that it answers. */
  learnAnswer(asked: string, answer: string, keptNames: ReadonlySet<string>): void {
    const text = answer.normalize('NFC');
    for (const { kind, start, end } of answersIn(this.#question(asked), text)) {
      if (this.keptIn(text).some((span) => span.start <= start && span.end >= end)) continue;
      const value = text.slice(start, end);
      if (kind === 'name') this.learnName(value, keptNames);
      else this.#add(kind, value);
    }
  }

  #question(text: string): Question {
    const known = this.#questions.get(text);
    if (known) return known;
    const question = questionIn(text);
    this.#questions.set(text, question);
    return question;
  }

  /** Names that one text tells in part and another in full: "I'm maria gonzalez" where the answer is "Hello maria!". */
  learnFullNames(texts: readonly string[], keptNames: ReadonlySet<string>): void {
    const told = texts.flatMap((text) => this.#read(text).names);
    const known = new Set(told.flatMap((name) => name.split(/[ \t]+/u)).map((each) => each.toLowerCase()));
    for (const each of [...known])
      if (keptNames.has(each) || isAlsoWord(each) || each.length < 3 || this.#isKept(each)) known.delete(each);
    const greeted = new Set([...known, ...texts.flatMap((text) => this.#read(text).greeted)]);
    for (const text of texts) {
      for (const { start, end } of fullNamesIn(text, known))
        if (!this.keptIn(text).some((span) => span.start <= start && span.end >= end))
          this.learnName(text.slice(start, end), keptNames);
      for (const { first, last } of this.#read(text).small) {
        if (!greeted.has(first) || isNoName(first) || this.#isKept(first)) continue;
        this.learnName(
          last !== undefined && !isNoName(last) && !this.#isKept(last) ? `${first} ${last}` : first,
          keptNames,
        );
      }
    }
  }

  #isKept(word: string): boolean {
    return this.keptIn(word).length > 0;
  }

  /** A name in full: each of its words is masked, wherever it is. */
  learnName(name: string, keptNames: ReadonlySet<string> = new Set()): void {
    if (keptNames.size === 0) {
      if (this.#names.has(name)) return;
      this.#names.add(apart(name));
    }
    const [whole] = isEastAsian(name) ? (/[\p{L}々·・][\p{L}々ー·・ 　]*/u.exec(name) ?? []) : [];
    if (whole !== undefined) this.#learnEastAsian(whole.trim(), keptNames);
    else {
      // A form has the surname first.
      const ordered = withoutTitles(name.trim()).replace(/^([^,]+),\s*([^,]+)$/, '$2 $1');
      const words = matchesOf(nameWord, ordered).map(([word]) => word);
      const own = words.filter((word) => !keptNames.has(word.toLowerCase()) && !isParticle(word));
      for (const word of own) this.#add('name', word);
      this.#addForms(own);
      // One of its words that is also a word of the language, or a value of the database, stays where it is alone.
      const isNameOnly = (word: string) => !isAlsoWord(word) && !this.#isKept(word);
      if (words.length > 1 && !words.every(isNameOnly) && !words.some((word) => keptNames.has(word.toLowerCase())))
        this.#add('name', name);
    }
  }

  /** Adds other forms of the words of a name, which are replaced alike. */
  #addForms(words: readonly string[]): void {
    for (const word of words) {
      const standIn = () => this.standIn('name', word);
      this.#addForm(withTwoLetters(word), { name: word, is: 'spelling', standIn });
      this.#addForm(withUmlauts(word), { name: word, is: 'umlauts', standIn });
      this.#addForm(genitiveOf(word), { name: word, is: 'genitive', standIn: () => `${standIn()}s` });
    }
    for (const { handle, of } of handlesOf(words)) {
      const firstOf = () => this.standIn('name', of.first).slice(0, of.isInitial ? 1 : undefined);
      const standIn = () => `${firstOf()}${this.standIn('name', of.last)}`;
      this.#addForm(handle, { name: of.last, is: 'handle', standIn });
    }
  }

  #addForm(value: string | null, of: Form): void {
    if (value === null || this.#given.has(value) || this.#entries.has(value) || this.#isKept(value)) return;
    this.#entries.set(value, { kind: 'name', value, of });
    this.#masked.clear();
  }

  /**
   * Returns where a text contains names in Chinese, Japanese or Korean: known ones, and those that it introduces
   * itself.
   */
  eastAsianIn(text: string, keptNames: ReadonlySet<string>): readonly Span[] {
    if (!isEastAsian(text)) return [];
    const kept = this.keptIn(text);
    const told = this.#read(text).eastAsianNames;
    const known = [...this.#eastAsian.spansIn(text)];
    const isKept = ({ start, end }: Span) =>
      kept.some((span) => span.start < end && span.end > start) || keptNames.has(text.slice(start, end));
    const all = [...told, ...known].filter((span) => !isKept(span));
    const spans: Span[] = [];
    for (const span of all.toSorted((a, b) => a.start - b.start || b.end - a.end))
      if (span.start >= (spans.at(-1)?.end ?? 0)) spans.push(span);
    return spans;
  }

  /** Surname and given name have a stand-in each, so that who is called by one of them is the same person. */
  eastAsianStandIn(name: string): string {
    return partsOfName(name)
      .map((part) => this.standIn('name', part))
      .join(' ');
  }

  /** Finds a known date of birth in a text, whatever its spelling, with its replacement. */
  birthDatesIn(text: string): readonly (Span & { readonly standIn: string })[] {
    if (this.#births.size === 0) return [];
    const isKept = coverWhenAsked(() => this.keptIn(text));
    return datesIn(text).flatMap(({ start, end, readings, spell }) => {
      const found = readings.find((each) => this.#births.has(each));
      if (found === undefined || isKept({ start, end })) return [];
      const [made = ''] = readings.map((each) => this.#birthFor(each));
      return [{ start, end, standIn: spell(made) }];
    });
  }

  /** Returns where a text has a number of a phone, a card or a person that is known, in any spelling, and its replacement. */
  knownNumbersIn(text: string): readonly (Span & { readonly standIn: string })[] {
    if (this.#phones.size + this.#numbers.size === 0 || !/\d/.test(text)) return [];
    const isKept = coverWhenAsked(() => this.keptIn(text));
    return numberRunsIn(text).flatMap((groups) => {
      const found: (Span & { readonly standIn: string })[] = [];
      let done = 0;
      for (let to = 0; to < groups.length; to++) {
        const known = this.#knownUntil(text, groups.slice(Math.max(done, to + 1 - mostDigits), to + 1));
        if (!known) continue;
        const span = { start: known.start, end: groups[to]?.end ?? 0 };
        done = to + 1;
        if (!isKept(span)) found.push({ ...span, standIn: this.standIn(known.kind, text.slice(span.start, span.end)) });
      }
      return found;
    });
  }

  /** Returns the known number that some groups of a run end with, and where it begins. */
  #knownUntil(text: string, groups: NumberRun): { readonly kind: PersonalKind; readonly start: number } | null {
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

  #learnEastAsian(name: string, keptNames: ReadonlySet<string>): void {
    if (keptNames.has(name)) return;
    this.#eastAsian.add(name);
    this.#masked.clear();
  }

  /** Returns where a text may say what is known, by the word of it that begins at a place. */
  entriesAt(text: string, word: string, index: number): readonly (Span & { readonly known: Entry })[] {
    return this.#entries.at(text, word, index);
  }

  /** Parts of a text that stay as they are. */
  keptIn(text: string): readonly Span[] {
    return [...this.#ownIn(text).whole, ...this.#given.spansIn(text)];
  }

  /** Values of the domain's own database in a text: all, and those that are not a word of a name that somebody has. */
  #ownIn(text: string): OwnValues {
    const known = this.#own.get(text);
    if (known === noSpans) return noValues;
    if (known) return { whole: unpacked(known[0]), besideNames: unpacked(known[1]) };
    const whole = this.#options.kept?.(text) ?? [];
    const isTold = coverOf(whole.length === 0 ? [] : toldNamesIn(text));
    const isOfName = (span: Span) => !/\s/.test(text.slice(span.start, span.end)) && isTold(span);
    const own = { whole, besideNames: whole.filter((span) => !isOfName(span)) };
    if (whole.length === 0) this.#own.set(text, noSpans);
    else if (text.length < mostPacked) this.#own.set(text, [packed(own.whole), packed(own.besideNames)]);
    return own;
  }

  #read(text: string): ReadText {
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
      ...(/[ \t]/.test(text) ? { greeted: greetedIn(text), small: smallNamesIn(text) } : noSmallNames),
    };
    this.#texts.set(text, read);
    const lower = text.toLowerCase();
    if (isAscii(lower)) for (const { word } of wordsIn(lower)) this.#said.add(apart(word));
    else for (const [word] of matchWords(lower)) this.#said.add(apart(word));
    if (text.length <= longestStandIn) this.#said.add(lower);
    return read;
  }

  /** Returns the same without single words of the database that are within the name of a person: Karen Black. */
  keptBesideNames(text: string): readonly Span[] {
    return [...this.#ownIn(text).besideNames, ...this.#given.spansIn(text)];
  }

  standIn(kind: PersonalKind, value: string): string {
    if (kind === 'id' && /^\d{8,}$/.test(value) && this.#phones.has(value.slice(-8)))
      return this.standIn('phone', value);
    if (kind === 'name' && /[ \t]/.test(value))
      return value.replace(nameWord, (each) =>
        isParticle(each) || this.#given.has(each) ? each : this.standIn('name', each),
      );
    const key = `${kind} ${keyOf(kind, value)}${isSpelled.has(kind) ? ` ${value.replace(/[A-Za-z0-9]/g, '0')}` : ''}`;
    const found = this.#standIns.get(key);
    if (found !== undefined) return kind === 'name' ? inCase(value, found) : found;
    const card = kind === 'card' && /^\d{4}$/.test(value) ? this.#cards.get(value) : undefined;
    if (card !== undefined) {
      const end = this.standIn('card', card).replace(/\D/g, '').slice(-4);
      this.#given.set(end, true);
      return end;
    }
    let made = '';
    for (let attempt = 0; attempt < 200; attempt++) {
      made = standInFor(kind, value, this.#options.seed, attempt, (word) => this.standIn('name', word));
      if (made.toLowerCase() !== value.toLowerCase() && !this.#isTaken(made)) break;
    }
    this.#standIns.set(key, made);
    this.#given.set(made, true);
    return made;
  }

  counts(): Readonly<Partial<Record<PersonalKind, number>>> {
    const counts: Partial<Record<PersonalKind, number>> = {};
    for (const { kind, value, of } of this.#entries.all())
      if (!of && (kind !== 'name' || !/\s/.test(value))) counts[kind] = (counts[kind] ?? 0) + 1;
    const births = new Set([...this.#births].map((each) => [...each].toSorted().join('')));
    if (births.size > 0) counts.birthDate = (counts.birthDate ?? 0) + births.size;
    if (this.#eastAsian.count > 0) counts.name = (counts.name ?? 0) + this.#eastAsian.count;
    return counts;
  }

  #isTaken(made: string): boolean {
    const plain = made.toLowerCase();
    return (
      this.#given.has(plain) ||
      this.#said.has(plain) ||
      (plain.match(wordPattern) ?? []).every((each) => this.#said.has(each))
    );
  }

  #learnText(text: string, keptNames: ReadonlySet<string>, field: string, beside: JsonObject, within: string): void {
    const others = field === '' ? '' : Object.keys(beside).join(' ');
    if (!this.#isFirst(text, ['field', field, within, others, ...keptNames].join('\n'))) return;
    const read = this.#read(text);
    const whole = this.#ofField(text, field, beside, within);
    const found = whole === null ? [] : [{ kind: whole, start: 0, end: text.length }];
    this.#learnNamed(text, keptNames, within);
    const all = [...found, ...read.found];
    if (all.length === 0 && read.eastAsianNames.length === 0) return;
    const kept = this.keptBesideNames(text);
    for (const { start, end } of read.eastAsianNames)
      if (!kept.some((span) => span.start < end && span.end > start))
        this.#learnEastAsian(text.slice(start, end), keptNames);
    const isKept = coverOf(kept);
    const outer = outermost(all);
    for (const each of all) {
      if (!outer.has(each) || isKept(each)) continue;
      const value = text.slice(each.start, each.end);
      if (each.kind !== 'name') this.#add(each.kind, value);
      else this.learnName(value, keptNames);
    }
  }

  /** Returns what is found in a piece of a text, as it is in the whole of it. */
  #foundIn(piece: { readonly text: string; readonly start: number }, whole: string): readonly Found[] {
    const all = [
      ...patternsIn(piece.text, whole.slice(0, piece.start)),
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

  /** Learns what a column of a table, an element or a parameter declares. */
  #learnNamed(text: string, keptNames: ReadonlySet<string>, outer: string): void {
    for (const { value, field, within, beside, mayBeProse = false } of namedValuesIn(text)) {
      const others = Object.fromEntries(beside.map((each) => [each, null]));
      const kind = this.#ofField(value, field, others, within || outer);
      if (
        kind === null ||
        (mayBeProse && !mayBe(kind, value)) ||
        coverOf(this.keptBesideNames(value))({ start: 0, end: value.length })
      )
        continue;
      if (kind === 'name') this.learnName(value, keptNames);
      else this.#add(kind, value);
    }
  }

  /** Returns where a text spells a known name letter by letter, and its stand-in spelled alike. */
  spelledIn(text: string): readonly (Span & { readonly standIn: string })[] {
    return matchesOf(runs, text).flatMap(({ 0: spelled, groups, index }) => {
      const { sign = ' ' } = groups ?? {};
      const letters = [...spelled.matchAll(/\p{L}/gu)].map((each) => ({ letter: each[0], at: index + each.index }));
      const found: (Span & { readonly standIn: string })[] = [];
      // Other letters may be beside those of the name: "B R A U N I think".
      for (let from = 0; from < letters.length - 2; from++)
        for (let to = letters.length; to > from + 2; to--) {
          const word = letters.slice(from, to).map(({ letter }) => letter);
          const entry = this.#entries.get(word.join(''));
          if (entry?.kind !== 'name') continue;
          const standIn = [...this.standInOf(entry, word.join(''))].join(sign);
          found.push({ start: letters[from]?.at ?? 0, end: (letters[to - 1]?.at ?? 0) + 1, standIn });
          from = to - 1;
          break;
        }
      return found;
    });
  }

  /** Returns the replacement of a piece of a text that is an entry. */
  standInOf({ kind, of }: Entry, said: string): string {
    return of ? inCase(said, of.standIn()) : this.standIn(kind, said);
  }

  #ofField(text: string, field: string, beside: JsonObject, within: string): PersonalKind | null {
    if (field === '' || text.length > 200 || !/[\p{L}\p{N}]/u.test(text)) return null;
    if (isSecretField(field)) return text.length >= 3 && !/\s/.test(text) ? 'id' : null;
    const kind = kindOfField(field);
    if (kind === 'id' && isNationalId(field)) return text.replace(/\D/g, '').length >= 5 ? 'id' : null;
    if (kind === 'id') return text.length >= 4 && /\d/.test(text) && !/\s/.test(text) ? 'id' : null;
    if (kind === 'birthDate' && /^\d{1,3}$/.test(text)) return null;
    // `email_verified` is of an address as well.
    if (kind === 'email' && !/@|%40/.test(text)) return null;
    if (kind !== null) return kind;
    if (isOfBirth(field) && isDate(text)) return 'birthDate';
    return isNamedPerson(field, text) || isPersonName(field, text, beside, within) ? 'name' : null;
  }

  #shapesIn(text: string): readonly Found[] {
    if (!/\d/.test(text)) return [];
    return (this.#options.ids ?? []).flatMap((shape) =>
      matchesOf(shape, text).map(
        ({ 0: value, index }): Found => ({ kind: 'id', start: index, end: index + value.length }),
      ),
    );
  }

  #learnNumber(value: number, field: string): void {
    const text = String(value);
    const kind = kindOfField(field) ?? (isPersonWord(field) && text.length >= 7 ? 'id' : null);
    this.#said.add(text);
    if (!Number.isInteger(value) || this.keptIn(text).length > 0) return;
    if (kind !== null && text.length >= 4) this.#add(kind, text);
    else if (text.length >= 9 && !/time|date|_at$|At$|created|updated|stamp|amount|price|total|ms$/i.test(field))
      for (const each of patternsIn(text)) this.#add(each.kind, text.slice(each.start, each.end));
  }

  /** Whether a value is a date, which is then looked for in every spelling. */
  #learnBirthDate(value: string): boolean {
    const [date] = datesIn(value).toSorted((a, b) => b.end - b.start - (a.end - a.start));
    const dates = date?.readings ?? [dateOfTimestamp(value)?.date ?? []].flat();
    for (const each of dates) if (!this.#madeBirths.has(each)) this.#births.add(each);
    this.#masked.clear();
    return date !== undefined;
  }

  /** Returns the fields of an object that are the parts of a known date of birth, with their replacements. */
  birthFieldsIn(object: JsonObject): JsonObject {
    if (this.#births.size === 0) return {};
    const known = dateFieldsIn(object).filter(({ date }) => this.#births.has(date));
    return Object.assign({}, ...known.map(({ date, spell }) => spell(this.#birthFor(date))));
  }

  /** Returns the replacement of a date of birth, and notes that it is one. */
  #birthFor(date: string): string {
    const made = birthDateFor(date, this.#options.seed);
    this.#madeBirths.add(made);
    return made;
  }

  #add(kind: PersonalKind, value: string): void {
    const trimmed = value.trim();
    if (!/[\p{L}\p{N}]/u.test(trimmed) || this.#given.has(trimmed)) return;
    if (kind === 'birthDate' && this.#learnBirthDate(trimmed)) return;
    if (kind === 'phone') this.#phones.set(trimmed.replace(/\D/g, '').slice(-8), trimmed);
    if ((kind === 'id' || kind === 'card') && /^\d(?:[ ./-]?\d){6,}$/.test(trimmed))
      this.#numbers.set(trimmed.replace(/\D/g, ''), kind);
    if (kind === 'card' && /\d{4}$/.test(trimmed) && trimmed.length > 8) this.#cards.set(trimmed.slice(-4), trimmed);
    const known = this.#entries.get(trimmed);
    if (known && (!known.of || known.of.is === 'spelling')) return;
    const isSpelling = kind === 'name' && known?.of?.is === 'umlauts';
    const entry = { kind, value: trimmed };
    this.#entries.set(trimmed, isSpelling && known.of ? { ...entry, of: { ...known.of, is: 'spelling' } } : entry);
    this.#masked.clear();
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

/** Returns a word that does not hold the text that it is from in the memory, as a longer part of a text does. */
const apart = (word: string) => (word.length < 13 ? word : [...word].join(''));

/** Returns what is not within something longer: the digits of an IBAN are not a separate number. */
function outermost(found: readonly Found[]): ReadonlySet<Found> {
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

/** The JSON object or list that a text is; undefined for any other text, and for one that no one can go down into. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) return undefined;
    return (typeof value === 'object' && value !== null) || typeof value === 'string' ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function maskedJson(value: Json, book: Book, keptNames: ReadonlySet<string>): Json {
  if (typeof value === 'string') return maskedText(value, book, keptNames);
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return value;
    const masked = maskedText(String(value), book, keptNames);
    return masked === String(value) ? value : Number(masked);
  }
  if (Array.isArray(value)) return value.map((each) => maskedJson(each, book, keptNames));
  if (typeof value !== 'object' || value === null) return value;
  const made: Record<string, Json> = {};
  const births = book.birthFieldsIn(value as JsonObject);
  for (const [key, each] of Object.entries(value))
    put(made, book.masked(key, keptNames), births[key] ?? maskedJson(each, book, keptNames));
  return made;
}

function maskedText(text: string, book: Book, keptNames: ReadonlySet<string>): string {
  const inner = jsonIn(text);
  if (inner === undefined) return withValues(text, book, keptNames);
  const masked = JSON.stringify(maskedJson(inner, book, keptNames));
  return masked === JSON.stringify(inner) ? text : masked;
}

/** Returns a text masked, in which values of JSON are masked as such where they have escapes. */
function withValues(text: string, book: Book, keptNames: ReadonlySet<string>): string {
  let [made, done] = ['', 0];
  for (const { start, end, value } of book.valuesIn(text)) {
    const source = text.slice(start, end);
    if (!(source.includes('\\u') || hasBirthFields(value, book)) || jsonIn(source) === undefined) continue;
    const masked = JSON.stringify(maskedJson(value, book, keptNames));
    made += book.masked(text.slice(done, start), keptNames) + (masked === JSON.stringify(value) ? source : masked);
    done = end;
  }
  return made + book.masked(text.slice(done), keptNames);
}

function hasBirthFields(value: Json, book: Book): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isOne = !Array.isArray(value) && Object.keys(book.birthFieldsIn(value as JsonObject)).length > 0;
  return isOne || Object.values(value).some((each: Json) => hasBirthFields(each, book));
}

function plainText(text: string, book: Book, keptNames: ReadonlySet<string>): string {
  const names = book.eastAsianIn(text, keptNames).map(({ start, end }) => ({
    start,
    end,
    standIn: book.eastAsianStandIn(text.slice(start, end)),
  }));
  const encoded = encodedIn(text).flatMap(({ start, end, plain }) => {
    const masked = book.masked(plain, keptNames);
    return masked === plain ? [] : [{ start, end, standIn: encodeURIComponent(masked) }];
  });
  const letters = entitiesIn(text).flatMap(({ start, end, plain }) => {
    const masked = book.masked(plain, keptNames);
    return masked === plain ? [] : [{ start, end, standIn: masked }];
  });
  const found = [
    ...names,
    ...encoded,
    ...letters,
    ...book.birthDatesIn(text),
    ...book.knownNumbersIn(text),
    ...book.spelledIn(text),
  ].toSorted((a, b) => a.start - b.start || b.end - a.end);
  let [made, done] = ['', 0];
  for (const { start, end, standIn } of found) {
    if (start < done) continue;
    made += `${withStandIns(text.slice(done, start), book, keptNames)}${standIn}`;
    done = end;
  }
  return made + withStandIns(text.slice(done), book, keptNames);
}

function withStandIns(text: string, book: Book, keptNames: ReadonlySet<string>): string {
  const isKept = coverWhenAsked(() => book.keptBesideNames(text));
  let [made, done] = ['', 0];
  for (const { word, index } of wordsIn(text)) {
    if (index < done) continue;
    // Handles have numbers behind a name.
    const [name = ''] = /^\p{L}{3,}(?=\d{1,4}$)/u.exec(word) ?? [];
    const entries = book.entriesAt(text, word, index);
    const numbered = name === '' ? [] : book.entriesAt(text, name, index);
    const entry = longest([...entries, ...numbered], ({ start, end, known }) => {
      if (start < done || isKept({ start, end })) return false;
      if (known.kind === 'name' && !isNamedBy(text.slice(start, end), known, keptNames)) return false;
      return isWhole(text, start, known.kind === 'name' && end === index + name.length ? index + word.length : end);
    });
    if (!entry) continue;
    const { start, end, known } = entry;
    made += text.slice(done, start) + book.standInOf(known, text.slice(start, end));
    done = end;
  }
  return made + text.slice(done);
}

/** Whether what is written here means the name that is known. */
function isNamedBy(said: string, { value, of }: Entry, keptNames: ReadonlySet<string>): boolean {
  const lower = said.toLowerCase();
  if (keptNames.has(lower) || keptNames.has((of?.name ?? value).toLowerCase())) return false;
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
