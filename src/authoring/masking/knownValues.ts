import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { answersIn, type Question, questionIn } from './answers.ts';
import { BirthDates } from './birthDates.ts';
import { dateFieldsIn, isDate, isOfBirth } from './dates.ts';
import {
  fieldOfName,
  hasPartsOfName,
  isNamedPerson,
  isNameField,
  isNationalId,
  isPersonName,
  isPersonWord,
  isSecretField,
  kindOfField,
  mayBe,
} from './fields.ts';
import { KeptValues } from './keptValues.ts';
import type { PersonalKind } from './kind.ts';
import { KnownNames } from './knownNames.ts';
import { KnownNumbers } from './knownNumbers.ts';
import { genitiveOf, handlesOf, nameWord, withTwoLetters, withUmlauts } from './nameForms.ts';
import { fullNamesIn, isAlsoWord, isNoName, isParticle, withoutTitles } from './names.ts';
import { patternsIn } from './patterns.ts';
import { outermost, type ReadOptions, TextReader } from './readText.ts';
import { Replacements } from './replacements.ts';
import { isOfOneConversation, type KnownValue, type NameForm, Scope } from './scope.ts';
import { inCase } from './standIn.ts';
import { namedValuesIn } from './tables.ts';
import { matchesOf } from './text/matches.ts';
import { RecentTexts } from './text/recentTexts.ts';
import { isEastAsian } from './text/script.ts';
import { apart, composed, jsonIn } from './text/texts.ts';
import { coverOf, type Span, ValueIndex, withoutAccents } from './text/valueIndex.ts';
import {
  encodedIn,
  pairsIn,
  plainValue,
  rowsOf,
  rowsOfList,
  type ValueWithin,
  valuesWithin,
  withoutEntities,
} from './valuesWithin.ts';

export type KnownValuesOptions = ReadOptions & {
  /** The same seed gives the same replacements. Who has it can find out whom one replaces. */
  readonly seed: string;
  /** Spans of a text that stay: values of the domain's own database. */
  readonly kept?: (text: string) => readonly Span[];
};

/** Describes the place of a value: its field, the fields beside it, and what they are of. */
type FieldPlace = { readonly field: string; readonly beside: JsonObject; readonly within: string };

const nowhere: FieldPlace = { field: '', beside: {}, within: '' };

/** Returns the conditions under which a piece is learned. */
const pieceWith = (scope: Scope) => (scope.keptNames.size === 0 ? 'piece' : ['piece', ...scope.keptNames].join('\n'));

const nothing: readonly KnownValue[] = [];
const everywhere = new Scope();

/** Whether a value is known in a conversation alone. What is known beforehand is known in all. */
const isOnlyIn = (scope: Scope, kind: PersonalKind, value: string) =>
  scope !== everywhere && isOfOneConversation(kind, value);

/** The personal values that were found so far, and their replacements. */
export class KnownValues {
  readonly kept: KeptValues;
  readonly births: BirthDates;
  readonly replacements: Replacements;
  readonly #numbers = new KnownNumbers();
  readonly #reader: TextReader;
  readonly #values = new RecentTexts<readonly ValueWithin[]>();
  readonly #questions = new RecentTexts<Question>();
  /** Names that were learned where none stays. */
  readonly #names = new Set<string>();
  /**
   * The values of one conversation in texts that were learned, by the conditions: the field that they were in, the fields
   * beside it, and the names that stay.
   */
  readonly #learned = new Map<string, Map<string, readonly KnownValue[]>>();
  /** Receives the values of one conversation that are found in what is being learned; the innermost last. */
  readonly #found: KnownValue[][] = [];
  readonly #ofOneConversation = new Map<string, PersonalKind>();
  readonly #entries = new ValueIndex<KnownValue>(withoutAccents);
  readonly #eastAsian = new KnownNames();
  #changes = 0;

