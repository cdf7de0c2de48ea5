import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Range,
  type Scalar,
  visit,
  type YAMLMap,
  YAMLParseError,
  type YAMLSeq,
} from 'yaml';
import { withoutSpace } from '../../core/text/text.ts';
import { deepest, isTooDeep } from '../../core/values/nesting.ts';
import { type Diagnostic, type Edit, type Location, startOf } from '../files/diagnostic.ts';
import { messageOf } from '../files/fault.ts';
import { unkept, unkeptHint } from './number.ts';
import { type FileKind, remembered, type Source } from './source.ts';
import { describeFault } from './yamlFault.ts';
import { keyText, mergedPair, ownPair, yamlOptions } from './yamlMerge.ts';

/** Locates values in a YAML file by their path from the root. */
export type Places = {
  /** The value at the path, or as much of it as there is. */
  readonly value: (path: readonly PropertyKey[]) => Location;
  /** The key at the end of the path. */
  readonly key: (path: readonly PropertyKey[]) => Location;
  /** A part of the text at the path; the whole where the file writes it with escapes. */
  readonly part: (path: readonly PropertyKey[], text: string, offset: number, length: number) => Location;
  /** Adds `key: value`, or an item, to the map or list at the path; null if the path leads to neither. */
  readonly insert: (path: readonly PropertyKey[], entry: string) => Edit | null;
};

export type YamlFile = {
  readonly file: string;
  readonly value: unknown;
  readonly places: Places;
  readonly problem: Diagnostic | null;
  /** Of values that can be used, and are not what is written there. */
  readonly warnings: readonly Diagnostic[];
};

const parsed = new WeakMap<Source, Map<FileKind, YamlFile>>();
/** The document that was read last. */
let last: { readonly source: Source; readonly read: YamlDocument } | null = null;

/** A file as YAML reads it, with as much of it as can be read where it has faults. */
export type YamlDocument = { readonly document: Document; readonly lines: LineCounter };

/**
 * Reads a file as YAML. Throws a `RangeError` where it is nested too deep. A document takes 30 times the memory of its
 * text, so only the last one is kept.
 */
export function documentOf(source: Source): YamlDocument {
  if (last?.source === source) return last.read;
  const lines = new LineCounter();
  // The parser would compare each key of a map with all before it.
  const options = { ...yamlOptions, uniqueKeys: false, lineCounter: lines, prettyErrors: false } as const;
  const document = parseDocument(source.text, { ...options, logLevel: 'error' });
  const doubled = doubledKeys(document);
  if (doubled.length > 0) document.errors = [...document.errors, ...doubled].toSorted((a, b) => a.pos[0] - b.pos[0]);
  const read = { document, lines };
  last = { source, read };
  return read;
}

function doubledKeys(document: Document): readonly YAMLParseError[] {
  const found: YAMLParseError[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const [from = 0] = key.range ?? [];
        if (keys.has(key.value))
          found.push(new YAMLParseError([from, from + 1], 'DUPLICATE_KEY', 'A key appears twice'));
        keys.add(key.value);
      }
    },
  });
  return found;
}

/** Parses a YAML file once. Its first fault is one finding; the value is then undefined. */
export function parseYaml(source: Source, kind: FileKind): YamlFile {
  const kinds = remembered(parsed, source, () => new Map<FileKind, YamlFile>());
  const known = kinds.get(kind) ?? readYaml(source, kind);
  kinds.set(kind, known);
  return known;
}

