import {
  alignedWith,
  endsIn,
  exactly,
  type FieldComparison,
  inOrder,
  isExact,
  memberPath,
} from '../domain/fieldComparison.ts';
import { excerpt } from '../text/excerpt.ts';
import { createdIdsIn, prefixOf } from '../values/createdIds.ts';
import { canonicalJson, isObject, type Json, type JsonObject, jsonOf, type Path } from '../values/json.ts';
import { exactJson } from '../values/largeIntegers.ts';
import { patchesBetween } from '../world/difference.ts';
import type { Renaming } from './renaming.ts';

/** Values without what differs from one rollout to the next: each id is a number, in the order in which ids appear. */
export type Comparable = {
  readonly texts: readonly string[];
  /** The ids that were replaced, in that order. */
  readonly ids: readonly string[];
};

/**
 * Makes the records of two rollouts comparable. Ids that tools created and the texts of volatile fields are numbered, so
 * that a field that refers to one is compared; numbers in volatile fields, such as clocks, are left out. The rows of a
 * volatile list are compared in any order.
 * @param volatile names of fields, or paths such as `notes.*.etag`
 * @param compare the fields that are not compared exactly: lists without an order are compared as volatile ones
 */
export function comparable(
  values: readonly Json[],
  volatile: readonly string[] = [],
  compare: FieldComparison = exactly,
): Comparable {
  const fields = { volatile, unordered: [...volatile, ...compare.unordered] };
  const numbers = new Map<string, string>();
  const add = (id: string, kind: string) => {
    if (!numbers.has(id)) numbers.set(id, `<${kind}${numbers.size + 1}>`);
  };
  for (const value of values)
    visit(value, [], fields, (path, text) => {
      if (typeof text === 'string' && endsIn(path, volatile)) add(text, '');
      else if (typeof text === 'string') for (const id of createdIdsIn(text)) add(id, prefixOf(id));
    });
  const ids = [...numbers.keys()].filter((id) => id.length > 2).toSorted((a, b) => b.length - a.length);
  const renamed = (text: string) =>
    ids.reduce((found, id) => (found.includes(id) ? found.replaceAll(id, numbers.get(id) ?? id) : found), text);
  const texts = values.map((value) => canonicalJson(mapped(value, [], fields, renamed)));
  return { texts, ids: [...numbers.keys()] };
}

/** Returns which id of one record is which of the other. */
export function pairsOf(one: Comparable, other: Comparable): Renaming {
  return new Map(one.ids.flatMap((id, at) => (other.ids[at] === undefined ? [] : [[id, other.ids[at]] as const])));
}

/** The first difference between two records, with the value of each; undefined if there is no value. */
export type FirstDifference = {
  readonly path: Path;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

/** Returns the first difference between two comparable texts, or null where they count as equal. */
export function firstDifference(
  one: string,
  other: string,
  compare: FieldComparison = exactly,
): FirstDifference | null {
  if (one === other) return null;
  const [before, after] = [one, other].map((text) => (jsonOf(text) ?? null) as Json) as [Json, Json];
  const [first] = patchesBetween(before, isExact(compare) ? after : alignedWith(after, before, compare));
  return first ? { path: first.path, before: first.old, after: first.value } : null;
}

/** Returns the same in words, or null. */
export function differenceBetween(one: string, other: string, compare: FieldComparison = exactly): string | null {
  const found = firstDifference(one, other, compare);
  if (found === null) return null;
  const texts = [found.before, found.after].map((value) => (value === undefined ? 'missing' : canonicalJson(value)));
  const start = startOfDifference(texts);
  const [before, after] = texts.map((text) => excerpt(start === 0 ? text : `...${text.slice(start)}`));
  return `${found.path.join('.')} is ${before}, then ${after}`;
}

/** Returns where to begin the excerpts of two texts, since those of long texts that begin alike would be equal. */
function startOfDifference([one = '', other = '']: readonly string[]): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return same < 40 ? 0 : same - 10;
}

/** Fields by what differs in them from rollout to rollout: their values, or the order of their rows. */
type Fields = { readonly volatile: readonly string[]; readonly unordered: readonly string[] };

/** Returns the value of a text that is a JSON list or object, as results of tools are written, otherwise the text. */
function inside(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return exactJson(value);
  } catch {
    return value;
  }
}

function visit(
  value: Json,
  path: readonly string[],
  fields: Fields,
  note: (path: readonly string[], value: Json) => void,
): void {
  const read = inside(value);
  if (typeof read !== 'object' || read === null) {
    note(path, read);
    return;
  }
  if (Array.isArray(read)) {
    // The order of the rows must not decide which of their ids comes first.
    const rows = endsIn(path, fields.unordered) ? inOrder(read) : read;
    for (const [at, each] of rows.entries()) visit(each, [...path, String(at)], fields, note);
    return;
  }
  for (const [key, each] of Object.entries(read as JsonObject)) {
    note([], key);
    visit(each, memberPath(read as JsonObject, key, path), fields, note);
  }
}

function mapped(value: Json, path: readonly string[], fields: Fields, renamed: (text: string) => string): Json {
  const read = inside(value);
  if (typeof read === 'string') return renamed(read);
  if (Array.isArray(read)) {
    const rows = read.map((each, at) => mapped(each, [...path, String(at)], fields, renamed));
    return endsIn(path, fields.unordered) ? inOrder(rows) : rows;
  }
  if (!isObject(read)) return endsIn(path, fields.volatile) ? '<volatile>' : read;
  return Object.fromEntries(
    Object.entries(read).map(([key, each]) => [
      renamed(key),
      mapped(each, memberPath(read, key, path), fields, renamed),
    ]),
  );
}
