import { factOf, knownFactsOf, type Task } from '../../core/domain/task.ts';
import { naming } from '../../core/rules/rowNames.ts';
import type { Json } from '../../core/values/json.ts';
import type { DomainTypes } from '../load/expressionTypes.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { respelt } from '../source/edit.ts';
import { keyOf, type Placed, placeOf, textIn } from '../source/items.ts';
import { closeEnough, mostCompared, nearest } from '../source/nearest.ts';
import { argumentsOf, type Bases, type KnownTools, type Note } from '../source/note.ts';
import { remembered, type Source } from '../source/source.ts';
import { noteValue } from './checkExpression.ts';

/** The words and names of a domain with which those of its tasks are compared. */
export type Spellings = {
  readonly types: DomainTypes;
  /** The number of times that each word is in the files of the domain. */
  readonly counts: ReadonlyMap<string, number>;
  readonly inDatabase: (word: string) => boolean;
  /** The words by which rows are called. */
  readonly ofRows: Words;
  /** The words of the policy, the lexicon and the tools. */
  readonly ofDomain: () => Words;
  /** The number of tasks with a fact of each name. */
  readonly facts: ReadonlyMap<string, number>;
  readonly names: ReadonlySet<string>;
};

export function spellingsOf(parts: Parts, bases: Bases, types: DomainTypes, known: KnownTools): Spellings {
  const texts = [...parts.texts.values()];
  const data = [parts.databases.agent, parts.databases.user].filter((source) => source !== null);
  const files = new Set([...texts.map(({ source }) => source), ...parts.scan.sources, parts.policySource]);
  const counts = new Map<string, number>();
  for (const source of files)
    if (source !== null && !data.includes(source))
      for (const [word, count] of countsIn(source)) counts.set(word, (counts.get(word) ?? 0) + count);
  const ofTasks = new Set(texts.flatMap(({ kind, source }) => (kind === 'task' ? [source] : [])));
  let ofDomain: Words | null = null;
  const facts = new Map<string, number>();
  for (const { value } of parts.tasks) for (const name of factNames(value)) facts.set(name, (facts.get(name) ?? 0) + 1);
  return {
    types,
    counts,
    inDatabase: (word) => data.some((source) => countsIn(source).has(word)),
    ofRows: remembered(rowWords, bases, () => new Words(namesIn([bases.agent, bases.user]))),
    ofDomain: () => {
      ofDomain ??= new Words(
        [...files].flatMap((source) => (source && !ofTasks.has(source) ? wordsIn(source.text) : [])),
      );
      return ofDomain;
    },
    facts,
    names: new Set([...Object.keys(parts.file.value.lexicon.facts), ...[...known.tools.values()].flatMap(argumentsOf)]),
  };
}

const rowWords = new WeakMap<Bases, Words>();
const countsOf = new WeakMap<Source, ReadonlyMap<string, number>>();

const word = /\p{L}{4,}/gu;
const wordsIn = (text: string) => [...text.matchAll(word)].map(([found]) => found);

/** Short words differ from too many others, except names: those with a capital letter within a sentence. */
const isShort = (text: string) => text.length < 5;
const isName = (text: string, at: number) => /\p{Ll},? $/u.test(text.slice(0, at)) && /^\p{Lu}/u.test(text.slice(at));

function countsIn(source: Source): ReadonlyMap<string, number> {
  return remembered(countsOf, source, () => {
    const found = new Map<string, number>();
    for (const [each] of source.text.toLowerCase().matchAll(word)) found.set(each, (found.get(each) ?? 0) + 1);
    return found;
  });
}

function namesIn(values: readonly Json[]): readonly string[] {
  return values.flatMap((value) => {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, each]) => {
      if (typeof each === 'string') return naming.test(key) ? wordsIn(each) : [];
      return namesIn([each as Json]);
    });
  });
}

/** Words that are found by a spelling of them with one slip. */
class Words {
  readonly #spelled = new Map<string, Set<string>>();

  constructor(words: Iterable<string>) {
    for (const each of new Set(words))
      for (const key of shortened(each.toLowerCase())) {
        const found = this.#spelled.get(key) ?? new Set();
        this.#spelled.set(key, found.add(each));
      }
  }