/** Parses a YAML file, for who keeps what becomes of its value: with thousands of tasks, both take twice the memory. */
export function readYaml(source: Source, kind: FileKind): YamlFile {
  const { file, text } = source;
  let lines = new LineCounter();
  let places: Places = placesOf(source, noNodes, lines);
  try {
    const read = documentOf(source);
    const { document } = read;
    lines = read.lines;
    places = placesOf(source, nodesOf(document), lines);
    const [fault] = document.errors;
    if (fault?.code === 'RESOURCE_EXHAUSTION') return unusable(file, places, tooDeep(file, kind));
    if (fault) {
      const { from, to, message, hint } = describeFault(text, document, fault);
      const code = fault.code === 'DUPLICATE_KEY' ? 'duplicate-key' : 'syntax';
      const problem = {
        ...locate(file, lines, from, to),
        code: `${kind}/${code}`,
        severity: 'error',
        message,
        hint,
      } as const;
      return unusable(file, places, problem);
    }
    const large = /\d{16}/.test(text) ? largeNumbers(document) : [];
    const value = exactValue(document, kind === 'task' ? large : []);
    if (isTooDeep(value)) return unusable(file, places, tooDeep(file, kind));
    const warnings = large.map((number) => unkeptNumber(source, kind, number, lines));
    return { file, value, places, problem: null, warnings };
  } catch (error) {
    const isDeep = error instanceof RangeError;
    return unusable(file, places, isDeep ? tooDeep(file, kind) : unresolvable(source, kind, error, lines));
  }
}

const unusable = (file: string, places: Places, problem: Diagnostic): YamlFile => ({
  file,
  value: undefined,
  places,
  problem,
  warnings: [],
});

function tooDeep(file: string, kind: FileKind): Diagnostic {
  const message = `A value in this file is nested deeper than ${deepest} levels.`;
  const hint = 'Write it flat, and check that no alias (*name) is inside its own anchor (&name).';
  return { ...startOf(file), code: `${kind}/too-deep`, severity: 'error', message, hint };
}

/** A whole number that a JavaScript number is not safe for. */
type LargeNumber = { readonly node: Scalar; readonly written: string; readonly value: number; readonly range: Range };

function largeNumbers(document: Document): readonly LargeNumber[] {
  const found: LargeNumber[] = [];
  visit(document, {
    Scalar: (_, node) => {
      const { value, source: written = '', range } = node;
      if (typeof value !== 'number' || !/^[-+]?\d{16,}$/.test(written) || !range) return;
      if (!Number.isSafeInteger(value)) found.push({ node, written, value, range });
    },
  });
  return found;
}

/** Returns the value of a document, with a text of all digits in place of each of the numbers. */
function exactValue(document: Document, large: readonly LargeNumber[]): unknown {
  const exact = large.filter(({ value }) => Number.isFinite(value));
  try {
    for (const { node, written } of exact) node.value = String(BigInt(written));
    return document.toJS({ maxAliasCount: 100 });
  } finally {
    for (const { node, value } of exact) node.value = value;
  }
}

function unkeptNumber(
  { file }: Source,
  kind: FileKind,
  { written, value, range }: LargeNumber,
  lines: LineCounter,
): Diagnostic {
  return {
    ...locate(file, lines, range[0], range[1]),
    code: `${kind}/unkept-number`,
    severity: Number.isFinite(value) ? 'warning' : 'error',
    message: unkept(written, value, kind === 'task'),
    hint: unkeptHint,
  };
}

/** An alias without its anchor, or a document that is too large to be one. */
function unresolvable({ file, text }: Source, kind: FileKind, error: unknown, lines: LineCounter): Diagnostic {
  const reason = messageOf(error);
  const alias = /: (\S+)$/.exec(reason)?.[1];
  const word = alias === undefined ? (reason.startsWith('Merge') ? '<<' : '') : `*${alias}`;
  const from = Math.max(0, text.indexOf(word));
  const at = locate(file, lines, from, from + Math.max(1, word.length));
  const message = `The YAML cannot be resolved: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}.`;
  const hint = 'Check its anchors (&name) and aliases (*name).';
  return { ...at, code: `${kind}/syntax`, severity: 'error', message, hint };
}

