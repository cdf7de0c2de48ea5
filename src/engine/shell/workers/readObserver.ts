import { types } from 'node:util';
import type { Side } from '../../core/domain/tool.ts';
import { mergedReads, type Reads, type ReadTree } from '../../core/events/reads.ts';
import type { JsonObject, Path } from '../../core/values/json.ts';
import { draftKey } from '../../core/world/draft.ts';
import { refuseWrite } from '../../core/world/node.ts';

/** Keys of one call that are looked at one by one, so that a scan stays fast; what is got after that counts as read whole. */
const mostKeys = 4000;
/** Rows of a table that are named one by one; of more, what was read of each is reported. */
const mostNamed = 2000;
const fewNamed = 20;
/** Objects with more keys than this are looked into as they are asked for, and not copied. */
const widest = 64;

/** The reads at one path. For a key, `true` means that its whole value was read. */
type Seen = { isWhole: boolean; of: object | null; view: object | null; keys: Map<string, Seen | true> | null };

/**
 * Notes what one call gets out of the databases. What the call sees is, except for that, what it would see otherwise:
 * its result must be the same whether anybody looks or not. So what was plain and frozen is a frozen copy with getters,
 * which `structuredClone` and `Array.isArray` take like the original, and only what was a proxy is behind one.
 */
export class ReadObserver {
  readonly #sides: Record<Side, Seen> = { agent: unseen(), user: unseen() };
  #left = mostKeys;

  /** The same view of a side; what is got of it is noted. */
  observed(side: Side, view: JsonObject): JsonObject {
    return this.#view(view, this.#sides[side]) as JsonObject;
  }

  /** Notes that what is at a path was read, with all below it. */
  whole(side: Side, path: Path): void {
    const row = path.slice(0, -1).reduce((seen, key) => childOf(seen, String(key)), this.#sides[side]);
    keysOf(row).set(String(path.at(-1)), true);
  }

  get reads(): Reads {
    const sides = (['agent', 'user'] as const).filter((side) => isTouched(this.#sides[side]));
    return Object.fromEntries(sides.map((side) => [side, treeOf(this.#sides[side])]));
  }

  #view(value: object, seen: Seen): object {
    if (seen.of === value && seen.view) return seen.view;
    const view = this.#made(value, seen);
    [seen.of, seen.view] = [value, view];
    return view;
  }

  #made(value: object, seen: Seen): object {
    if (types.isProxy(value)) return this.#proxied(value, seen);
    if (isWide(value)) return this.#wide(value, seen);
    if (this.#left <= 0 || (Array.isArray(value) && value.length > this.#left)) {
      seen.isWhole = true;
      return value;
    }
    const keys = Object.keys(value);
    this.#left -= keys.length + 1;
    const copy = Array.isArray(value) ? [] : {};
    for (const key of keys)
      Object.defineProperty(copy, key, { enumerable: true, get: () => this.#got(value, key, seen) });
    return Object.isFrozen(value) ? Object.freeze(copy) : copy;
  }

  #got(value: object, key: string, seen: Seen): unknown {
    const found: unknown = Reflect.get(value, key);
    if (typeof found === 'object' && found !== null && this.#left > 0) return this.#view(found, childOf(seen, key));
    const known = seen.keys?.get(key);
    if (known === undefined) keysOf(seen).set(key, true);
    else if (known !== true) known.isWhole = true;
    return found;
  }

  /** Before a draft, or the view of a wide object: they are written and read through it. */
  #proxied(value: object, seen: Seen): object {
    return new Proxy(value, {
      get: (_, key) => {
        // A draft is asked for where it is returned, or put to another place: that takes all of it.
        if (key === draftKey) seen.isWhole = true;
        if (typeof key === 'symbol' || !Object.hasOwn(value, key) || (Array.isArray(value) && key === 'length'))
          return Reflect.get(value, key);
        return this.#got(value, key, seen);
      },
    });
  }

  /** A table that is still as it was loaded: anyone who asks for one row must not pay for all of them. */
  #wide(value: object, seen: Seen): object {
    const refuse = (_: object, key: string | symbol): never => refuseWrite(key);
    const isOwn = (key: string | symbol): key is string => typeof key === 'string' && Object.hasOwn(value, key);
    return new Proxy(
      {},
      {
        get: (_, key) => (isOwn(key) ? this.#got(value, key, seen) : Reflect.get(value, key)),
        has: (_, key) => Reflect.has(value, key),
        ownKeys: () => Object.keys(value),
        getOwnPropertyDescriptor: (_, key) =>
          isOwn(key)
            ? { value: this.#got(value, key, seen), enumerable: true, configurable: true, writable: false }
            : undefined,
        set: refuse,
        defineProperty: refuse,
        deleteProperty: refuse,
        preventExtensions: () => false,
      },
    );
  }
}

/** Counting the keys of a large table takes its time, and the tables of a domain are asked for in every call. */
function isWide(value: object): boolean {
  if (Array.isArray(value)) return false;
  const known = widths.get(value);
  if (known !== undefined) return known;
  const is = Object.keys(value).length > widest;
  if (is) widths.set(value, is);
  return is;
}

const widths = new WeakMap<object, boolean>();

function unseen(): Seen {
  return { isWhole: false, of: null, view: null, keys: null };
}

function childOf(seen: Seen, key: string): Seen {
  const known = seen.keys?.get(key);
  if (known !== undefined && known !== true) return known;
  const child = unseen();
  child.isWhole = known === true;
  keysOf(seen).set(key, child);
  return child;
}

function keysOf(seen: Seen): Map<string, Seen | true> {
  seen.keys ??= new Map();
  return seen.keys;
}

function isTouched({ isWhole, keys }: Seen): boolean {
  return isWhole || keys !== null;
}

function treeOf(seen: Seen): ReadTree {
  if (seen.isWhole) return true;
  const { keys, of } = seen;
  if (keys === null) return {};
  const trees = [...keys].map(([key, child]) => [key, child === true ? child : treeOf(child)] as const);
  const isAll = keys.size > fewNamed && of !== null && keys.size >= Object.keys(of).length;
  if (isAll || keys.size > mostNamed) return [mergedReads(trees.map(([, tree]) => tree))];
  return Object.fromEntries(trees);
}
