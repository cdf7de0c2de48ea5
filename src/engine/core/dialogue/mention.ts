import { wordsOf } from '../text/text.ts';
import type { Pattern } from '../values/linearPattern.ts';
import type { Lexicon } from './lexicon.ts';
import { patterns, words as wordLists } from './patterns.ts';
import { declaredProposals, type IsDeclared, phrasePattern } from './phrase.ts';

const { beforeIdentifier, otherAddress, otherName, otherDate, otherMethod, otherMail } = patterns.mention;

/** A mention of a fact in a text, with the positions of its words counted from 0. */
export type Mention = { readonly fact: string; readonly start: number; readonly end: number };

type Phrase = {
  readonly fact: string;
  readonly words: readonly string[];
  /** Whether the phrase is only the end of a longer name: "address" for "new delivery address". */
  readonly isEnd?: true;
};

/** The ways to refer to the facts of a domain: by label, synonym, the words of the name, and parts of these. */
export type Vocabulary = {
  /** Keyed by the first letter of their first word. */
  readonly phrases: ReadonlyMap<string, readonly Phrase[]>;
  readonly questions: readonly Phrase[];
  /** Whether a sentence is one by which the domain proposes a call. */
  readonly proposes: IsDeclared;
  /** The domain's own wordings of a refusal, to find in plain text. */
  readonly refusals: readonly Pattern[];
  /** The domain's own wordings of a handover to a person, to find in plain text. */
  readonly handOffs: readonly Pattern[];
  /** Every word that belongs to a fact of the domain. */
  readonly words: ReadonlySet<string>;
};

const { identifiers } = wordLists.mention;
const pointless = new Set(wordLists.mention.pointless);

/** Words for kinds of facts that most domains share, keyed by the last word of a fact's name. */
const commonNames: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    email: ['email', 'e mail', 'email address', 'mail address'],
    phone: ['phone', 'phone number', 'telephone', 'telephone number', 'mobile number'],
    zip: ['zip', 'zip code', 'zipcode', 'postcode', 'postal code', 'post code'],
    postcode: ['zip', 'zip code', 'zipcode', 'postcode', 'postal code', 'post code'],
    birthday: ['date of birth', 'birth date', 'birthday', 'when were you born'],
    birthdate: ['date of birth', 'birth date', 'birthday', 'when were you born'],
    surname: ['surname', 'last name', 'family name'],
    color: ['color', 'colour'],
    colour: ['color', 'colour'],
    reason: ['reason', 'why'],
    quantity: ['quantity', 'how many', 'amount'],
    amount: ['amount', 'how much'],
    date: ['date', 'which day', 'what day', 'when'],
    day: ['day', 'which date', 'what date', 'when'],
    time: ['time', 'when', 'what hour'],
    address: ['address', 'where to', 'where should it go', 'where should we send it'],
  }),
);

/** Returns the vocabulary for these facts. */
export function vocabularyOf(lexicon: Lexicon, facts: readonly string[]): Vocabulary {
  const strong = facts.flatMap((fact) => strongPhrases(lexicon, fact));
  const weak = facts
    .flatMap((fact) => weakPhrases(lexicon, fact))
    .filter(({ fact, words }, _, all) => {
      const owners = all.filter((other) => isSame(other.words, words)).map((other) => other.fact);
      return owners.every((owner) => owner === fact) && !strong.some((other) => isSame(other.words, words));
    });
  const phrases = distinct([...strong, ...weak]);
  const questions = facts.flatMap((fact) =>
    (lexicon.facts[fact]?.ask ?? []).map((ask) => ({ fact, words: wordsOf(ask) })),
  );
  return {
    phrases: byFirstLetter(phrases),
    questions,
    proposes: declaredProposals(lexicon),
    refusals: lexicon.refusals.map(phrasePattern),
    handOffs: lexicon.handOffs.map(phrasePattern),
    words: new Set(phrases.flatMap(({ words }) => words).filter((word) => word.length > 2)),
  };
}

/** Returns what a fact is called: its label, else the words of its name with "id" read as "number". */
export function labelOf(lexicon: Lexicon, fact: string): string {
  return (
    lexicon.facts[fact]?.label ??
    nameWords(fact)
      .map((word) => (word === 'id' ? 'number' : word))
      .join(' ')
  );
}

/** Returns the facts that a list of words mentions. A mention inside a longer one of another fact does not count. */
export function mentionsIn(words: readonly string[], vocabulary: Vocabulary): readonly Mention[] {
  const found = words.flatMap((first, start) =>
    (vocabulary.phrases.get(first.charAt(0)) ?? [])
      .filter(({ words: phrase }) => phrase.every((word, at) => isWord(words[start + at], word)))
      .filter((phrase) => !isOtherThing(words, start, phrase))
      .map(({ fact, words: phrase }): Mention => ({ fact, start, end: start + phrase.length })),
  );
  return found.filter(
    (mention) =>
      !found.some(
        (other) =>
          other.fact !== mention.fact &&
          other.start <= mention.start &&
          other.end >= mention.end &&
          other.end - other.start > mention.end - mention.start,
      ),
  );
}