function placesOf(source: Source, nodes: Nodes, lines: LineCounter): Places {
  const { file, text } = source;
  const rangeAt = (at: number, fallback: Location) =>
    (nodes.ranges[at] ?? -1) < 0 ? fallback : locate(file, lines, nodes.ranges[at] ?? 0, nodes.ranges[at + 1] ?? 0);
  const walk = (path: readonly PropertyKey[], wantKey: boolean): Location => {
    let node = 0;
    let at = rangeAt(valueAt(node), locate(file, lines, 0, 0));
    for (const [depth, part] of path.entries()) {
      const child = childIn(nodes, node, String(part));
      if (child === undefined) return firstLine(at);
      const key = rangeAt(keyAt(child), at);
      const isKey = wantKey && depth === path.length - 1 && key !== at;
      at = isKey ? key : rangeAt(valueAt(child), key);
      node = child;
    }
    return at;
  };
  const insert = (path: readonly PropertyKey[], entry: string): Edit | null => {
    const node = nodeAt(documentOf(source).document, path);
    const found = (isMap(node) || isSeq(node)) && node.range ? insertion(node, node.range[0], entry, text) : null;
    return found && { ...locate(file, lines, found.offset, found.offset), text: found.text };
  };
  const part = (path: readonly PropertyKey[], value: string, offset: number, length: number): Location => {
    const node = nodeAt(documentOf(source).document, path);
    const found = isScalar(node) && node.range ? partOf(text, node.range, value, offset, length) : null;
    return found ? locate(file, lines, ...found) : walk(path, false);
  };
  return { value: (path) => walk(path, false), key: (path) => walk(path, true), part, insert };
}

/**
 * From where to where a part of a scalar's text is in the file. Folding changes only white space, so characters are
 * counted without it. Null where anything else differs.
 */
