import { createdIdsIn, prefixOf } from './createdIds.ts';
import { patchesBetween } from './difference.ts';
import { canonicalJson, isObject, type Json, jsonOf } from './json.ts';
import type { Renaming } from './renaming.ts';
import { excerpt } from './rules/finding.ts';

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
 */
export function comparable(values: readonly Json[], volatile: readonly string[] = []): Comparable {
  const numbers = new Map<string, string>();
  const add = (id: string, kind: string) => {
    if (!numbers.has(id)) numbers.set(id, `<${kind}${numbers.size + 1}>`);
  };
  for (const value of values)
    visit(value, [], (path, text) => {
      if (typeof text === 'string' && isVolatile(path, volatile)) add(text, '');
      else if (typeof text === 'string') for (const id of createdIdsIn(text)) add(id, prefixOf(id));
    });
  const ids = [...numbers.keys()].filter((id) => id.length > 2).toSorted((a, b) => b.length - a.length);
  const renamed = (text: string) =>
    ids.reduce((found, id) => (found.includes(id) ? found.replaceAll(id, numbers.get(id) ?? id) : found), text);
  const texts = values.map((value) => canonicalJson(mapped(value, [], volatile, renamed)));
  return { texts, ids: [...numbers.keys()] };
}

/** Which id of one record is which of the other. */
export function pairsOf(one: Comparable, other: Comparable): Renaming {
  return new Map(one.ids.flatMap((id, at) => (other.ids[at] === undefined ? [] : [[id, other.ids[at]] as const])));
}

/** Where two records differ first, and what each has there; undefined where it has nothing. */
export type FirstDifference = {
  readonly path: readonly string[];
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

/** Returns the first difference between two comparable texts, or null where they do not differ. */
export function firstDifference(one: string, other: string): FirstDifference | null {
  const [first] = patchesBetween((jsonOf(one) ?? null) as Json, (jsonOf(other) ?? null) as Json);
  return first ? { path: first.path.map(String), before: first.old, after: first.value } : null;
}

/** Returns the same in words, or null. */
export function differenceBetween(one: string, other: string): string | null {
  const found = firstDifference(one, other);
  if (found === null) return null;
  const [before, after] = [found.before, found.after].map((value) =>
    value === undefined ? 'missing' : excerpt(canonicalJson(value)),
  );
  return `${found.path.join('.')} is ${before}, then ${after}`;
}

function isVolatile(path: readonly string[], patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('.');
    const own = path.slice(-parts.length);
    return own.length === parts.length && parts.every((part, at) => part === '*' || part === own[at]);
  });
}

/** What a text says as JSON, as results of tools are written; the value itself where it is not one. */
function inside(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  return (jsonOf(value) as Json | undefined) ?? value;
}

function visit(value: Json, path: readonly string[], note: (path: readonly string[], value: Json) => void): void {
  const read = inside(value);
  if (typeof read !== 'object' || read === null) {
    note(path, read);
    return;
  }
  for (const [key, each] of Object.entries(read)) {
    note([], key);
    visit(each as Json, [...path, key], note);
  }
}

function mapped(
  value: Json,
  path: readonly string[],
  volatile: readonly string[],
  renamed: (text: string) => string,
): Json {
  const read = inside(value);
  if (typeof read === 'string') return renamed(read);
  if (Array.isArray(read)) {
    const rows = read.map((each, at) => mapped(each, [...path, String(at)], volatile, renamed));
    return isVolatile(path, volatile) ? inOrder(rows) : rows;
  }
  if (!isObject(read)) return isVolatile(path, volatile) ? '<volatile>' : read;
  return Object.fromEntries(
    Object.entries(read).map(([key, each]) => [renamed(key), mapped(each, [...path, key], volatile, renamed)]),
  );
}

/** Returns rows in an order that depends on their content alone. */
function inOrder(rows: readonly Json[]): readonly Json[] {
  return rows
    .map((row) => ({ row, text: canonicalJson(row) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ row }) => row);
}
