import type * as vscode from 'vscode';
import type * as z from 'zod';
import { type Json, type Path, valueAt } from '../../engine/core/values/json.ts';

/** The entries of a document as they were when they fit their schema last, by their paths. */
export type LastFit = Map<string, Json>;

const known = new WeakMap<vscode.TextDocument, { readonly count: number; readonly entries: LastFit }>();

/**
 * Returns the entries of a document that fit last. Where an entry was added or removed, the others have other paths, so
 * they are forgotten.
 */
export function lastFitOf(document: vscode.TextDocument, count: number): LastFit {
  const found = known.get(document);
  if (found?.count === count) return found.entries;
  const entries: LastFit = new Map();
  known.set(document, { count, entries });
  return entries;
}

/**
 * Returns an entry that does not fit its schema as a form shows it: with its texts as they are in the file, and other
 * values that do not fit as they were when they did. Null where a form could not show the entry.
 */
export function shownUnfit<T>(
  schema: z.ZodType<T>,
  entry: Json,
  fit: Json | undefined,
): { readonly value: T; readonly issues: readonly z.core.$ZodIssue[] } | null {
  const { error } = schema.safeParse(entry, { reportInput: true });
  const issues = error?.issues ?? [];
  const patched = structuredClone(entry);
  for (const issue of issues) {
    const path = pathOf(issue);
    const known = fit === undefined ? undefined : valueAt(fit, path);
    if (issue.code === 'unrecognized_keys' || !put(patched, path, known)) return null;
  }
  const { data } = schema.safeParse(patched);
  if (data === undefined) return null;
  const value = structuredClone(data);
  for (const issue of issues) {
    const path = pathOf(issue);
    const text = valueAt(entry, path);
    if (typeof text === 'string' && typeof valueAt(value as Json, path) === 'string') put(value as Json, path, text);
  }
  return { value, issues };
}

/** Returns the path of an issue; zod's may have symbols, and JSON has none. */
export const pathOf = ({ path }: Pick<z.core.$ZodIssue, 'path'>): (string | number)[] =>
  path.map((part) => (typeof part === 'number' ? part : String(part)));

/** Returns whether a value could be put at a path. */
function put(root: Json, path: Path, value: Json | undefined): boolean {
  const key = path.at(-1);
  const parent = valueAt(root, path.slice(0, -1));
  if (key === undefined || typeof parent !== 'object' || parent === null) return false;
  if (value !== undefined) return Reflect.set(parent, key, structuredClone(value));
  return !Array.isArray(parent) && Reflect.deleteProperty(parent, key);
}
