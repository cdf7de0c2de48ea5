import { textHash } from '../values/hash.ts';
import { type Json, type JsonObject, type Path, put, scalarText, showPath } from '../values/json.ts';
import { memo } from '../values/memo.ts';
import { equalNodes, type Patch, patchesBetween } from './difference.ts';
import { DraftSession } from './draft.ts';
import {
  arrayFrom,
  childOf,
  countOf,
  isContainer,
  jsonOf,
  keysOf,
  type Node,
  type NodeObject,
  narrowKeys,
  nodeOf,
  objectFrom,
  objectNode,
  viewOf,
  Wide,
} from './node.ts';
import { tableHash, withoutRow, withRow } from './table.ts';

export type { Patch } from './difference.ts';
export { settled } from './draft.ts';

/** One side of a world: an immutable JSON object. Versions share everything that they have in common. */
export type Database = { readonly root: Node };

/** A difference at a path; `undefined` means that there is no value. */
export type Change = { readonly path: Path; readonly before: Json | undefined; readonly after: Json | undefined };

/** A database under change by one tool call. */
export type DatabaseDraft = {
  /** Behaves like plain, mutable JSON. */
  readonly view: JsonObject;
  /** The database after all writes, and their results. Throws a TypeError naming the path of what is not JSON. */
  readonly finish: () => { readonly db: Database; readonly patches: readonly Patch[] };
  /** Gives the changes up; the view can no longer be written. */
  readonly discard: () => void;
};

/** A database with the content of a JSON object, which is copied. */
export function openDatabase(json: JsonObject): Database {
  if (!isContainer(json) || Array.isArray(json)) throw new TypeError('a database is a JSON object');
  return { root: nodeOf(json) };
}

/** The whole as frozen plain JSON. Builds wide objects again: to look something up, use `readView` or `getAt`. */
export function toJson(db: Database): JsonObject {
  return jsonOf(db.root) as JsonObject;
}

/**
 * The database as a read tool sees it: frozen, so that a write throws a TypeError. Costs nothing;
 * `tracedView` also names the path.
 */
export function readView({ root }: Database): JsonObject {
  const known = views.get(root as object);
  if (known) return known;
  const view = viewOf(root) as JsonObject;
  views.set(root as object, view);
  return view;
}

const views = new WeakMap<object, JsonObject>();

/** Like `readView`, and a write throws a TypeError that names the path. Slower: only to explain a failed call. */
export function tracedView(db: Database): JsonObject {
  return traced(viewOf(db.root) as JsonObject, []) as JsonObject;
}

