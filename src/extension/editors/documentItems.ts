import type * as vscode from 'vscode';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { type NamingKey, writtenIds } from '../../engine/shell/load/writtenIds.ts';
import { type FilePart, partsOf } from '../../engine/shell/source/fileParts.ts';
import { describeIssues } from '../../engine/shell/source/issue.ts';
import { type ItemKind, parseItems } from '../../engine/shell/source/items.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { parseYaml } from '../../engine/shell/source/yaml.ts';
import type { FileProblem, Shown } from '../../webview/messages/protocol.ts';
import { checkErrorsIn } from './checkErrors.ts';
import { type LastFit, lastFitOf, pathOf, shownUnfit } from './lastFit.ts';

/**
 * An entry of a file, as the engine reads it. Where it does not fit its schema, as a form shows it with its errors, or
 * null where a form can't.
 */
export type DocumentItem<T> = {
  readonly label: string;
  /** The path of the entry in the file. */
  readonly path: (string | number)[];
  readonly value: T | null;
  readonly problem: FileProblem | null;
  readonly errors: Shown['errors'];
};

/** The entries of a YAML document: one, or those of its list. */
export type DocumentItems<T> = { readonly broken: FileProblem | null; readonly items: readonly DocumentItem<T>[] };

/** The state of a file apart from the form: its problem, its entries, and the index of the one shown. */
type Chosen<T> = Pick<Shown, 'broken' | 'items' | 'index' | 'errors'> & {
  /** The entry that is shown; undefined if it can't be read. */
  readonly item: { readonly path: (string | number)[]; readonly value: T } | undefined;
};

/** A list of so many characters is read entry by entry: the whole of it would take seconds after each change. */
const manyCharacters = 100_000;

/** A file in an editor, the number of the entry that a person has chosen there, and the findings of its domain. */
type Seen = {
  readonly document: vscode.TextDocument;
  readonly choices: { readonly index: number };
  readonly findings: readonly Diagnostic[];
};

/**
 * The entries of the file that an editor shows, with the chosen one of them.
 * @param name the key that names an entry
 */
export function chosenIn<T>({ document, choices, findings }: Seen, of: ItemKind<T>, name: NamingKey): Chosen<T> {
  const { broken, items } = itemsOf(document, of, name, choices.index);
  const index = Math.max(0, Math.min(choices.index, items.length - 1));
  const { path = [], value = null, errors = [] } = items[index] ?? {};
  const labels = items.map(({ label, problem }) => ({ label, problem }));
  if (value === null) return { broken, items: labels, index, errors, item: undefined };
  const [part, own] = entryIn(sourceOf(document), path);
  const checked = errors.length > 0 ? [] : checkErrorsIn(part, of.kind, own, findings);
  return { broken, items: labels, index, errors: [...errors, ...checked], item: { path, value } };
}

/** Returns the text that is read for an entry of a file, the number of lines before it, and the path of the entry in it. */
function entryIn(source: Source, path: (string | number)[]): [Pick<FilePart, 'source' | 'line'>, (string | number)[]] {
  const parts = source.text.length > manyCharacters ? partsOf(source) : [];
  const part = parts.length < 2 ? undefined : parts[Number(path[0])];
  return part ? [part, [0]] : [{ source, line: 0 }, path];
}

/**
 * Reads the entries of a document with the engine's own reader and schema. A broken entry does not affect the others.
 * In a long list, only the entry that is shown is read; for the others, only the names are searched.
 * @param name the key that names an entry
 * @param index of the entry that is shown
 */
export function itemsOf<T>(
  document: vscode.TextDocument,
  of: ItemKind<T>,
  name: NamingKey,
  index: number,
): DocumentItems<T> {
  const source = sourceOf(document);
  const parts = source.text.length > manyCharacters ? partsOf(source) : [];
  const lastFit = (count: number) => lastFitOf(document, count);
  if (parts.length < 2) return readItems(source, of, name, lastFit);
  const chosen = Math.max(0, Math.min(index, parts.length - 1));
  return {
    broken: null,
    items: parts.map((part, at): DocumentItem<T> => {
      const path = [at];
      const label = writtenIds(part.source.text, name)[0]?.id ?? `${of.kind} ${at + 1}`;
      if (at !== chosen) return { label, path, value: null, problem: null, errors: [] };
      const { broken, items } = readItems(part.source, of, name, () => lastFit(parts.length), at);
      const [item = { label, value: null, problem: broken, errors: [] }] = items;
      const { problem } = item;
      return { ...item, path, problem: problem && { ...problem, line: problem.line + part.line } };
    }),
  };
}

