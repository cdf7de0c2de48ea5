import { partsOfName } from './eastAsianNames.ts';
import type { PersonalKind } from './kind.ts';
import type { KnownNumbers } from './knownNumbers.ts';
import { nameWord } from './nameForms.ts';
import { isParticle } from './names.ts';
import { inCase, keyOf, standInFor } from './standIn.ts';
import { isAscii, matchWords, wordPattern } from './text/script.ts';
import { apart } from './text/texts.ts';
import { indexOfValues, wordsIn } from './text/valueIndex.ts';

/** The kinds of values of which each spelling has its own replacement, with the same digits. */
const isSpelled: ReadonlySet<PersonalKind> = new Set(['phone', 'card', 'iban', 'id']);

/** No replacement has more characters. */
const longest = 200;

/** The replacements that were given, the same for the same value. None is a word of the sources. */
export class Replacements {
  /** All that were given. */
  readonly given = indexOfValues([]);
  readonly #seed: string;
  readonly #numbers: KnownNumbers;
  /** By kind and key of the value. */
  readonly #known = new Map<string, string>();
  /** Words of the sources, which no replacement may be. */
  readonly #said = new Set<string>();

  constructor(seed: string, numbers: KnownNumbers) {
    this.#seed = seed;
    this.#numbers = numbers;
  }

  /** Notes a word of the sources. */
  addWord(word: string): void {
    this.#said.add(word);
  }

  /** Notes the words of a text of the sources, and the text itself. */
  addText(text: string): void {
    const lower = text.toLowerCase();
    if (isAscii(lower)) for (const { word } of wordsIn(lower)) this.#said.add(apart(word));
    else for (const [word] of matchWords(lower)) this.#said.add(apart(word));
    if (text.length <= longest) this.#said.add(lower);
  }

  /** Returns the replacement of a value. */
  of(kind: PersonalKind, value: string): string {
    if (kind === 'id' && /^\d(?:[ ./-]?\d){7,}$/.test(value) && this.#numbers.isPhone(value.replace(/\D/g, '')))
      return this.of('phone', value);
    if (kind === 'name' && /[ \t]/.test(value))
      return value.replace(nameWord, (each) =>
        isParticle(each) || this.given.has(each) ? each : this.of('name', each),
      );
    const key = `${kind} ${keyOf(kind, value)}${isSpelled.has(kind) ? ` ${value.replace(/[A-Za-z0-9]/g, '0')}` : ''}`;
    const found = this.#known.get(key);
    if (found !== undefined) return kind === 'name' ? inCase(value, found) : found;
    const card = kind === 'card' && /^\d{4}$/.test(value) ? this.#numbers.cardWith(value) : undefined;
    if (card !== undefined) {
      const end = this.of('card', card).replace(/\D/g, '').slice(-4);
      this.given.set(end, true);
      return end;
    }
    let made = '';
    for (let attempt = 0; attempt < 200; attempt++) {
      made = standInFor(kind, value, this.#seed, attempt, (word) => this.of('name', word));
      if (made.toLowerCase() !== value.toLowerCase() && !this.#isTaken(made)) break;
    }
    this.#known.set(key, made);
    this.given.set(made, true);
    return made;
  }

  /** Surname and given name have a replacement each, so that who is called by one of them is the same person. */
  ofEastAsianName(name: string): string {
    return partsOfName(name)
      .map((part) => this.of('name', part))
      .join(' ');
  }

  #isTaken(made: string): boolean {
    const plain = made.toLowerCase();
    return (
      this.given.has(plain) ||
      this.#said.has(plain) ||
      (plain.match(wordPattern) ?? []).every((each) => this.#said.has(each))
    );
  }
}