function traced(value: unknown, path: Path): unknown {
  if (!isContainer(value)) return value;
  const refuse = (_: object, key: string | symbol): never => {
    const at = [...path, Array.isArray(value) && /^\d+$/.test(String(key)) ? Number(key) : String(key)];
    throw new TypeError(`a read tool may not write: it tried to change ${showPath(at)}. Declare its effect as write`);
  };
  const target = Array.isArray(value) ? [...value] : { ...value };
  return new Proxy(target, {
    get: (from, key) => {
      const found = Reflect.get(from, key);
      return typeof key === 'string' && Object.hasOwn(from, key)
        ? traced(found, [...path, Array.isArray(value) ? Number(key) : key])
        : found;
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
  });
}

/** Opens a draft, which is written like a plain object; `finish` gives the new database and what was changed. */
export function draft(db: Database): DatabaseDraft {
  const session = new DraftSession(db.root);
  const finish = () => {
    const root = session.finish();
    const patches = patchesBetween(db.root, root);
    const after = patches.length === 0 ? db : { root };
    Object.defineProperty(patches, applied, { value: { before: db, after } });
    return { db: after, patches };
  };
  return { view: session.view, finish, discard: () => session.discard() };
}

/** The result of a draft's patches is on the list itself, so that folding them gives the same database again. */
const applied = Symbol('applied');
type Applied = { readonly [applied]?: { readonly before: Database; readonly after: Database } };

/** The database after the patches, in order. Throws when one does not fit: it belongs to another database. */
export function applyPatches(db: Database, patches: readonly Patch[]): Database {
  const known = (patches as Applied)[applied];
  if (known?.before === db) return known.after;
  return patches.length === 0 ? db : { root: patchedAll(db.root, patches, 0) };
}

/** Applies patches in order. Those next to each other that lead into one child copy the way to it once. */
function patchedAll(node: Node, patches: readonly Patch[], depth: number): Node {
  let result = node;
  for (let at = 0; at < patches.length; ) {
    const first = patches[at] as Patch;
    const key = first.path[depth];
    const leadsIn = (patch: Patch | undefined) => patch && patch.path.length > depth + 1 && patch.path[depth] === key;
    let end = at + 1;
    if (leadsIn(first)) while (leadsIn(patches[end])) end++;
    if (key === undefined || end === at + 1) result = patched(result, first, depth);
    else {
      const child = childOf(result, key);
      if (child === undefined) throw misfit(first);
      result = withChild(result, key, patchedAll(child, patches.slice(at, end), depth + 1));
    }
    at = end;
  }
  return result;
}

function patched(node: Node, patch: Patch, depth: number): Node {
  const key = patch.path[depth];
  if (key === undefined || !isContainer(node)) throw misfit(patch);
  if (depth < patch.path.length - 1) {
    const child = childOf(node, key);
    if (child === undefined) throw misfit(patch);
    return withChild(node, key, patched(child, patch, depth + 1));
  }
  const isThere = childOf(node, key) !== undefined;
  if (Array.isArray(node)) return patchedArray(node, patch, Number(key), isThere);
  if (isThere !== (patch.op !== 'add')) throw misfit(patch);
  return patch.op === 'remove'
    ? withoutChild(node, String(key))
    : withChild(node, key, nodeOf(patch.value, patch.path));
}

function patchedArray(node: readonly Node[], patch: Patch, index: number, isThere: boolean): Node {
  if (!isThere && !(patch.op === 'add' && index === node.length)) throw misfit(patch);
  if (patch.op === 'replace') return withChild(node, index, nodeOf(patch.value, patch.path));
  const items = node.slice();
  if (patch.op === 'add') items.splice(index, 0, nodeOf(patch.value, patch.path));
  else items.splice(index, 1);
  return arrayFrom(items);
}

function withChild(node: Node, key: string | number, child: Node): Node {
  if (node instanceof Wide) return new Wide(withRow(node.table, String(key), child));
  if (Array.isArray(node)) return arrayFrom(node.with(Number(key), child));
  const copy: Record<string, Node> = { ...(node as NodeObject) };
  put(copy, String(key), child);
  return objectFrom(copy);
}

function withoutChild(node: Node, key: string): Node {
  if (node instanceof Wide && countOf(node) > narrowKeys + 1) return new Wide(withoutRow(node.table, key));
  const kept = keysOf(node).filter((each) => each !== key);
  return objectNode(kept.map((each) => [each, childOf(node, each) as Node]));
}

function misfit({ op, path }: Patch): Error {
  return new Error(`a recorded write does not fit this database: ${op} at ${showPath(path)}`);
}

/** True when both have the same content. Never looks into what both share, nor into what was hashed before. */
export function sameDatabase(a: Database, b: Database): boolean {
  const [one, other] = [hashes.get(a.root as object), hashes.get(b.root as object)];
  return one !== undefined && other !== undefined ? one === other : equalNodes(a.root, b.root);
}

/** The patches that turn `a` into `b`, in an order in which they apply. */
export function patchesOf(a: Database, b: Database): readonly Patch[] {
  return patchesBetween(a.root, b.root);
}

/** Returns what turns `a` into `b`, smallest values first found; compared by reference where both share. */
export function diffDatabases(a: Database, b: Database): readonly Change[] {
  return patchesBetween(a.root, b.root).map(({ path, old, value }) => ({ path, before: old, after: value }));
}

/** The value at a path, or `undefined` for an unknown path. */
export function getAt(db: Database, path: Path): Json | undefined {
  const node = nodeAt(db, path);
  return node === undefined ? undefined : jsonOf(node);
}

/** A page of the keys (of an object) or indices (of a list) at a path, in order, and how many there are. */
export function keysAt(
  db: Database,
  path: Path,
  { offset = 0, limit = Number.POSITIVE_INFINITY }: { readonly offset?: number; readonly limit?: number } = {},
): { readonly keys: readonly (string | number)[]; readonly total: number } {
  const node = nodeAt(db, path) ?? null;
  const keys = keysOf(node).slice(offset, offset + limit);
  return { keys: Array.isArray(node) ? keys.map(Number) : keys, total: countOf(node) };
}

function nodeAt(db: Database, path: Path): Node | undefined {
  return path.reduce<Node | undefined>(childOf, db.root);
}

/** Containers whose text is longer than this are in their parent's text by their hash. */
const inlineLength = 1024;
/** Shorter texts are made again rather than remembered. */
const rememberedLength = 96;

const texts = new WeakMap<object, string>();
const hashes = new WeakMap<object, string>();

/**
 * Merkle hash of a database, 64 hex digits, equal exactly when the content is equal; the order of keys does not
 * matter. Remembered with the parts, so that after a write only the row and the way to it are hashed again.
 */
export function hashOf(db: Database): string {
  const root = db.root as object;
  const known = hashes.get(root);
  if (known !== undefined) return known;
  const hash = textHash(hashedText(db.root));
  hashes.set(root, hash);
  return hash;
}

/** Whether a value is a part of a database that was hashed: it is frozen through and through, and never changes. */
export function isHashed(value: object): boolean {
  return texts.has(value);
}

/** Canonical text of a node, in which every long part is replaced by its own hash. */
function hashedText(node: Node): string {
  if (!isContainer(node)) return scalarText(node);
  if (node instanceof Wide) return `#${tableHash(node.table.root, hashedText)}`;
  const known = texts.get(node);
  if (known !== undefined) return known;
  const whole = Array.isArray(node) ? `[${node.map(hashedText).join(',')}]` : objectText(node as NodeObject);
  const text = whole.length > inlineLength ? `#${textHash(whole)}` : whole;
  if (text.length > rememberedLength || text.startsWith('#')) texts.set(node, text);
  return text;
}

function objectText(object: NodeObject): string {
  const entries = Object.keys(object).sort();
  for (let at = 0; at < entries.length; at++) {
    const key = entries[at] as string;
    entries[at] = `${quoted(key)}:${hashedText(object[key] as Node)}`;
  }
  return `{${entries.join(',')}}`;
}

const quoted = memo((key) => JSON.stringify(key));