  /** Returns the word that was meant; a form of it, such as its plural, is not a slip. */
  meant(wrong: string): string | undefined {
    const lower = wrong.toLowerCase();
    const near = shortened(lower).flatMap((key) => [...(this.#spelled.get(key) ?? [])]);
    return nearest(
      wrong,
      near.filter((each) => each.charAt(0).toLowerCase() === lower.charAt(0) && !isForm(lower, each.toLowerCase())),
      1,
    );
  }
}

/** A word, and what is left of it without one of its letters. */
const shortened = (text: string) => [text, ...[...text].map((_, at) => text.slice(0, at) + text.slice(at + 1))];

/** Whether two words differ in their endings alone: `charge`, `charges` and `charger`. */
function isForm(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].toSorted((a, b) => a.length - b.length);
  const ending = long.startsWith(short) ? long.slice(short.length) : null;
  // The last letter twice is a slip: Hartman and Hartmann.
  const isDoubled = ending?.length === 1 && short.endsWith(ending);
  const isLonger = ending !== null && !isDoubled && /^(?:s|es|d|ed|r|er|n|y|ly|al|ing)?$/.test(ending);
  return isLonger || (one.length === other.length && one.slice(0, -1) === other.slice(0, -1));
}

const factNames = ({ user }: Task) => new Set([...Object.keys(user.known), ...user.unknown]);

/** Finds names, values and words of a task that only it has, and that are almost those of the rest of the domain. */
export function checkSpelling(placed: Placed<Task>, spellings: Spellings, note: Note): void {
  const { user, communicate } = placed.value;
  for (const name of Object.keys(user.known)) checkName(name, keyOf(placed, 'user', 'known', name), spellings, note);
  for (const [index, name] of user.unknown.entries())
    checkName(name, placeOf(placed, 'user', 'unknown', index), spellings, note);
  checkKnown(placed, spellings, note);
  const texts = [
    [user.goal, ['user', 'goal']],
    [user.opening, ['user', 'opening']],
    [user.change?.say, ['user', 'change', 'say']],
    [user.insist?.say, ['user', 'insist', 'say']],
  ] as const;
  for (const [text = '', path] of texts) checkWords(placed, text, path, spellings, [spellings.ofRows], note);
  for (const [index, text] of communicate.entries())
    checkWords(placed, text, ['communicate', index], spellings, [spellings.ofRows, spellings.ofDomain], note);
}

function checkName(name: string, at: ReturnType<typeof placeOf>, { facts, names }: Spellings, note: Note): void {
  if (/\d/.test(name) || facts.size > mostCompared || names.has(name) || (facts.get(name) ?? 0) > 1) return;
  const others = [...names, ...facts.keys()].filter((each) => each !== name && !isForm(name, each));
  const meant = nearest(name, others, closeEnough(name));
  if (meant === undefined) return;
  const message = `No tool has an argument ${name}, and no other task has a fact of that name.`;
  note(at, 'warning', 'task/unknown-fact', message, `Did you mean "${meant}"?`, respelt(at, name, [meant]));
}

/** A value that nothing else has is a misspelling where it is almost one of the rows or of other tasks. */
function checkKnown(placed: Placed<Task>, { types }: Spellings, note: Note): void {
  const { goal, opening, change, insist } = placed.value.user;
  const said = [goal, opening, change?.say, insist?.say].map((text) => text?.toLowerCase());
  const { before, after } = knownFactsOf(placed.value);
  for (const { name, fact, path } of [...before, ...after]) {
    const { value } = factOf(fact);
    if (typeof value !== 'string' || value.length < 4 || said.some((text) => text?.includes(value.toLowerCase())))
      continue;
    const values = types.valuesOf(name);
    if (values.size > mostCompared || (types.examples.get(name)?.get(value) ?? 0) > 1) continue;
    const others = new Set([...values].filter((each) => each !== value));
    const inside = typeof fact === 'object' ? ['value'] : [];
    const context = { kind: 'task', names: {}, types, note } as const;
    noteValue(value, { known: others, from: 'examples' }, placeOf(placed, ...path, ...inside), context);
  }
}

function checkWords(
  placed: Placed<Task>,
  text: string,
  path: readonly PropertyKey[],
  { counts, inDatabase }: Spellings,
  sources: readonly (Words | (() => Words))[],
  note: Note,
): void {
  const own = [...text.matchAll(word)];
  for (const { 0: wrong, index } of own) {
    const lower = wrong.toLowerCase();
    const here = own.filter(([each]) => each.toLowerCase() === lower).length;
    if ((counts.get(lower) ?? 0) > here || inDatabase(lower)) continue;
    const meant = sources
      .map((source) => (source instanceof Words ? source : source()).meant(wrong))
      .find((each) => each !== undefined);
    if (meant === undefined || ([wrong, meant].some(isShort) && !isName(text, index))) continue;
    const at = textIn(placed, text, ...path).part(index, wrong.length);
    const message = `No other text of the domain has the word ${wrong}.`;
    note(at, 'warning', 'task/unknown-value', message, `Did you mean "${meant}"?`, respelt(at, wrong, [meant]));
  }
}
