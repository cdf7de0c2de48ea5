import { statSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { type Diagnostic, type Location, pathFrom, startOf } from '../files/diagnostic.ts';
import { type EntriesBelow, entriesBelow } from '../files/entriesBelow.ts';
import { type FilePart, findingInFile, partsOf, placeInFile } from './fileParts.ts';
import { describeIssues } from './issue.ts';
import { type Salvaged, salvage } from './salvage.ts';
import type { SchemaName } from './schemas.ts';
import { type FileKind, type Overlay, readSource, remembered, type Source, unreadable } from './source.ts';
import { type Places, readYaml } from './yaml.ts';

/** A checked value and where it is: `path` leads to it from the root of its file. */
export type Placed<T> = {
  readonly value: T;
  readonly file: string;
  readonly path: readonly PropertyKey[];
  readonly places: Places;
};

/** The part of a value that fits its schema, where other keys do not. It is checked, and never used. */
export type Broken<T> = {
  readonly placed: Placed<T>;
  /** The places in the file of the keys that do not fit, those of the value itself. */
  readonly lost: readonly Location[];
  /** The names of those keys. */
  readonly keys: ReadonlySet<string>;
};

export type Items<T> = {
  readonly items: readonly Placed<T>[];
  readonly broken: readonly Broken<T>[];
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly Source[];
};

export type ItemKind<T> = {
  readonly kind: FileKind;
  readonly schema: SchemaName;
  readonly item: z.ZodType<T>;
  /** A key that may hold the list, as in `rules:`. */
  readonly wrapper?: string;
  /** The file is one map, and never a list. */
  readonly isMap?: boolean;
};

/** The place of a part of a placed value. */
export function placeOf<T>(placed: Placed<T>, ...parts: readonly PropertyKey[]): Location {
  return placed.places.value([...placed.path, ...parts]);
}

/** A text of a placed value, and where it is: for places of its parts. */
export type PlacedText = {
  readonly text: string;
  readonly at: Location;
  readonly part: (offset: number, length: number) => Location;
};

/** A text of a placed value. */
export function textIn<T>(placed: Placed<T>, text: string, ...path: readonly PropertyKey[]): PlacedText {
  const whole = [...placed.path, ...path];
  return {
    text,
    at: placed.places.value(whole),
    part: (offset, length) => placed.places.part(whole, text, offset, length),
  };
}

/** The place of a key of a placed value. */
export function keyOf<T>(placed: Placed<T>, ...parts: readonly PropertyKey[]): Location {
  return placed.places.key([...placed.path, ...parts]);
}

const parsed = new WeakMap<Source, Map<FileKind, Items<unknown>>>();

/** One value, or a list of values, of a YAML file, frozen. A broken element does not affect the others. */
export function parseItems<T>(source: Source, of: ItemKind<T>): Items<T> {
  const kinds = remembered(parsed, source, () => new Map<FileKind, Items<unknown>>());
  const known = kinds.get(of.kind) ?? parseParts(source, of);
  kinds.set(of.kind, known);
  return known as Items<T>;
}

/** An item that has not changed since the file was last read is not read again. */
function parseParts<T>(source: Source, of: ItemKind<T>): Items<T> {
  const parts = partsOf(source);
  if (parts.length === 1) return parse(source, of);
  const read = parts.map((part, index) => ({ part, index, ...parseItems(part.source, of) }));
  return {
    items: read.flatMap(({ part, index, items }) => items.map((item) => itemInFile(item, part, index))),
    broken: read.flatMap(({ part, index, broken }) =>
      broken.map((each) => ({
        ...each,
        placed: itemInFile(each.placed, part, index),
        lost: each.lost.map((at) => placeInFile(at, part)),
      })),
    ),
    diagnostics: read.flatMap(({ part, diagnostics }) => diagnostics.map((each) => findingInFile(each, part))),
    sources: [source],
  };
}

function itemInFile<T>(item: Placed<T>, part: FilePart, index: number): Placed<T> {
  const { places } = item;
  const own = (path: readonly PropertyKey[]) => [0, ...path.slice(1)];
  return {
    ...item,
    path: [index, ...item.path.slice(1)],
    places: {
      value: (path) => placeInFile(places.value(own(path)), part),
      key: (path) => placeInFile(places.key(own(path)), part),
      part: (path, ...of) => placeInFile(places.part(own(path), ...of), part),
      insert: (path, entry) => {
        const edit = places.insert(own(path), entry);
        return edit && placeInFile(edit, part);
      },
    },
  };
}

function parse<T>(source: Source, { kind, schema, item, wrapper, isMap = false }: ItemKind<T>): Items<T> {
  const { value: root, places, problem, warnings } = readYaml(source, kind);
  if (problem) return { items: [], broken: [], diagnostics: [problem], sources: [source] };
  const fail = (code: string, message: string, hint: string): Items<T> => ({
    items: [],
    broken: [],
    diagnostics: [{ ...startOf(source.file), code: `${kind}/${code}`, severity: 'error', message, hint }],
    sources: [source],
  });
  if (root === null || root === undefined || (Array.isArray(root) && root.length === 0)) {
    return fail('empty', `There is no ${kind} in this file.`, `Write one ${kind}, or delete the file.`);
  }
  const isWrapped = wrapper !== undefined && typeof root === 'object' && wrapper in root;
  const list: unknown = isWrapped ? (root as Record<string, unknown>)[wrapper] : root;
  const base = isWrapped ? [wrapper] : [];
  if (isWrapped && list === null) return { items: [], broken: [], diagnostics: [], sources: [source] };
  const isOther = Array.isArray(list) ? isMap : wrapper !== undefined;
  if (typeof list !== 'object' || isOther) {
    const [expected, hint] = expectations[kind] ?? expectedItems(kind, wrapper);
    return fail('wrong-type', `This file holds ${describe(list)}, but ${expected} is expected.`, hint);
  }
  const entries = Array.isArray(list)
    ? list.map((value, index) => ({ value, path: [...base, index] }))
    : [{ value: list, path: base }];
  const items: Placed<T>[] = [];
  const broken: Broken<T>[] = [];
  const diagnostics: Diagnostic[] = [...warnings];
  for (const { value, path } of entries) {
    const result = item.safeParse(value, { reportInput: true });
    if (result.success) items.push({ value: frozen(result.data), file: source.file, path, places });
    else {
      const found = describeIssues(result.error.issues, { kind, schema, places, prefix: path });
      diagnostics.push(...(isMarked(value) ? found.map(asOfDraft) : found));
      const left = salvage(item, value);
      if (left) broken.push(brokenItem(left, { file: source.file, path, places }));
    }
  }
  return { items, broken, diagnostics, sources: [source] };
}

function brokenItem<T>({ value, lost }: Salvaged<T>, at: Omit<Placed<T>, 'value'>): Broken<T> {
  const keys = new Set(lost.map(([key = '']) => String(key)));
  const { path, places } = at;
  return {
    placed: { ...at, value: frozen(value) },
    lost: [...keys].flatMap((key) => [places.key([...path, key]), places.value([...path, key])]),
    keys,
  };
}

/** Returns the expected content of a file that can be a list, and a hint about how it begins. */
function expectedItems(kind: FileKind, wrapper: string | undefined): readonly [expected: string, hint: string] {
  if (wrapper !== undefined) return [`a list of ${kind}s`, 'Begin each entry with "- ".'];
  return [
    `one ${kind} or a list of ${kind}s`,
    `Write the keys of the ${kind}, such as description:, or begin each entry of a list with "- ".`,
  ];
}

/** The expected content of a file that is not a list, and a hint about how it begins. */
const expectations: Readonly<Partial<Record<FileKind, readonly [expected: string, hint: string]>>> = {
  domain: ['one domain', 'Write its keys, starting with name:.'],
  phrase: ['a map of lists', 'Write a name, and below it its phrases, each after "- ".'],
};

/** Whether a task or persona says about itself that it is a draft. */
function isMarked(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { readonly draft?: unknown }).draft === true;
}

