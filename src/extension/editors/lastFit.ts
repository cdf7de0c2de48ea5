import type * as vscode from 'vscode';
import type * as z from 'zod';
import type { Shown } from '../../webview/messages/protocol.ts';

/** The entries of a document as they were when they fit their schema last, by their paths. */
export type LastFit = Map<string, unknown>;

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
  entry: unknown,
  fit: unknown,
): { readonly value: T; readonly issues: readonly z.core.$ZodIssue[] } | null {
  const { error } = schema.safeParse(entry, { reportInput: true });
  const issues = error?.issues ?? [];
  const patched = structuredClone(entry);
  for (const { code, path } of issues)
    if (code === 'unrecognized_keys' || !put(patched, path, at(fit, path))) return null;
  const { data } = schema.safeParse(patched);
  if (data === undefined) return null;
  const value = structuredClone(data);
  for (const { path } of issues) {
    const text = at(entry, path);
    if (typeof text === 'string' && typeof at(value, path) === 'string') put(value, path, text);
  }
  return { value, issues };
}

/** Returns the path of an issue; zod's may have symbols, and JSON has none. */
export const pathOf = ({ path }: Pick<z.core.$ZodIssue, 'path'>): Shown['errors'][number]['path'] =>
  path.map((part) => (typeof part === 'number' ? part : String(part)));

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (within, part) => (typeof within === 'object' && within !== null ? Reflect.get(within, part) : undefined),
    value,
  );
}

/** Returns whether a value could be put at a path. */
function put(root: unknown, path: readonly PropertyKey[], value: unknown): boolean {
  const key = path.at(-1);
  const parent = at(root, path.slice(0, -1));
  if (key === undefined || typeof parent !== 'object' || parent === null) return false;
  if (value !== undefined) return Reflect.set(parent, key, structuredClone(value));
  return !Array.isArray(parent) && Reflect.deleteProperty(parent, key);
}
