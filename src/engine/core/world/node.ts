import { type Json, type JsonObject, type JsonScalar, type Path, put, showPath } from '../values/json.ts';
import { find, sizeOf, type Table, tableKeys, tableOf } from './table.ts';

/**
 * The stored form of a database: frozen plain JSON, in which every object with more than `narrowKeys` keys is a `Wide`.
 * So equal content always has the same form. Only the database files of this folder use nodes.
 */
export type Node = JsonScalar | readonly Node[] | NodeObject | Wide;
export type NodeObject = { readonly [key: string]: Node };

export const narrowKeys = 64;

export const inspect = Symbol.for('nodejs.util.inspect.custom');

/** A wide object; code of a domain only ever sees its views. */
export class Wide {
  readonly table: Table<Node>;
  /** The same as a plain object, where it was one before. */
  readonly plain: JsonObject | undefined;
  #view: JsonObject | undefined;

  constructor(table: Table<Node>, plain?: JsonObject) {
    this.table = table;
    this.plain = plain;
  }

  get view(): JsonObject {
    this.#view ??= this.plain ?? readOnlyView(this);
    return this.#view;
  }
}

/** Plain containers with a `Wide` somewhere inside: their JSON and their view are not themselves. */
const holders = new WeakSet<object>();

/** Whether a value has keys: an object or a list, not null. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** An object of frozen entries, wide where it has many. */
export function objectNode(entries: readonly (readonly [string, Node])[]): Node {
  if (entries.length > narrowKeys) return new Wide(tableOf(entries));
  const object: Record<string, Node> = {};
  for (const [key, value] of entries) put(object, key, value);
  return sealed(
    object,
    entries.some(([, value]) => holdsWide(value)),
  );
}

/** Takes the object over and freezes it. */
export function objectFrom(object: Record<string, Node>): Node {
  const values = Object.values(object);
  return values.length > narrowKeys ? objectNode(Object.entries(object)) : sealed(object, values.some(holdsWide));
}

/** Takes the list over and freezes it. */
export function arrayFrom(items: Node[]): Node {
  return sealed(items, items.some(holdsWide));
}

function sealed<T extends object>(container: T, isHolder: boolean): T {
  if (isHolder) holders.add(container);
  return Object.freeze(container);
}

function holdsWide(node: Node): boolean {
  return node instanceof Wide || (isContainer(node) && holders.has(node));
}

/** A node with the content of any JSON value, copied. Throws a TypeError that names the path of what is not JSON. */
export function nodeOf(value: unknown, path: Path = [], open: Set<object> = new Set()): Node {
  if (!isContainer(value)) return scalarOf(value, path);
  enter(value, path, open);
  const node = Array.isArray(value)
    ? arrayFrom(Array.from(value, (item, index) => nodeOf(item, [...path, index], open)))
    : objectOf(value, path, open);
  open.delete(value);
  return node;
}

function objectOf(value: object, path: Path, open: Set<object>): Node {
  const entries = plainEntries(value, path).map(([key, item]) => [key, nodeOf(item, [...path, key], open)] as const);
  if (entries.length <= narrowKeys) return objectNode(entries);
  const plain: Record<string, Json> = {};
  for (const [key, node] of entries) put(plain, key, jsonOf(node));
  return new Wide(tableOf(entries), Object.freeze(plain));
}

/** Own entries of a plain object; a class instance, or a key that is not a string, is not JSON. */
export function plainEntries(value: object, path: Path): readonly (readonly [string, unknown])[] {
  checkPlain(value, path);
  return Object.entries(value);
}

/** Throws a `TypeError` that names the path of an object which JSON can't hold. */
export function checkPlain(value: object, path: Path): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notJson(path, `a ${nameOf(value)}`);
  if (Object.getOwnPropertySymbols(value).length > 0) throw notJson(path, 'an object with a symbol as key');
}

function nameOf(value: object): string {
  const maker = (value as { readonly constructor?: { readonly name?: unknown } }).constructor;
  return typeof maker?.name === 'string' && maker.name !== '' ? maker.name : 'class instance';
}