/** Returns what is wrong with a draft keeps nothing from running: nothing runs it. */
export function asOfDraft(found: Diagnostic): Diagnostic {
  return found.severity === 'error' ? { ...found, severity: 'warning' } : found;
}

/** All values of the files of a folder whose names end with `suffix`, in the order of their names. */
export function parseFolder<T>(
  folder: string,
  suffix: string,
  of: ItemKind<T>,
  overlay?: Overlay,
  within?: string,
): Items<T> & { readonly found: boolean } {
  const all: { items: Placed<T>[]; broken: Broken<T>[]; diagnostics: Diagnostic[]; sources: Source[] } = {
    items: [],
    broken: [],
    diagnostics: [],
    sources: [],
  };
  let entries: EntriesBelow | null | undefined;
  try {
    entries = entriesIn(folder, overlay, within);
    if (entries === undefined) return { ...all, found: false };
  } catch (error) {
    return { ...all, diagnostics: [unreadable(startOf(folder), of.kind, folder, error)], found: true };
  }
  if (entries === null) {
    const message = `${pathFrom(startOf(folder), folder)} is a file, but a folder is expected here.`;
    const problem: Diagnostic = {
      ...startOf(folder),
      code: `${of.kind}/not-a-folder`,
      severity: 'error',
      message,
      hint: 'Name a folder in domain.yaml.',
    };
    return { ...all, diagnostics: [problem], found: true };
  }
  for (const name of entries.outside)
    all.diagnostics.push(
      ignoredFile(
        join(folder, name),
        of.kind,
        'it is a link that leads out of the domain',
        'Copy the folder to its place, or remove the link.',
        'folder',
      ),
    );
  for (const name of entries.names) {
    const file = join(folder, name);
    if (!name.endsWith(suffix)) {
      if (/\.ya?ml$/.test(name))
        all.diagnostics.push(
          ignoredFile(file, of.kind, `its name does not end with ${suffix}`, 'Rename it, or move it elsewhere.'),
        );
      continue;
    }
    const read = readSource(file, of.kind, overlay, undefined, within);
    const parsed =
      'problem' in read
        ? { items: [], broken: [], diagnostics: [read.problem], sources: [] }
        : parseItems(read.source, of);
    all.items.push(...parsed.items);
    all.broken.push(...parsed.broken);
    all.diagnostics.push(...parsed.diagnostics);
    all.sources.push(...parsed.sources);
  }
  return { ...all, found: true };
}