  constructor(options: KnownValuesOptions) {
    this.births = new BirthDates(options.seed);
    this.replacements = new Replacements(options.seed, this.#numbers);
    this.kept = new KeptValues(options.kept ?? (() => []), this.replacements.given);
    this.#reader = new TextReader(options, (text) => this.replacements.addText(text));
  }

  /** Returns a number that rises when another value is known: a text may be masked differently from then on. */
  get changes(): number {
    return this.#changes;
  }

  /** Learns a text that was in none of the pieces that were learned with the same names. */
  learnNew(text: string, scope: Scope): void {
    this.#once(text, pieceWith(scope), scope, () => this.learn(text, scope));
  }

  /** Learns a text, unless it was learned under the same conditions: then its values are added to those of the scope. */
  #once(text: string, key: string, scope: Scope, learn: () => void): void {
    const known = this.#learned.get(key)?.get(text);
    if (known) for (const each of known) this.#addToScope(each, scope);
    else this.#noting(text, key, learn);
  }

  /** Learns a text, and notes what it has that means a person only in its conversation. */
  #noting(text: string, key: string, learn: () => void): void {
    const texts = this.#learned.get(key) ?? new Map<string, readonly KnownValue[]>();
    if (texts.size === 0) this.#learned.set(key, texts);
    texts.set(text, nothing);
    const found: KnownValue[] = [];
    this.#found.push(found);
    learn();
    this.#found.pop();
    if (found.length > 0) texts.set(text, found);
  }

  #addToScope(known: KnownValue, scope: Scope): void {
    scope.add(known);
    for (const found of this.#found) found.push(known);
  }

  /** Learns the personal data in a value, from its texts and from what its fields declare. */
  learn(value: Json, scope: Scope, place: FieldPlace = nowhere): void {
    if (typeof value === 'string') {
      const inner = jsonIn(value);
      this.#noting(value, pieceWith(scope), () => {
        if (inner !== undefined) this.learn(inner, scope, place);
        else this.#learnSegments(composed(value), scope, place);
      });
    } else if (typeof value === 'number') this.#learnNumber(value, place.field, scope);
    else if (Array.isArray(value)) {
      for (const row of rowsOfList(value)) this.learn(row, scope, place);
      for (const each of value) this.learn(each, scope, { ...place, beside: {} });
      this.#learnPairs(value, scope, place);
    } else if (typeof value === 'object' && value !== null)
      this.#learnObject(value as JsonObject, scope, { ...place, beside: {} });
  }

  #learnObject(value: JsonObject, scope: Scope, place: FieldPlace): void {
    const { field, within } = place;
    for (const row of rowsOf(value)) this.learn(row, scope, place);
    this.#learnPairs([value], scope, place);
    for (const { date, field: named } of dateFieldsIn(value))
      if (/birth|born|dob/.test(named) || kindOfField(field) === 'birthDate') this.#learnBirthDate(date);
    const inside = /^(?:name|data|result|attributes)$/.test(field) ? within : field || within;
    const hasParts = isNameField(field) || hasPartsOfName(value);
    for (const [key, each] of Object.entries(value)) {
      this.#learnText(key, scope, nowhere);
      const named = hasParts ? fieldOfName(key) : key;
      const there = { field: named, beside: value, within: inside };
      const plain = plainValue(each);
      if (plain !== each) this.learn(plain, scope, there);
      this.learn(each, scope, there);
    }
    const [first, last] = [/first|given/i, /last|family/i].map((part) => partOfNameIn(value, part));
    const whole = `${first} ${last}`;
    if (first && last && !this.kept.covers(whole, { start: 0, end: whole.length })) this.learnName(whole, scope);
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
  #learnPairs(list: readonly Json[], scope: Scope, { field, within }: FieldPlace): void {
    const fields = pairsIn(list);
    if (!fields) return;
    for (const [key, value] of Object.entries(fields))
      this.learn(value, scope, { field: key, beside: fields, within: field || within });
  }

  /** Learns a text that may hold values of JSON or Python between its words. */
  #learnSegments(text: string, scope: Scope, place: FieldPlace): void {
    const embedded = this.valuesIn(text);
    let done = 0;
    for (const { start, end, value } of embedded) {
      this.#learnText(text.slice(done, start), scope, nowhere);
      this.learn(value, scope, place);
      done = end;
    }
    const rest = text.slice(done);
    if (embedded.length > 0) {
      this.#learnText(rest, scope, nowhere);
      // A value may be in a cell of a table, whose other cells are on both sides of it.
      this.#learnNamed(text, scope, place.within);
    } else this.#learnText(rest, scope, place);
    for (const { plain } of encodedIn(text)) this.#learnText(plain, scope, nowhere);
    const plain = withoutEntities(text);
    if (plain !== text) this.#learnSegments(composed(plain), scope, place);
  }

  /** Learns the personal data in a text from the question that it answers. */
  learnAnswer(asked: string, answer: string, scope: Scope): void {
    const text = composed(answer);
    for (const span of answersIn(this.#question(asked), text))
      if (!this.kept.covers(text, span)) this.#add(span.kind, text.slice(span.start, span.end), scope);
  }

  #question(text: string): Question {
    const known = this.#questions.get(text);
    if (known) return known;
    const question = questionIn(text);
    this.#questions.set(text, question);
    return question;
  }

  /** Names that one text tells in part and another in full: "I'm maria gonzalez" where the answer is "Hello maria!". */
  learnFullNames(texts: readonly string[], scope: Scope): void {
    const read = texts.map((text) => this.#reader.read(text));
    const known = new Set(read.flatMap(({ names }) => names.flatMap((name) => name.toLowerCase().split(/[ \t]+/u))));
    for (const each of [...known])
      if (scope.keptNames.has(each) || isAlsoWord(each) || each.length < 3 || this.kept.has(each)) known.delete(each);
    const greeted = new Set([...known, ...read.flatMap((each) => each.greeted)]);
    const mayBeName = (word: string) => !isNoName(word) && !this.kept.has(word);
    for (const [at, text] of texts.entries()) {
      for (const span of fullNamesIn(text, known))
        if (!this.kept.covers(text, span)) this.learnName(text.slice(span.start, span.end), scope);
      for (const { first, last } of read[at]?.small ?? [])
        if (greeted.has(first) && mayBeName(first))
          this.learnName(last !== undefined && mayBeName(last) ? `${first} ${last}` : first, scope);
    }
  }

  /**
   * Learns a name in full: each of its words is masked, wherever it is.
   * @param scope the conversation that it is from; a name that is known beforehand is from none
   */
  learnName(name: string, scope: Scope = everywhere): void {
    const isEverywhere = scope.keptNames.size === 0;
    if (isEverywhere && this.#names.has(name)) return;
    const [whole] = isEastAsian(name) ? (/[\p{L}々·・][\p{L}々ー·・ 　]*/u.exec(name) ?? []) : [];
    if (whole !== undefined) this.#learnEastAsian(whole.trim(), scope);
    const hasOwn = whole === undefined && this.#learnWords(name, scope);
    if (isEverywhere && !hasOwn) this.#names.add(apart(name));
  }

  /** Learns the words of a name. Returns whether one of them means a person only in its conversation. */
  #learnWords(name: string, scope: Scope): boolean {
    // A form has the surname first.
    const ordered = withoutTitles(name.trim()).replace(/^([^,]+),\s*([^,]+)$/, '$2 $1');
    const words = matchesOf(nameWord, ordered).map(([word]) => word);
    const own = words.filter((word) => !scope.keptNames.has(word.toLowerCase()) && !isParticle(word));
    for (const word of own) this.#addValue('name', word, scope);
    const isOfOne = (word: string) => isOnlyIn(scope, 'name', word);
    this.#addForms(own, isOfOne);
    // One of its words that is also a word of the language, or a value of the database, stays where it is alone.
    const isNameOnly = (word: string) => !isAlsoWord(word) && !this.kept.has(word) && !isOfOne(word);
    if (words.length > 1 && !words.every(isNameOnly) && !words.some((word) => scope.keptNames.has(word.toLowerCase())))
      this.#addValue('name', name, scope);
    return own.some(isOfOne);
  }

  /** Adds other forms of the words of a name, which are replaced alike. */
  #addForms(words: readonly string[], isOfOne: (word: string) => boolean): void {
    for (const word of words) {
      if (isOfOne(word)) continue;
      const standIn = () => this.replacements.of('name', word);
      this.#addForm(withTwoLetters(word), { name: word, is: 'spelling', standIn });
      this.#addForm(withUmlauts(word), { name: word, is: 'umlauts', standIn });
      this.#addForm(genitiveOf(word), { name: word, is: 'genitive', standIn: () => `${standIn()}s` });
    }
    for (const { handle, of } of handlesOf(words)) {
      const firstOf = () => this.replacements.of('name', of.first).slice(0, of.isInitial ? 1 : undefined);
      const standIn = () => `${firstOf()}${this.replacements.of('name', of.last)}`;
      this.#addForm(handle, { name: of.last, is: 'handle', standIn });
    }
  }

  #addForm(value: string | null, of: NameForm): void {
    if (value === null || this.replacements.given.has(value) || this.#entries.has(value) || this.kept.has(value))
      return;
    this.#entries.set(value, { kind: 'name', value, of });
    this.#changes += 1;
  }

  /**
   * Returns where a text contains names in Chinese, Japanese or Korean: known ones, and those that it introduces
   * itself.
   */
  eastAsianIn(text: string, scope: Scope): readonly Span[] {
    if (!isEastAsian(text)) return [];
    const kept = this.kept.spansIn(text);
    const isKept = ({ start, end }: Span) =>
      kept.some((span) => span.start < end && span.end > start) || scope.keptNames.has(text.slice(start, end));
    const all = [...this.#reader.read(text).eastAsianNames, ...this.#eastAsian.spansIn(text)];
    const spans: Span[] = [];
    for (const span of all.filter((each) => !isKept(each)).toSorted((a, b) => a.start - b.start || b.end - a.end))
      if (span.start >= (spans.at(-1)?.end ?? 0)) spans.push(span);
    return spans;
  }

  /** Returns where a text has a known number of a phone, a card or a person, in any spelling, with its kind. */
  numbersIn(text: string): ReturnType<KnownNumbers['spansIn']> {
    return this.#numbers.spansIn(text);
  }

  #learnEastAsian(name: string, scope: Scope): void {
    if (scope.keptNames.has(name)) return;
    this.#eastAsian.add(name);
    this.#changes += 1;
  }

  /** Returns where a text may have a known value, by the word of it that begins at a place. */
  entriesAt(text: string, word: string, index: number): readonly (Span & { readonly known: KnownValue })[] {
    return this.#entries.at(text, word, index);
  }

  entry(value: string): KnownValue | undefined {
    return this.#entries.get(value);
  }

  /** Returns the replacement of a piece of a text that is a known value. */
  replacementOf({ kind, of }: KnownValue, said: string): string {
    return of ? inCase(said, of.standIn()) : this.replacements.of(kind, said);
  }

  /** Returns the number of different values of each kind. */
  counts(): Readonly<Partial<Record<PersonalKind, number>>> {
    const counts: Partial<Record<PersonalKind, number>> = {};
    for (const { kind, value, of } of this.#entries.all())
      if (!of && (kind !== 'name' || !/\s/.test(value))) counts[kind] = (counts[kind] ?? 0) + 1;
    const births = this.births.count;
    for (const kind of this.#ofOneConversation.values()) counts[kind] = (counts[kind] ?? 0) + 1;
    if (births > 0) counts.birthDate = (counts.birthDate ?? 0) + births;
    if (this.#eastAsian.count > 0) counts.name = (counts.name ?? 0) + this.#eastAsian.count;
    return counts;
  }

  #learnText(text: string, scope: Scope, place: FieldPlace): void {
    const others = place.field === '' ? '' : Object.keys(place.beside).join(' ');
    const names = scope.keptNames.size === 0 ? '' : [...scope.keptNames].join('\n');
    const key = `field\n${place.field}\n${place.within}\n${others}\n${names}`;
    this.#once(text, key, scope, () => this.#learnPlaced(text, scope, place));
  }

  #learnPlaced(text: string, scope: Scope, place: FieldPlace): void {
    const read = this.#reader.read(text);
    const whole = kindInField(text, place);
    const found = whole === null ? [] : [{ kind: whole, start: 0, end: text.length }];
    this.#learnNamed(text, scope, place.within);
    const all = [...found, ...read.found];
    if (all.length === 0 && read.eastAsianNames.length === 0) return;
    const kept = this.kept.spansBesideNames(text);
    for (const { start, end } of read.eastAsianNames)
      if (!kept.some((span) => span.start < end && span.end > start))
        this.#learnEastAsian(text.slice(start, end), scope);
    const isKept = coverOf(kept);
    const outer = outermost(all);
    for (const each of all)
      if (outer.has(each) && !isKept(each)) this.#add(each.kind, text.slice(each.start, each.end), scope);
  }

  /** Learns what a column of a table, an element or a parameter declares. */
  #learnNamed(text: string, scope: Scope, outer: string): void {
    for (const { value, field, within, beside, mayBeProse = false } of namedValuesIn(text)) {
      const others = Object.fromEntries(beside.map((each) => [each, null]));
      const kind = kindInField(value, { field, beside: others, within: within || outer });
      if (kind === null || (mayBeProse && !mayBe(kind, value))) continue;
      if (!coverOf(this.kept.spansBesideNames(value))({ start: 0, end: value.length })) this.#add(kind, value, scope);
    }
  }

  #learnNumber(value: number, field: string, scope: Scope): void {
    const text = String(value);
    const kind = kindOfField(field) ?? (isPersonWord(field) && text.length >= 7 ? 'id' : null);
    this.replacements.addWord(text);
    if (!Number.isInteger(value) || this.kept.has(text)) return;
    // The code of a card has three digits.
    if (kind !== null && text.length >= (kind === 'card' ? 3 : 4)) this.#addValue(kind, text, scope);
    else if (text.length >= 9 && !/time|date|_at$|At$|created|updated|stamp|amount|price|total|ms$/i.test(field))
      for (const each of patternsIn(text)) this.#addValue(each.kind, text.slice(each.start, each.end), scope);
  }

  /** Returns whether a value is a date, which is then looked for in every spelling. */
  #learnBirthDate(value: string): boolean {
    const isDateOfBirth = this.births.add(value);
    this.#changes += 1;
    return isDateOfBirth;
  }

  #add(kind: PersonalKind, value: string, scope: Scope): void {
    if (kind === 'name') this.learnName(value, scope);
    else this.#addValue(kind, value, scope);
  }

  #addValue(kind: PersonalKind, value: string, scope: Scope): void {
    const trimmed = value.trim();
    if (!/[\p{L}\p{N}]/u.test(trimmed) || this.replacements.given.has(trimmed)) return;
    if (kind === 'birthDate' && this.#learnBirthDate(trimmed)) return;
    if (isOnlyIn(scope, kind, trimmed)) {
      this.#ofOneConversation.set(trimmed.toLowerCase(), kind);
      this.#addToScope({ kind, value: trimmed }, scope);
      return;
    }
    this.#numbers.add(kind, trimmed);
    const known = this.#entries.get(trimmed);
    if (known && (!known.of || known.of.is === 'spelling')) return;
    const isSpelling = kind === 'name' && known?.of?.is === 'umlauts';
    const entry = { kind, value: trimmed };
    this.#entries.set(trimmed, isSpelling && known.of ? { ...entry, of: { ...known.of, is: 'spelling' } } : entry);
    this.#changes += 1;
  }
}

/** Returns the text of the field that has a part of a name. */
function partOfNameIn(value: JsonObject, part: RegExp): string | undefined {
  const isPart = ([key, each]: [string, Json]) =>
    part.test(key) && kindOfField(key) === 'name' && typeof each === 'string' && /^\p{L}[\p{L}\p{M}'’-]*$/u.test(each);
  return Object.entries(value).find(isPart)?.[1] as string | undefined;
}

/** Returns the kind of a text that its place declares. */
function kindInField(text: string, { field, beside, within }: FieldPlace): PersonalKind | null {
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