/**
 * For a word that names a fact, the words before it that make it the name of something else: "email" before "address".
 */
const otherThings: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    address: otherAddress,
    name: otherName,
    date: otherDate,
    method: otherMethod,
    mail: otherMail,
    email: otherMail,
  }),
);

/**
 * Reports whether the word before a phrase makes it the name of something else: "email address" for the fact "address".
 */
function isOtherThing(words: readonly string[], start: number, { words: phrase, isEnd }: Phrase): boolean {
  const [word = '', before] = [phrase[0] ?? '', words[start - 1]];
  if (phrase.length > 1 || before === undefined) return false;
  if (isEnd && identifiers.includes(word)) return !beforeIdentifier.test(before);
  return otherThings.get(word)?.test(before) ?? false;
}

/** Reports whether two words are equal, except for one typo in a word of five letters or more. */
function isWord(said: string | undefined, word: string): boolean {
  if (said === word) return true;
  if (
    said === undefined ||
    word.length < 5 ||
    said.length < 5 ||
    said[0] !== word[0] ||
    Math.abs(said.length - word.length) > 1
  )
    return false;
  let from = 0;
  while (said[from] === word[from]) from++;
  const [restSaid, rest] = [said.slice(from), word.slice(from)];
  if (restSaid.length === rest.length) {
    return (
      restSaid.slice(1) === rest.slice(1) ||
      (restSaid[0] === rest[1] && restSaid[1] === rest[0] && restSaid.slice(2) === rest.slice(2))
    );
  }
  return restSaid.slice(1) === rest || restSaid === rest.slice(1);
}

/** Returns the phrases that always mean a fact: its label, its synonyms, and the words of its name. */
function strongPhrases(lexicon: Lexicon, fact: string): readonly Phrase[] {
  const { label, synonyms = [] } = lexicon.facts[fact] ?? {};
  const name = nameWords(fact);
  const isIdentifier = name.length > 1 && identifiers.includes(name.at(-1) ?? '');
  const base = name.slice(0, -1).join(' ');
  const ofIdentifier = isIdentifier
    ? identifiers.flatMap((word) => [`${base} ${word}`, `${word} of the ${base}`, `${word} of your ${base}`])
    : [];
  const common = name.length === 1 ? (commonNames.get(name[0] ?? '') ?? []) : [];
  const labelIdentifiers = label ? identifierForms(label) : [];
  const inverted = synonyms.map((phrase) =>
    phrase.replace(/\b(would|do|should|can) (you|we|i)\b/, '$2 $1').replace(/\b(you|we|i) do\b/, '$1'),
  );
  return [label ?? '', ...synonyms, ...inverted, name.join(' '), ...ofIdentifier, ...common, ...labelIdentifiers]
    .map((phrase) => ({ fact, words: wordsOf(phrase) }))
    .filter(({ words }) => words.length > 0);
}

/** Returns a label with each other word for an identifier at its end: "order code" for "order number". */
function identifierForms(label: string): readonly string[] {
  const words = label.split(' ');
  if (!identifiers.includes(words.at(-1) ?? '') || words.length < 2) return [];
  const base = words.slice(0, -1).join(' ');
  return identifiers.map((word) => `${base} ${word}`);
}

/**
 * Returns phrases that mean a fact only if no other fact has them: the ends of longer names ("address" for "new
 * delivery address"), and "which order" for an order number.
 */
function weakPhrases(lexicon: Lexicon, fact: string): readonly Phrase[] {
  const wordings = [labelOf(lexicon, fact).split(' '), nameWords(fact)];
  return wordings.flatMap((wording) => {
    const head = wording.at(-1) ?? '';
    const ends = wording.includes('of') ? [] : wording.slice(1).map((_, at) => wording.slice(at + 1));
    const common = wording.length > 1 ? (commonNames.get(head) ?? []).map((phrase) => phrase.split(' ')) : [];
    const base = wording.slice(0, -1);
    const which = identifiers.includes(head)
      ? [
          ['which', ...base],
          ['what', ...base],
          ['which', 'of', 'your', ...base],
          ['which', 'of', 'the', ...base],
          ['which', 'of', 'these', ...base],
        ]
      : [];
    return [...ends, ...common, ...which]
      .map((words): Phrase => ({ fact, words: wordsOf(words.join(' ')), isEnd: true }))
      .filter(({ words }) => words.some((word) => !pointless.has(word)));
  });
}

function nameWords(fact: string): readonly string[] {
  return fact
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

function byFirstLetter(phrases: readonly Phrase[]): ReadonlyMap<string, readonly Phrase[]> {
  const groups = new Map<string, Phrase[]>();
  for (const phrase of phrases) {
    const letter = phrase.words[0]?.charAt(0) ?? '';
    const group = groups.get(letter);
    if (group) group.push(phrase);
    else groups.set(letter, [phrase]);
  }
  return groups;
}

function distinct(phrases: readonly Phrase[]): Phrase[] {
  const seen = new Map(phrases.map((phrase) => [`${phrase.fact}\n${phrase.words.join(' ')}`, phrase]));
  return [...seen.values()];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}