function partOf(
  file: string,
  [from, to]: readonly [number, number, number],
  text: string,
  offset: number,
  length: number,
): [number, number] | null {
  const isBlock = /[|>]/.test(file[from] ?? '');
  const start = isBlock ? file.indexOf('\n', from) + 1 : from + (/["']/.test(file[from] ?? '') ? 1 : 0);
  const raw = file.slice(start, isBlock || start === from ? to : to - 1);
  if (withoutSpace(raw) !== withoutSpace(text)) return null;
  const before = withoutSpace(text.slice(0, offset)).length;
  const own = withoutSpace(text.slice(offset, offset + length)).length;
  if (own === 0) return null;
  return [start + indexOfCharacter(raw, before), start + indexOfCharacter(raw, before + own - 1) + 1];
}

/** Returns where the character with this number is, white space not counted. */
function indexOfCharacter(text: string, number: number): number {
  let left = number;
  for (const { index } of text.matchAll(/\S/g)) if (left-- === 0) return index;
  return text.length;
}

function nodeAt(document: Document, path: readonly PropertyKey[]): unknown {
  let node: unknown = document.contents;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    node = isSeq(node)
      ? node.items[Number(part)]
      : isMap(node)
        ? (ownPair(node, part) ?? mergedPair(document, node, part))?.value
        : undefined;
  }
  return node;
}

/** Behind the last entry of `[...]` and `{...}`; in a block behind the line of the first entry, else before it. */
function insertion(node: YAMLMap | YAMLSeq, from: number, entry: string, text: string) {
  const last = endOf(node.items.at(-1));
  if (node.flow) {
    if (last === null) return { offset: from + 1, text: isMap(node) ? ` ${entry} ` : entry };
    return { offset: last, text: `, ${entry}` };
  }
  const own = isSeq(node) ? `- ${entry}` : entry;
  const indent = ' '.repeat(from - (text.lastIndexOf('\n', from - 1) + 1));
  const first = node.items[0];
  const isShort = isMap(node) && isPair(first) && isScalar(first.value);
  const end = isShort ? (endOf(first) ?? from) : from;
  if (!isShort || text.slice(from, end).includes('\n')) return { offset: from, text: `${own}\n${indent}` };
  const line = text.indexOf('\n', end);
  return { offset: line < 0 ? text.length : line, text: `\n${indent}${own}` };
}

function endOf(item: unknown): number | null {
  const node = isPair(item) ? ((item.value as Node | null) ?? (item.key as Node)) : (item as Node | undefined);
  return node?.range?.[1] ?? null;
}

/**
 * The ranges of the nodes of a document and the keys they have, without the document: of each node its own range, that of
 * its key, the number of the node after it, and the number of the node that has its value (for an alias its anchor,
 * otherwise the node itself).
 */
type Nodes = {
  readonly ranges: Int32Array;
  readonly names: readonly string[];
  /** The children of large nodes by their names, once one of them was looked for. */
  readonly indexes: Map<number, ReadonlyMap<string, number>>;
};

const noNodes: Nodes = { ranges: Int32Array.of(-1, -1, -1, -1, 1, 0), names: [''], indexes: new Map() };

const fields = 6;
const valueAt = (node: number) => node * fields;
const keyAt = (node: number) => node * fields + 2;
const nextAt = (node: number) => node * fields + 4;
const targetAt = (node: number) => node * fields + 5;

function nodesOf(document: Document): Nodes {
  const ranges: number[] = [];
  const names: string[] = [];
  const anchors = new Map<string, number>();
  const add = (name: string, key: Node | null, value: Node | null): void => {
    const own = names.length;
    const target = isAlias(value) ? anchors.get(value.source) : undefined;
    const [from, to] = value?.range ?? [-1, -1];
    const [keyFrom, keyTo] = key?.range ?? [-1, -1];
    names.push(name);
    ranges.push(from, to, keyFrom, keyTo, 0, target ?? own);
    if (isNode(value) && !isAlias(value) && value.anchor !== undefined) anchors.set(value.anchor, own);
    if (isSeq(value)) for (const [index, item] of value.items.entries()) add(String(index), null, item as Node);
    if (isMap(value)) for (const { key: each, value: of } of value.items) add(keyText(each), each as Node, of as Node);
    ranges[nextAt(own)] = names.length;
  };
  add('', null, document.contents as Node | null);
  return { ranges: Int32Array.from(ranges), names, indexes: new Map() };
}

const mergeName = '<<';

/** The child of a node with this name, the first of several; else one of a map that the node merges. */
function childIn(nodes: Nodes, node: number, name: string): number | undefined {
  const own = ownChildIn(nodes, node, name);
  if (own !== undefined || ownChildIn(nodes, node, mergeName) === undefined) return own;
  for (const child of childrenOf(nodes, node)) {
    const found = nodes.names[child] === mergeName ? mergedIn(nodes, child, name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Children above which a node has an index. Most nodes have few, for which it would only take memory. */
const mostScanned = 50;

function ownChildIn(nodes: Nodes, node: number, name: string): number | undefined {
  const parent = nodes.ranges[targetAt(node)] ?? node;
  const known = nodes.indexes.get(parent);
  if (known) return known.get(name);
  let scanned = 0;
  for (const child of childrenOf(nodes, node)) {
    if (nodes.names[child] === name) return child;
    scanned += 1;
    if (scanned > mostScanned) return indexed(nodes, parent).get(name);
  }
  return undefined;
}

function indexed(nodes: Nodes, parent: number): ReadonlyMap<string, number> {
  const index = new Map<string, number>();
  for (const child of childrenOf(nodes, parent)) {
    const name = nodes.names[child] ?? '';
    if (!index.has(name)) index.set(name, child);
  }
  nodes.indexes.set(parent, index);
  return index;
}

/** The child with this name behind a merge key, whose value is a map or a list of maps. */
function mergedIn(nodes: Nodes, merge: number, name: string): number | undefined {
  const own = childIn(nodes, merge, name);
  if (own !== undefined) return own;
  for (const child of childrenOf(nodes, merge)) {
    const found = /^\d+$/.test(nodes.names[child] ?? '') ? childIn(nodes, child, name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function* childrenOf({ ranges }: Nodes, node: number): Generator<number> {
  const parent = ranges[targetAt(node)] ?? node;
  const end = ranges[nextAt(parent)] ?? 0;
  for (let child = parent + 1; child < end; child = ranges[nextAt(child)] ?? end) yield child;
}

const firstLine = (at: Location): Location => ({ ...at, endLine: at.line, endColumn: at.column });

function locate(file: string, lines: LineCounter, from: number, to: number): Location {
  const start = lines.linePos(from);
  const end = lines.linePos(Math.max(from, to));
  // Before the first line break is counted the counter answers line 0.
  const line = Math.max(1, start.line);
  return {
    file,
    line,
    column: Math.max(1, start.col),
    endLine: Math.max(line, end.line),
    endColumn: Math.max(1, end.col),
  };
}
