import { type JsonObject, type Path, put } from '../values/json.ts';
import { equalNodes } from './difference.ts';
import {
  arrayFrom,
  checkPlain,
  childOf,
  enter,
  inspect,
  isContainer,
  jsonOf,
  keysOf,
  type Node,
  type NodeObject,
  narrowKeys,
  objectNode,
  plainEntries,
  scalarOf,
  Wide,
} from './node.ts';
import { arranged, find, tableKeys, withoutRow, withRow } from './table.ts';

/** A draft of one node: mutable behind a proxy, and a node again at the end. */
type Draft = { readonly close: (path: Path, open: Set<object>) => Node };

/** Asks a value for its draft: proxies of drafts answer, nothing else does. */
export const draftKey = Symbol('draft');

function draftBehind(value: object): Draft | undefined {
  return (value as { readonly [draftKey]?: Draft })[draftKey];
}

/** One tool call's drafts. Closing it makes all of them read-only. */
export class DraftSession {
  #isOpen = true;
  readonly #root: Node;
  readonly view: JsonObject;

  constructor(root: Node) {
    this.#root = root;
    this.view = this.draftOf(root) as JsonObject;
  }

  /** The root after all writes; the very same node when nothing changed. Throws a TypeError on what is not JSON. */
  finish(): Node {
    this.refuseClosed();
    this.discard();
    return closed(this.view, this.#root, [], new Set());
  }

  discard(): void {
    this.#isOpen = false;
  }

  refuseClosed(): void {
    if (!this.#isOpen) throw new TypeError('the tool call is over: its database can no longer be written');
  }

  draftOf(node: Node): object {
    if (node instanceof Wide) return new WideDraft(this, node).view;
    return new PlainDraft(this, node as readonly Node[] | NodeObject).view;
  }
}

/** Throws a `TypeError` for a key that a list has not in JSON, so a write to it would be lost. */
function throwUnlessOfList(key: string | symbol): void {
  if (key === 'length' || (typeof key === 'string' && /^\d+$/.test(key))) return;
  throw new TypeError(
    `${String(key)} was written to a list, which has no such key; write a table as an object with the ids as its keys`,
  );
}

/** A copy of the node's first level is the proxy's target; deeper levels become drafts when they are looked at. */
class PlainDraft implements ProxyHandler<Record<string, unknown>> {
  readonly view: object;
  readonly #session: DraftSession;
  readonly base: readonly Node[] | NodeObject;
  readonly #copy: Record<string, unknown>;
  #node: Node | undefined;

  constructor(session: DraftSession, base: readonly Node[] | NodeObject) {
    this.#session = session;
    this.base = base;
    this.#copy = (Array.isArray(base) ? base.slice() : { ...base }) as Record<string, unknown>;
    this.view = new Proxy(this.#copy, this);
  }

  get(target: Record<string, unknown>, key: string | symbol): unknown {
    if (typeof key === 'symbol') return key === draftKey ? this : Reflect.get(target, key);
    const value = target[key];
    if (!isContainer(value) || value !== childOf(this.base, key)) return value;
    const draft = this.#session.draftOf(value as Node);
    put(target, key, draft);
    return draft;
  }

  set(target: Record<string, unknown>, key: string | symbol, value: unknown): boolean {
    this.#session.refuseClosed();
    if (Array.isArray(target)) throwUnlessOfList(key);
    if (key === '__proto__') put(target, key, value);
    else Reflect.set(target, key, value);
    return true;
  }

  deleteProperty(target: object, key: string | symbol): boolean {
    this.#session.refuseClosed();
    return Reflect.deleteProperty(target, key);
  }

  defineProperty(target: object, key: string | symbol, descriptor: PropertyDescriptor): boolean {
    this.#session.refuseClosed();
    return Reflect.defineProperty(target, key, descriptor);
  }

  close(path: Path, open: Set<object>): Node {
    if (this.#node !== undefined) return this.#node;
    enter(this, path, open);
    this.#node = Array.isArray(this.#copy)
      ? closedArray(this.#copy, this.base as readonly Node[], path, open)
      : closedObject(this.#copy, this.base as NodeObject, path, open);
    open.delete(this);
    return this.#node;
  }
}

/**
 * Returns what a tool returned, with the views of its finished drafts as plain JSON; nothing else is copied or looked
 * into.
 */
export function settled(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const draft = draftBehind(value);
  if (draft) return jsonOf(draft.close([], new Set()));
  if (Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return value.some(isContainer) ? value.map(settled) : value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value);
  return entries.some(([, item]) => isContainer(item))
    ? Object.fromEntries(entries.map(([key, item]) => [key, settled(item)]))
    : value;
}

/** The node of any value that code has put into a draft. Equal content keeps the base's reference. */
function closed(value: unknown, base: Node | undefined, path: Path, open: Set<object>): Node {
  if (base !== undefined && value === base) return base;
  if (!isContainer(value)) return scalarOf(value, path);
  const draft = draftBehind(value);
  const node = draft ? draft.close(path, open) : fresh(value, base, path, open);
  // A draft of the base gives the base itself where nothing is different.
  if (draft instanceof PlainDraft && draft.base === base) return node;
  return base !== undefined && node !== base && equalNodes(node, base) ? base : node;
}

function fresh(value: object, base: Node | undefined, path: Path, open: Set<object>): Node {
  if (value instanceof Wide) return value;
  enter(value, path, open);
  const node = Array.isArray(value)
    ? arrayFrom(Array.from(value, (item, index) => closed(item, childOf(base, index), [...path, index], open)))
    : objectNode(
        inOrder(
          plainEntries(value, path).map(([key, item]) => [key, closed(item, childOf(base, key), [...path, key], open)]),
          base,
        ),
      );
  open.delete(value);
  return node;
}

function closedArray(copy: readonly unknown[], base: readonly Node[], path: Path, open: Set<object>): Node {
  const items = Array.from(copy, (item, index) => {
    const before = base[index];
    return before !== undefined && item === before ? before : closed(item, before, [...path, index], open);
  });
  return items.length === base.length && items.every((item, index) => item === base[index]) ? base : arrayFrom(items);
}

function closedObject(copy: object, base: NodeObject, path: Path, open: Set<object>): Node {
  checkPlain(copy, path);
  const object = copy as Record<string, unknown>;
  const keys = Object.keys(object);
  const baseKeys = Object.keys(base);
  let isSame = keys.length === baseKeys.length;
  const entries = keys.map((key, index): readonly [string, Node] => {
    const before = baseKeys[index] === key ? base[key] : childOf(base, key);
    const value = object[key];
    const node = before !== undefined && value === before ? before : closed(value, before, [...path, key], open);
    isSame &&= node === before;
    return [key, node];
  });
  if (isSame) return base;
  return objectNode(baseKeys.every((key, index) => keys[index] === key) ? entries : inOrder(entries, base));
}

/** Surviving keys of the base first and in its order, then new ones: the order that applying patches gives. */
function inOrder(
  entries: readonly (readonly [string, Node])[],
  base: Node | undefined,
): readonly (readonly [string, Node])[] {
  if (!isContainer(base) || Array.isArray(base)) return entries;
  const places = new Map(keysOf(base).map((key, index) => [key, index]));
  const place = (key: string) => places.get(key) ?? places.size;
  return entries.toSorted(([a], [b]) => place(a) - place(b));
}

const absent = Symbol('absent');

/** A wide object under change: the base table, and what differs from it. */
class WideDraft implements ProxyHandler<object> {
  readonly view: object;
  readonly #session: DraftSession;
  readonly #base: Wide;
  /** Rows that were looked at or changed. */
  readonly #rows = new Map<string, unknown>();
  /** Keys after those of the base, in order; one that was deleted and set again is here too. */
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();
  #node: Node | undefined;

  constructor(session: DraftSession, base: Wide) {
    this.#session = session;
    this.#base = base;
    this.view = new Proxy({ [inspect]: () => ({ ...this.view }) }, this);
  }

  get(_: object, key: string | symbol): unknown {
    if (key === draftKey) return this;
    const row = this.#row(key);
    if (row === absent) return Reflect.get(Object.prototype, key);
    if (!isContainer(row) || this.#rows.has(key as string)) return row;
    const draft = this.#session.draftOf(row as Node);
    this.#rows.set(key as string, draft);
    return draft;
  }

  set(_: object, key: string | symbol, value: unknown): boolean {
    this.#session.refuseClosed();
    if (typeof key === 'symbol') throw new TypeError('a key of the database is a string');
    if (this.#row(key) === absent) this.#added.add(key);
    this.#rows.set(key, value);
    return true;
  }

  has(_: object, key: string | symbol): boolean {
    return this.#row(key) !== absent || key in Object.prototype;
  }

  deleteProperty(_: object, key: string | symbol): boolean {
    this.#session.refuseClosed();
    if (typeof key === 'symbol' || this.#row(key) === absent) return true;
    if (!this.#added.delete(key)) this.#removed.add(key);
    this.#rows.set(key, absent);
    return true;
  }

  ownKeys(): string[] {
    const kept = tableKeys(this.#base.table);
    return arranged([
      ...(this.#removed.size > 0 ? kept.filter((key) => !this.#removed.has(key)) : kept),
      ...this.#added,
    ]);
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    if (this.#row(key) === absent) return undefined;
    return { value: this.get(_, key), enumerable: true, configurable: true, writable: true };
  }

  defineProperty(_: object, key: string | symbol, descriptor: PropertyDescriptor): boolean {
    if (!('value' in descriptor)) throw new TypeError('the database holds values, not getters');
    return this.set(_, key, descriptor.value);
  }

  preventExtensions(): boolean {
    return false;
  }

  close(path: Path, open: Set<object>): Node {
    if (this.#node !== undefined) return this.#node;
    enter(this, path, open);
    this.#node = this.#closed(path, open);
    open.delete(this);
    return this.#node;
  }

  #row(key: string | symbol): unknown {
    if (typeof key === 'symbol') return absent;
    if (this.#rows.has(key)) return this.#rows.get(key);
    const row = find(this.#base.table, key);
    return row === undefined ? absent : row;
  }

  #closed(path: Path, open: Set<object>): Node {
    let { table } = this.#base;
    const changed = [...this.#rows].filter(([key]) => !this.#added.has(key));
    for (const key of this.#added) changed.push([key, this.#rows.get(key)]);
    for (const [key, row] of changed) {
      const before = find(this.#base.table, key);
      if (row === absent) {
        table = withoutRow(table, key);
        continue;
      }
      const after = closed(row, before, [...path, key], open);
      if (after !== before) table = withRow(table, key, after);
    }
    if (table === this.#base.table) return this.#base;
    const keys = tableKeys(table);
    return keys.length > narrowKeys ? new Wide(table) : objectNode(keys.map((key) => [key, find(table, key) as Node]));
  }
}