/** Returns what is in a folder, its names in order; undefined without the folder, null where a file is in its place. */
export function entriesIn(folder: string, overlay?: Overlay, within?: string): EntriesBelow | null | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  const unsaved = unsavedIn(folder, overlay);
  if (!stat && unsaved.length === 0) return undefined;
  if (stat?.isDirectory() === false) return null;
  const { names, outside } = stat ? entriesBelow(folder, within) : { names: [], outside: [] };
  return { names: [...new Set([...names, ...unsaved])].toSorted(), outside };
}

/** Names of files in a folder that are only in an editor yet. */
function unsavedIn(folder: string, overlay?: Overlay): readonly string[] {
  const prefix = join(folder, '/');
  return [...(overlay?.keys() ?? [])].flatMap((file) => (file.startsWith(prefix) ? [file.slice(prefix.length)] : []));
}

/** Returns the finding about a file, or a folder, of a domain that nothing reads. */
export function ignoredFile(file: string, kind: FileKind, reason: string, hint: string, what = 'file'): Diagnostic {
  const message = `This ${what} is not read: ${reason}.`;
  return { ...startOf(file), code: `${kind}/ignored-file`, severity: 'warning', message, hint };
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  const text = typeof value === 'object' ? 'a map' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}..."` : text;
}

/** The value itself: everything that the loader hands out is shared between loads. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) frozen(each);
  return value;
}
