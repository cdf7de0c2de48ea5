import { hasAlternative, namesValue } from '../dialogue/dialogue.ts';
import type { Tool } from '../domain/tool.ts';
import { saysInOrder } from '../text/phrase.ts';
import { plain, sentencesOf, wordsOf } from '../text/text.ts';
import type { Json, JsonObject } from '../values/json.ts';
import type { MadeCall } from './calls.ts';

/** Made when it is asked for. */
export type Rivals = () => readonly string[];

/** The scalar values of an argument as texts; none where it is absent. */
export function valuesOf(argument: Json | undefined): readonly string[] {
  if (argument === undefined || argument === null) return [];
  const values = Array.isArray(argument) ? argument : [argument];
  return values.map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each)));
}

/**
 * Returns what else an argument could have been, as far as the conversation tells: the other values of its schema, and
 * those that are in a tool's result where this one is (the other variants of a list, the other cards of a customer).
 */
export function rivalsOf(
  value: string,
  argument: string,
  tool: Tool | undefined,
  calls: readonly MadeCall[],
): readonly string[] {
  const wanted = value.toLowerCase();
  const options = optionsOf(tool, argument);
  const found = new Set(options.some((each) => each.toLowerCase() === wanted) ? options : []);
  const read = calls.flatMap(({ tool: name, failed, result }) =>
    !failed && typeof result === 'object' && result !== null ? [{ name, ...placesIn(result) }] : [],
  );
  const homes = new Set<string>();
  for (const { name, places, texts } of read) {
    if (!texts.has(wanted)) continue;
    for (const [place, values] of places) if (values.has(wanted)) homes.add(`${name}${place}`);
  }
  if (homes.size === 0 && found.size === 0) return [];
  for (const { name, places } of read) {
    for (const [place, values] of places) {
      if (homes.has(`${name}${place}`)) for (const each of values.values()) found.add(each);
    }
  }
  return [...found].filter((each) => each.toLowerCase() !== wanted);
}

type Places = {
  /** The texts of a result by the place where they are, in lower case with their spelling. */
  readonly places: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly texts: ReadonlySet<string>;
};
const known = new WeakMap<object, Places>();

function placesIn(result: object): Places {
  const before = known.get(result);
  if (before) return before;
  const places = new Map<string, Map<string, string>>();
  const texts = new Set<string>();
  visit(result as Json, '', (place, text) => {
    const here = places.get(place) ?? new Map<string, string>();
    places.set(place, here.set(text.toLowerCase(), text));
    texts.add(text.toLowerCase());
  });
  known.set(result, { places, texts });
  return { places, texts };
}

function visit(value: Json, place: string, note: (place: string, found: string) => void): void {
  if (typeof value === 'string') note(place, value);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) visit(each, `${place}[]`, note);
    return;
  }
  const rows = Object.entries(value as JsonObject);
  const isTable = rows.length > 0 && rows.every(([, each]) => typeof each === 'object' && each !== null);
  for (const [key, each] of rows) {
    if (isTable) note(`${place}.keys`, key);
    visit(each, `${place}.${isTable ? '*' : key}`, note);
  }
}

function optionsOf(tool: Tool | undefined, argument: string): readonly string[] {
  const properties = tool?.parameters['properties'] as JsonObject | undefined;
  const property = properties?.[argument] as JsonObject | undefined;
  const options = property?.['enum'];
  return Array.isArray(options) ? options.map(String) : [];
}

/**
 * Whether a proposal names a value: by its own words; by its words in their order with others between ("your
 * mastercard ending in 3121"); by all its words in one sentence, whatever their order and form ("as it is not needed
 * any longer"); or by a part that picks it out of its rivals: a number of three digits or more ("the card ending in
 * 3121"), or the noun at its end ("the speaker").
 */
export function isSpoken(proposal: string, value: string, rivals: Rivals): boolean {
  if (namesValue(proposal, value) || saysInOrder(proposal, value)) return true;
  const words = wordsOf(value);
  if (words.length < 2) return false;
  const said = wordsOf(plain(proposal));
  return saysLoosely(proposal, value) || picksOut(said, words, rivals());
}

/**
 * Reports whether a proposal names a value only as one of several: "white, brass or green". A user who picks one of
 * them makes a request and does not confirm anything. "Shall I change it to white, or leave it?" names one thing.
 */
export function isLeftOpen(proposal: string, value: string, rivals: Rivals): boolean {
  if (!/\bor\b/i.test(proposal) || rivals().length === 0) return false;
  const sentences = sentencesOf(plain(proposal))
    .flatMap(({ text }) => text.split(/,? (?:so|therefore|hence|thus|but|then)\b|\s-\s/))
    .filter((text) => isSpoken(text, value, rivals));
  const isChoice = (text: string) => hasAlternative(text) && rivals().some((rival) => namesValue(text, rival));
  return sentences.length > 0 && sentences.every(isChoice);
}

function picksOut(said: readonly string[], words: readonly string[], rivals: readonly string[]): boolean {
  const others = rivals.map(wordsOf);
  const digits = words.filter((word) => /\d/.test(word));
  const [number] = digits;
  if (number !== undefined) {
    const isTelling = digits.length === 1 && words.length === 2 && /^\d{3,}$/.test(number);
    return isTelling && said.includes(number) && !others.some((other) => other.includes(number));
  }
  const head = words.at(-1) ?? '';
  return rivals.length > 0 && head.length > 2 && said.includes(head) && !others.some((other) => other.includes(head));
}

const light = new Set('a an the of by in on at for to from with and my your ending'.split(' '));
const sameWord: ReadonlyMap<string, string> = new Map(
  Object.entries({
    not: 'no',
    never: 'no',
    none: 'no',
    more: 'longer',
    anymore: 'longer',
  }),
);

/** Whether one sentence has every word of a value that means something, in any order and form. */
function saysLoosely(proposal: string, value: string): boolean {
  const wanted = stemsOf(value);
  if (wanted.length < 2 || /\d/.test(value)) return false;
  return sentencesOf(plain(proposal)).some(({ text }) => {
    const said = new Set(stemsOf(text));
    return wanted.every((stem) => said.has(stem));
  });
}

function stemsOf(text: string): readonly string[] {
  const words = wordsOf(plain(text)).filter((word) => !light.has(word));
  return words.map((word) => sameWord.get(word) ?? (word.length > 5 ? word.replace(/(?:ed|ing|en)$/, '') : word));
}
