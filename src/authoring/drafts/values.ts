import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import { factOf } from '../../engine/core/domain/task.ts';
import { requiredIn, type Tool } from '../../engine/core/domain/tool.ts';
import { wordsOf } from '../../engine/core/text/text.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { wordPattern } from '../masking/text/script.ts';
import { indexOfValues, type ValueIndex } from '../masking/text/valueIndex.ts';

/** A parameter of a tool as its JSON Schema has it. */
export type Parameter = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
  /** The values that it may have; null where the schema names none. */
  readonly choices: readonly string[] | null;
  readonly description: string;
};

export function parametersOf({ parameters }: Tool): readonly Parameter[] {
  const properties = (parameters['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = requiredIn(parameters);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    type: String(schema['type'] ?? 'string'),
    choices: Array.isArray(schema['enum']) ? schema['enum'].map(String) : null,
    description: String(schema['description'] ?? ''),
  }));
}

/** The values of a domain that a text can name, by the argument that they can be. */
export type KnownValues = {
  /** The values of an argument that a text names, in their order. */
  readonly named: (parameter: Parameter, text: string) => readonly string[];
  readonly isKnown: (parameter: Parameter) => boolean;
  /** Whether it may have values of several words that the domain does not know: an address that no one had yet. */
  readonly isFree: (parameter: Parameter) => boolean;
};

/** Reads the values off the domain's database and off what its tasks call their tools with. */
export function knownValues(domain: Domain, databases: readonly JsonObject[]): KnownValues {
  const places = placesIn(domain, databases);
  const indexes = new Map<string, Index>();
  const indexOf = (parameter: Parameter): Index => {
    const key = `${parameter.name} ${parameter.description}`;
    const found = indexes.get(key) ?? new Index(parameter.choices ?? valuesAt(parameter, places));
    indexes.set(key, found);
    return found;
  };
  return {
    named: (parameter, text) => indexOf(parameter).namedIn(text),
    isKnown: (parameter) => indexOf(parameter).size > 0,
    isFree: (parameter) => indexOf(parameter).isWordy,
  };
}

/** Values that are looked for in texts, also without the signs around them: `#W1` is named by W1. */
class Index {
  readonly #values: ValueIndex;
  readonly #spelled = new Map<string, string>();

  constructor(values: Iterable<string>) {
    for (const value of values)
      for (const spelling of [value, value.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')])
        if (!this.#spelled.has(spelling.toLowerCase())) this.#spelled.set(spelling.toLowerCase(), value);
    this.#values = indexOfValues(this.#spelled.keys());
  }

  get size(): number {
    return this.#spelled.size;
  }

  /** Whether most of the values have several words and a number; so has one of which none is known. */
  get isWordy(): boolean {
    const values = [...this.#spelled.values()].slice(0, 400);
    return 2 * values.filter((value) => /\s/.test(value) && /\d/.test(value)).length >= values.length;
  }

  namedIn(text: string): readonly string[] {
    const spans = this.#values.spansIn(text);
    const found = spans.flatMap(({ start, end }) => this.#spelled.get(text.slice(start, end).toLowerCase()) ?? []);
    // A few values may also be said in other forms: in the plural, or a date in words.
    if (found.length === 0 && this.#spelled.size <= 40)
      return [...new Set(this.#spelled.values())].filter((value) => namesValue(text, value));
    return [...new Set(found)];
  }
}

/** Values by the words of the field, table or argument that they are in. */
type Places = ReadonlyMap<string, ReadonlySet<string>>;

function placesIn(domain: Domain, databases: readonly JsonObject[]): Places {
  const places = new Map<string, Set<string>>();
  const add = (name: string, value: string) => {
    const words = wordsOf(spaced(name)).join(' ');
    const found = places.get(words);
    if (found) found.add(value);
    else places.set(words, new Set([value]));
  };
  for (const database of databases) addValues(database, '', add);
  for (const { actions, user } of domain.tasks) {
    for (const { arguments: values } of actions)
      for (const [name, value] of Object.entries(values)) if (typeof value === 'string') add(name, value);
    for (const [name, fact] of Object.entries(user.known)) add(name, String(factOf(fact).value));
  }
  return places;
}

function addValues(value: Json, field: string, add: (name: string, value: string) => void): void {
  if (typeof value === 'string' || typeof value === 'number') {
    if (field !== '' && String(value).length <= 120) add(field, String(value));
  } else if (Array.isArray(value)) for (const each of value) addValues(each, field, add);
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      if (isObject(each) && field !== '') add(field, key);
      addValues(each, key, add);
    }
}

/** A parameter has the values of the field, table or argument of its name, else of one that its description names. */
function valuesAt({ name, description }: Parameter, places: Places): Iterable<string> {
  const words = wordsOf(spaced(name));
  const isIdentifier = words.length > 1 && /^(?:id|number|code|no|key|ref|reference)$/.test(words.at(-1) ?? '');
  const own = [words.join(' '), ...(isIdentifier ? [words.slice(0, -1).join(' ')] : [])];
  const found = own.flatMap((each) => [...(places.get(each) ?? [])]);
  if (found.length > 0) return found;
  const said = ` ${wordsOf(description).join(' ')} `;
  const spoken = [...places.keys()].filter((place) => place.includes(' ') && said.includes(` ${place} `));
  return spoken.flatMap((place) => [...(places.get(place) ?? [])]);
}

function spaced(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
}

const smallWords = new Set(
  'the a an to of in on at is it i my me you your and or for with from that this be can please would like want'.split(
    ' ',
  ),
);

/** The longest run of words that both texts have, as the second one writes it; null where it says nothing. */
export function repeatedRun(one: string, other: string): string | null {
  const said = [...one.toLowerCase().matchAll(wordPattern)].map(([word]) => word);
  const words = [...other.matchAll(wordPattern)].map(({ 0: word, index }) => ({
    word: word.toLowerCase(),
    index,
    end: index + word.length,
  }));
  let best: { readonly from: number; readonly to: number } | null = null;
  for (let from = 0; from < words.length; from++)
    for (let at = 0; at < said.length; at++) {
      let length = 0;
      while (words[from + length] && words[from + length]?.word === said[at + length]) length += 1;
      if (length > (best ? best.to - best.from : 1)) best = { from, to: from + length };
    }
  if (!best) return null;
  let { from, to } = best;
  while (from < to && smallWords.has(words[from]?.word ?? '')) from += 1;
  while (to > from && smallWords.has(words[to - 1]?.word ?? '')) to -= 1;
  const [first, last] = [words[from], words[to - 1]];
  return first && last && to - from >= 2 ? other.slice(first.index, last.end) : null;
}
