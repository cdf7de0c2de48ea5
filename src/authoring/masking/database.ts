import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { isFullName, partsOfName } from './eastAsianNames.ts';
import { kindOfField } from './fields.ts';
import type { MaskOptions } from './masker.ts';
import { isEastAsian } from './text/script.ts';
import { indexOfValues } from './text/valueIndex.ts';

/** Somebody of the database: the words of the name, and what tells that a conversation is about this person. */
type Person = { readonly names: readonly string[]; readonly marks: readonly string[] };

const shortest = 3;

/**
 * Returns what a database says about the values in conversations. Its own values stay: they are the world in which
 * tasks are rehearsed, and anyone who has the domain has them. A first name alone stays where its person is known by
 * more than that.
 * @param texts what else the domain says, such as its policy
 */
export function keptBy(
  databases: readonly JsonObject[],
  texts: readonly string[] = [],
): Pick<MaskOptions, 'kept' | 'keptNames' | 'ids'> {
  const persons = databases.flatMap(personsIn);
  const values = indexOfValues([...databases.flatMap((each) => [...valuesIn(each)]), ...keptTexts(texts)]);
  const byMark = new Map<string, Person[]>();
  for (const person of persons)
    for (const mark of person.marks) byMark.set(mark, [...(byMark.get(mark) ?? []), person]);
  const marks = indexOfValues(byMark.keys());
  return {
    kept: (text) => values.spansIn(text),
    keptNames: (texts) => {
      const found = texts.flatMap((text) => marks.spansIn(text).map(({ start, end }) => text.slice(start, end)));
      const here = found.flatMap((mark) => byMark.get(mark.toLowerCase()) ?? []);
      return new Set(here.flatMap(({ names }) => names));
    },
    ids: idShapes(databases),
  };
}

/** The names and the ids that a database knows: of a copy of the real one, none of its values stays. */
export function knownFrom(
  databases: readonly JsonObject[],
  texts: readonly string[] = [],
): Pick<MaskOptions, 'kept' | 'names' | 'ids'> {
  const values = indexOfValues(keptTexts(texts));
  return {
    kept: (text) => values.spansIn(text),
    names: databases.flatMap(personsIn).flatMap(({ names }) => names),
    ids: idShapes(databases),
  };
}

const keptTexts = (texts: readonly string[]) =>
  texts.map((each) => each.trim()).filter(({ length }) => length >= shortest);

/** Text values and keys, in lower case; without names of one word, which many people share. */
function* valuesIn(value: Json, field = ''): Iterable<string> {
  if (typeof value === 'string') {
    const isFirstName = kindOfField(field) === 'name' && !/\s/.test(value.trim()) && !isFullName(value);
    if (value.length >= (isFullName(value) ? 2 : shortest) && value.length <= 200 && !isFirstName)
      yield value.toLowerCase();
  } else if (Array.isArray(value)) for (const each of value) yield* valuesIn(each, field);
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      if (key.length >= shortest) yield key.toLowerCase();
      yield* valuesIn(each, key);
    }
}

function personsIn(database: JsonObject): readonly Person[] {
  return Object.values(database).flatMap((table) =>
    typeof table !== 'object' || table === null
      ? []
      : Object.entries(table as JsonObject).flatMap(([key, row]) => personOf(key, row) ?? []),
  );
}

function personOf(key: string, row: Json): Person | null {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return null;
  const fields = [...fieldsIn(row as JsonObject)];
  const isPerson = fields.some(([field]) => /mail|phone|first_?name|last_?name|surname|postcode|zip|dob/i.test(field));
  const named = fields.filter(([field]) => kindOfField(field) === 'name' || (isPerson && /^name$/i.test(field)));
  if (named.length === 0) return null;
  const eastAsianNames = named.filter(([, value]) => isEastAsian(value)).map(([, value]) => value.trim());
  const names = [
    ...named.flatMap(([, value]) => value.toLowerCase().match(/\p{L}[\p{L}'’]*\p{L}/gu) ?? []),
    ...eastAsianNames.flatMap((name) => [name, ...partsOfName(name)]),
  ];
  const emails = fields.flatMap(([, value]) => (/@/.test(value) ? [value.toLowerCase()] : []));
  const whole = named.map(([, value]) => value.toLowerCase()).filter((value) => /\s/.test(value));
  const marks = [key.toLowerCase(), ...emails, ...whole, ...eastAsianNames.filter(isFullName), names.join(' ')].filter(
    (mark) => mark.length >= shortest || isFullName(mark),
  );
  return { names, marks: [...new Set(marks)] };
}

function* fieldsIn(row: JsonObject): Iterable<readonly [field: string, value: string]> {
  for (const [field, value] of Object.entries(row)) {
    if (typeof value === 'string') yield [field, value];
    else if (isObject(value)) yield* fieldsIn(value);
  }
}

/** The shapes of the keys of each table, where all of its keys have one. */
function idShapes(databases: readonly JsonObject[]): readonly RegExp[] {
  const shapes = databases.flatMap((database) =>
    Object.values(database).flatMap((table) => {
      if (typeof table !== 'object' || table === null || Array.isArray(table)) return [];
      const [first, ...rest] = new Set(Object.keys(table).slice(0, 200).map(shapeOf));
      return first !== undefined && rest.length === 0 && /\\d/.test(first) && first.length >= 6 ? [first] : [];
    }),
  );
  return [...new Set(shapes)].map((shape) => new RegExp(`(?<![\\p{L}\\p{N}])${shape}(?![\\p{L}\\p{N}])`, 'giu'));
}

/** Digits are any digits; everything else is itself. */
function shapeOf(key: string): string {
  return key.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/\d/g, '\\d');
}
