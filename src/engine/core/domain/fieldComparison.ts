import * as z from 'zod';
import { equalJson } from '../expression/expression.ts';
import { prefixOf, renamedJson } from '../values/createdIds.ts';
import { canonicalJson, isObject, type Json, type Path, put, showPath } from '../values/json.ts';
import { applyPatches, type Database, diffDatabases, getAt, type Patch } from '../world/database.ts';

/** `compare:` of domain.yaml: the fields that are not compared exactly. */
export const fieldComparisonSchema = z.strictObject({
  unordered: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Fields whose lists have no order, such as items, or paths such as orders.*.tags: [a, b] is equal to [b, a].',
    ),
  tolerance: z
    .record(z.string().min(1), z.number().positive())
    .default({})
    .describe('By the name or path of a field: the largest difference at which its numbers still count as equal.'),
});
export type FieldComparison = z.infer<typeof fieldComparisonSchema>;

/** Compares every field exactly. */
export const exactly: FieldComparison = { unordered: [], tolerance: {} };

/** Returns how a domain compares its fields. */
export const comparisonOf = ({ compare = exactly }: { readonly compare?: FieldComparison | undefined }) => compare;

/** Whether a path ends in one of these names or paths, in which * is any key. */
export function endsIn(path: readonly string[], patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('.');
    const own = path.slice(-parts.length);
    return own.length === parts.length && parts.every((part, at) => part === '*' || part === own[at]);
  });
}

/** Whether nothing is declared, so that every field is compared exactly. */
export const isExact = ({ unordered, tolerance }: FieldComparison) =>
  unordered.length === 0 && Object.keys(tolerance).length === 0;

/**
 * Returns a value in which everything that counts as equal to another value is replaced by that. The result equals the
 * other value where the two count as equal, and what differs between them is what counts as different.
 * @param path where both values are, for the names of their fields
 */
export function alignedWith(value: Json, other: Json, compare: FieldComparison, path: readonly string[] = []): Json {
  if (typeof value === 'number' && typeof other === 'number')
    return isWithin(value, other, toleranceAt(path, compare)) ? other : value;
  if (Array.isArray(value) && Array.isArray(other))
    return endsIn(path, compare.unordered)
      ? alignedSet(value, other, compare, path)
      : value.map((each, at) => alignedMember(each, other[at], compare, [...path, String(at)]));
  if (!isObject(value) || !isObject(other)) return value;
  const aligned: Record<string, Json> = {};
  for (const [key, each] of Object.entries(value))
    put(aligned, key, alignedMember(each, other[key], compare, memberPath(value, key, path)));
  return aligned;
}

/** Returns a database with everything that counts as equal in another one replaced by that. */
export function alignedDatabase(db: Database, other: Database, compare: FieldComparison): Database {
  if (isExact(compare)) return db;
  const places = new Map(
    diffDatabases(db, other).map(({ path }) => {
      const place = listAround(path, compare) ?? path;
      return [showPath(place), place] as const;
    }),
  );
  const patches = [...places.values()].flatMap((path): Patch[] => {
    const [own, theirs] = [getAt(db, path), getAt(other, path)];
    if (own === undefined || theirs === undefined) return [];
    const aligned = alignedWith(own, theirs, compare, path.map(String));
    return equalJson(aligned, own) ? [] : [{ op: 'replace', path, value: aligned }];
  });
  return applyPatches(db, patches);
}

/** Returns a value in which the lists without an order are in an order that depends on their content alone. */
export function withSortedLists(value: Json, compare: FieldComparison, path: readonly string[]): Json {
  if (typeof value !== 'object' || value === null || compare.unordered.length === 0) return value;
  if (Array.isArray(value)) {
    const rows = value.map((each, at) => withSortedLists(each, compare, [...path, String(at)]));
    return endsIn(path, compare.unordered) ? inOrder(rows) : rows;
  }
  const sorted: Record<string, Json> = {};
  for (const [key, each] of Object.entries(value)) put(sorted, key, withSortedLists(each, compare, [...path, key]));
  return sorted;
}