/** Remembers that a container is being walked. Throws when it already is: it contains itself. */
export function enter(value: object, path: Path, open: Set<object>): void {
  if (open.has(value)) throw notJson(path, 'an object that contains itself');
  open.add(value);
}

/** The value as JSON holds it. Throws a `TypeError` that names the path of one that it can't hold. */
export function scalarOf(value: unknown, path: Path): JsonScalar {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value !== 'number') throw notJson(path, value === undefined ? 'undefined' : `a ${typeof value}`);
  if (!Number.isFinite(value)) throw notJson(path, String(value));
  return value === 0 ? 0 : value;
}

function notJson(path: Path, what: string): TypeError {
  const advice =
    what === 'undefined'
      ? '; use null, or delete the key'
      : '; write strings, finite numbers, booleans, null, lists and plain objects';
  return new TypeError(`${showPath(path)} was given ${what}, which JSON can't hold${advice}`);
}

/** The node as frozen plain JSON. */
export function jsonOf(node: Node): Json {
  if (node instanceof Wide)
    return node.plain ?? filled(tableKeys(node.table), (key) => jsonOf(find(node.table, key) as Node));
  return mapped(node, jsonOf);
}

/** The node as read tools see it: frozen plain JSON with a read-only view for each wide object. */
export function viewOf(node: Node): Json {
  return node instanceof Wide ? node.view : mapped(node, viewOf);
}

function mapped(node: Exclude<Node, Wide>, map: (node: Node) => Json): Json {
  if (!isContainer(node) || !holders.has(node)) return node as Json;
  if (Array.isArray(node)) return Object.freeze(node.map(map));
  const object = node as NodeObject;
  return filled(Object.keys(object), (key) => map(object[key] as Node));
}

function filled(keys: readonly string[], value: (key: string) => Json): JsonObject {
  const object: Record<string, Json> = {};
  for (const key of keys) put(object, key, value(key));
  return Object.freeze(object);
}

/** Keys in their order; those of a list are its indices, and a scalar has none. */
export function keysOf(node: Node): readonly string[] {
  if (node instanceof Wide) return tableKeys(node.table);
  return isContainer(node) ? Object.keys(node) : [];
}

export function countOf(node: Node): number {
  return node instanceof Wide ? sizeOf(node.table.root) : keysOf(node).length;
}

/** Returns what is at a key; undefined where nothing does. */
export function childOf(node: Node | undefined, key: string | number): Node | undefined {
  if (node instanceof Wide) return find(node.table, String(key));
  if (!isContainer(node)) return undefined;
  if (Array.isArray(node)) return node[Number(key)];
  return Object.hasOwn(node, key) ? (node as NodeObject)[key] : undefined;
}

function readOnlyView(wide: Wide): JsonObject {
  return new Proxy({ [inspect]: () => jsonOf(wide) }, new WideView(wide)) as JsonObject;
}

/** A wide object as read tools see it. */
class WideView implements ProxyHandler<object> {
  readonly #wide: Wide;

  constructor(wide: Wide) {
    this.#wide = wide;
  }

  get(_: object, key: string | symbol): unknown {
    const found = this.#row(key);
    return found === undefined ? Reflect.get(Object.prototype, key) : viewOf(found);
  }

  has(_: object, key: string | symbol): boolean {
    return this.#row(key) !== undefined || key in Object.prototype;
  }

  ownKeys(): string[] {
    return [...tableKeys(this.#wide.table)];
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    const found = this.#row(key);
    if (found === undefined) return undefined;
    return { value: viewOf(found), enumerable: true, configurable: true, writable: false };
  }

  set(_: object, key: string | symbol): never {
    return refuseWrite(key);
  }

  defineProperty(_: object, key: string | symbol): never {
    return refuseWrite(key);
  }

  deleteProperty(_: object, key: string | symbol): never {
    return refuseWrite(key);
  }

  preventExtensions(): boolean {
    return false;
  }

  #row(key: string | symbol): Node | undefined {
    return typeof key === 'string' ? find(this.#wide.table, key) : undefined;
  }
}

export function refuseWrite(key: string | symbol): never {
  throw new TypeError(`a read tool may not write: it tried to change ${JSON.stringify(String(key))}`);
}