/** Returns the line (from 1) of an entry of a document, by which the entry is found. */
export function lineOfItem(document: vscode.TextDocument, index: number): number {
  const source = sourceOf(document);
  const parts = partsOf(source);
  if (parts.length === 1) return index === 0 ? 1 : parseYaml(source, 'task').places.value([index]).line;
  // The last line of a part is below the begin of its entry, whatever comments are above that.
  return parts[index + 1]?.line ?? source.text.split('\n').length;
}

/** Returns the index of the entry of a document that a line (from 1) belongs to. */
export function indexAtLine(document: vscode.TextDocument, line: number): number {
  const source = sourceOf(document);
  const parts = partsOf(source);
  if (parts.length > 1) return parts.findIndex((_, index) => (parts[index + 1]?.line ?? line) >= line);
  const { value: root, places } = parseYaml(source, 'task');
  return Array.isArray(root)
    ? Math.max(
        0,
        root.findLastIndex((_, index) => places.value([index]).line <= line),
      )
    : 0;
}

/**
 * @param lastFit returns the entries that fit last, if the file has so many
 * @param first the index of the first entry in the file
 */
function readItems<T>(
  source: Source,
  of: ItemKind<T>,
  name: NamingKey,
  lastFit: (count: number) => LastFit,
  first = 0,
): DocumentItems<T> {
  const { value: root, problem, places } = parseYaml(source, of.kind);
  if (problem) return { broken: told(problem), items: [] };
  const { items, diagnostics } = parseItems(source, of);
  const [finding] = diagnostics;
  if (typeof root !== 'object' || root === null || (Array.isArray(root) && root.length === 0))
    return {
      broken: finding ? told(finding) : { message: `There is no ${of.kind} in this file.`, line: 1 },
      items: [],
    };
  const entries = Array.isArray(root)
    ? root.map((value, index) => ({ value, path: [index] }))
    : [{ value: root, path: [] }];
  const fit = lastFit(entries.length);
  return {
    broken: null,
    items: entries.map(({ value, path }, index) => {
      const key = String(first + index);
      const read = items.find((item) => item.path.join() === path.join());
      const at = places.value(path);
      const own = diagnostics.find(
        ({ line, severity }) => severity === 'error' && line >= at.line && line <= at.endLine,
      );
      const label = (value as Record<string, unknown> | null)?.[name];
      const item = { label: typeof label === 'string' && label !== '' ? label : `${of.kind} ${index + 1}`, path };
      if (read) {
        fit.set(key, value);
        return { ...item, value: read.value, problem: null, errors: [] };
      }
      const unfit = fit.has(key) ? shownUnfit(of.item, value, fit.get(key)) : null;
      const problem = told(own ?? diagnostics[0] ?? { ...at, message: `This is not a ${of.kind}.` });
      const context = { kind: of.kind, schema: of.schema, places, prefix: path };
      const errors = (unfit?.issues ?? []).flatMap((issue) =>
        describeIssues([issue], context).map(({ message }) => ({ path: pathOf(issue), message })),
      );
      return { ...item, value: unfit?.value ?? null, problem, errors };
    }),
  };
}

/** The text of a document as every reader of the engine gets it. */
export function sourceOf(document: vscode.TextDocument): Source {
  return { file: document.uri.fsPath, text: document.getText().replaceAll('\r\n', '\n') };
}

function told({ message, hint, line }: Pick<Diagnostic, 'message' | 'hint' | 'line'>): FileProblem {
  return { message: hint ? `${message} ${hint}` : message, line };
}