/** Returns rows in an order that depends on their content alone, and not on ids that tools created. */
export function inOrder(rows: readonly Json[]): readonly Json[] {
  return rows
    .map((row) => ({ row, text: canonicalJson(renamedJson(row, prefixOf)) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ row }) => row);
}

/**
 * The path of a member of an object. The values of a patch and of a deviation are at the place in the database that
 * these name.
 */
export function memberPath(
  object: Readonly<Record<string, Json>>,
  key: string,
  path: readonly string[],
): readonly string[] {
  const named = ['value', 'old', 'expected', 'actual'].includes(key) ? object['path'] : undefined;
  return Array.isArray(named) ? named.map(String) : [...path, key];
}

/** The outermost list without an order that a path leads into. */
function listAround(path: Path, { unordered }: FieldComparison): Path | null {
  const at = path.findIndex(
    (key, index) => typeof key === 'number' && endsIn(path.slice(0, index).map(String), unordered),
  );
  return at < 0 ? null : path.slice(0, at);
}

function alignedMember(value: Json, other: Json | undefined, compare: FieldComparison, path: readonly string[]): Json {
  return other === undefined ? value : alignedWith(value, other, compare, path);
}

/** The elements of a list in the order of those of another list that they count as equal to; then the others. */
function alignedSet(
  list: readonly Json[],
  other: readonly Json[],
  compare: FieldComparison,
  path: readonly string[],
): readonly Json[] {
  const matches =
    Object.keys(compare.tolerance).length === 0 || list.length + other.length > longList
      ? matchedByContent(list, other, compare, path)
      : matched(list.length, other.length, (own, theirs) => {
          const wanted = other[theirs] as Json;
          return equalJson(alignedWith(list[own] as Json, wanted, compare, [...path, String(theirs)]), wanted);
        });
  const paired = new Set(matches);
  const rest = list.filter((_, own) => !paired.has(own));
  const aligned = other.flatMap((each, theirs) => (matches[theirs] === undefined ? rest.splice(0, 1) : [each]));
  return [...aligned, ...rest];
}

/** Elements of two lists above which they are paired by their content alone, since pairs within a tolerance take long. */
const longList = 1000;

/** Returns for each element of one list the index of an element of the other that has the same content. */
function matchedByContent(
  list: readonly Json[],
  other: readonly Json[],
  compare: FieldComparison,
  path: readonly string[],
): readonly (number | undefined)[] {
  const contentOf = (element: Json, at: number) =>
    canonicalJson(withSortedLists(element, compare, [...path, String(at)]));
  const free = Map.groupBy(list.keys(), (at) => contentOf(list[at] as Json, at));
  return other.map((each, at) => free.get(contentOf(each, at))?.shift());
}

/**
 * Returns for each element of one list the index of an element of the other that it is paired with, in as many pairs as
 * possible. With a tolerance, two elements can be alike that are not both like a third.
 */
function matched(
  own: number,
  theirs: number,
  isAlike: (own: number, theirs: number) => boolean,
): readonly (number | undefined)[] {
  const pairOf: (number | undefined)[] = Array.from({ length: theirs });
  const place = (element: number, tried: Set<number>): boolean => {
    for (let at = 0; at < theirs; at++) {
      if (tried.has(at) || !isAlike(element, at)) continue;
      tried.add(at);
      const before = pairOf[at];
      if (before !== undefined && !place(before, tried)) continue;
      pairOf[at] = element;
      return true;
    }
    return false;
  };
  for (let element = 0; element < own; element++) place(element, new Set());
  return pairOf;
}

function toleranceAt(path: readonly string[], { tolerance }: FieldComparison): number {
  return Math.max(0, ...Object.entries(tolerance).flatMap(([field, most]) => (endsIn(path, [field]) ? [most] : [])));
}

/** Whether two numbers are at most so far apart. 1.10 and 1.09 are 0.01 apart, whatever is lost in binary. */
function isWithin(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= tolerance + 4 * Number.EPSILON * Math.max(Math.abs(a), Math.abs(b)) * Math.sign(tolerance);
}
