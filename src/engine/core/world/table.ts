import { textHash } from '../values/hash.ts';

/**
 * A wide object stored as a trie of buckets: a write copies one bucket and the few branches above it, not the
 * table. The trie's shape follows from the keys alone, so equal tables have equal tries, whatever their history.
 */
export type Table<V> = { readonly root: Trie<V>; readonly order: Order };

export type Leaf<V> = {
  readonly type: 'leaf';
  readonly keys: readonly string[];
  readonly values: readonly V[];
  /** Texts of the values for the hash, as far as they are known. */
  readonly texts: (string | undefined)[];
  hash?: string;
};
export type Branch<V> = {
  readonly type: 'branch';
  readonly size: number;
  readonly children: readonly (Trie<V> | null)[];
  hash?: string;
};
export type Trie<V> = Leaf<V> | Branch<V>;

/** Keys in their order. Versions share one growing list, of which each sees its first `size` keys. */
export type Order = { readonly list: string[]; readonly size: number };

const leafSize = 8;
const branchBits = 4;
const branchMask = (1 << branchBits) - 1;
/** Below this depth the key's hash is used up, and a leaf takes any number of keys. */
const maxShift = 28;

/** A table of these rows; their order stays as it is, but numbers come first, as in JavaScript. */
export function tableOf<V>(entries: readonly (readonly [string, V])[]): Table<V> {
  const list = arranged(entries.map(([key]) => key));
  return { root: build(entries, 0), order: { list, size: list.length } };
}

export function tableKeys(table: Table<unknown>): readonly string[] {
  const { list, size } = table.order;
  return list.length === size ? list : list.slice(0, size);
}

/** The row at a key; undefined for an unknown key. */
export function find<V>(table: Table<V>, key: string): V | undefined {
  let rest = spread(key);
  let node: Trie<V> | null = table.root;
  while (node?.type === 'branch') {
    node = node.children[rest & branchMask] ?? null;
    rest >>>= branchBits;
  }
  return node?.values[node.keys.indexOf(key)];
}

/** The table with a row replaced, or added after the others (before them where JavaScript orders by number). */
export function withRow<V>(table: Table<V>, key: string, value: V): Table<V> {
  const root = insert(table.root, key, value, 0);
  return { root, order: sizeOf(root) > sizeOf(table.root) ? withKey(table.order, key) : table.order };
}

/** The table without a row; the same table for an unknown key. */
export function withoutRow<V>(table: Table<V>, key: string): Table<V> {
  const root = remove(table.root, key, 0) ?? build<V>([], 0);
  if (sizeOf(root) === sizeOf(table.root)) return table;
  const list = tableKeys(table).filter((each) => each !== key);
  return { root, order: { list, size: list.length } };
}

/** The number of rows. */
export function sizeOf(trie: Trie<unknown>): number {
  return trie.type === 'leaf' ? trie.keys.length : trie.size;
}

/** Keys that differ between two tables by reference, in no order; shared buckets are not looked into. */
export function differingKeys<V>(before: Trie<V>, after: Trie<V>): readonly string[] {
  const keys: string[] = [];
  collectDiffering(before, after, keys);
  return keys;
}

function collectDiffering<V>(before: Trie<V> | null, after: Trie<V> | null, keys: string[]): void {
  if (before === after) return;
  if (before?.type === 'branch' && after?.type === 'branch') {
    for (let slot = 0; slot <= branchMask; slot++) {
      const [old, now] = [before.children[slot] ?? null, after.children[slot] ?? null];
      if (old !== now) collectDiffering(old, now, keys);
    }
    return;
  }
  if (before?.type === 'leaf' && after?.type === 'leaf' && before.keys === after.keys) {
    for (const [index, key] of before.keys.entries()) if (before.values[index] !== after.values[index]) keys.push(key);
    return;
  }
  const [old, now] = [rowsOf(before), rowsOf(after)];
  for (const [key, value] of old) if (!now.has(key) || now.get(key) !== value) keys.push(key);
  for (const key of now.keys()) if (!old.has(key)) keys.push(key);
}

/** Merkle hash of a table; `text` is the value's own text for it. Remembered in the trie's nodes. */
export function tableHash<V>(trie: Trie<V>, text: (value: V) => string): string {
  if (trie.hash !== undefined) return trie.hash;
  trie.hash =
    trie.type === 'leaf'
      ? textHash(`leaf\n${leafLines(trie, text).join('\n')}`)
      : textHash(`branch\n${trie.children.map((child) => (child === null ? '' : tableHash(child, text))).join('\n')}`);
  return trie.hash;
}

function leafLines<V>(leaf: Leaf<V>, text: (value: V) => string): readonly string[] {
  const lines = leaf.keys.map((key, index) => {
    const known = leaf.texts[index] ?? text(leaf.values[index] as V);
    leaf.texts[index] = known;
    return `${JSON.stringify(key)}:${known}`;
  });
  return lines.sort();
}

function build<V>(entries: readonly (readonly [string, V])[], shift: number): Trie<V> {
  if (entries.length <= leafSize || shift > maxShift) return leafOf(entries);
  const parts = Array.from({ length: branchMask + 1 }, (): (readonly [string, V])[] => []);
  for (const entry of entries) parts[(spread(entry[0]) >>> shift) & branchMask]?.push(entry);
  const children = parts.map((part) => (part.length > 0 ? build(part, shift + branchBits) : null));
  return { type: 'branch', size: entries.length, children };
}

function leafOf<V>(entries: readonly (readonly [string, V])[]): Leaf<V> {
  return { type: 'leaf', keys: entries.map(([key]) => key), values: entries.map(([, value]) => value), texts: [] };
}

function insert<V>(trie: Trie<V> | null, key: string, value: V, shift: number): Trie<V> {
  if (trie === null) return leafOf([[key, value]]);
  if (trie.type === 'branch') {
    const slot = (spread(key) >>> shift) & branchMask;
    const children = trie.children.slice();
    const before = children[slot] ?? null;
    const after = insert(before, key, value, shift + branchBits);
    children[slot] = after;
    return { type: 'branch', size: trie.size + sizeOf(after) - (before === null ? 0 : sizeOf(before)), children };
  }
  const index = trie.keys.indexOf(key);
  if (index < 0) return build([...rowsOf(trie), [key, value]], shift);
  const [values, texts] = [trie.values.slice(), trie.texts.slice()];
  values[index] = value;
  texts[index] = undefined;
  return { type: 'leaf', keys: trie.keys, values, texts };
}

function remove<V>(trie: Trie<V>, key: string, shift: number): Trie<V> | null {
  if (trie.type === 'leaf') {
    if (!trie.keys.includes(key)) return trie;
    const rows = [...rowsOf(trie)].filter(([each]) => each !== key);
    return rows.length > 0 ? leafOf(rows) : null;
  }
  const slot = (spread(key) >>> shift) & branchMask;
  const before = trie.children[slot] ?? null;
  const after = before === null ? null : remove(before, key, shift + branchBits);
  if (after === before) return trie;
  const children = trie.children.slice();
  children[slot] = after;
  const smaller: Branch<V> = { type: 'branch', size: trie.size - 1, children };
  return smaller.size <= leafSize ? build([...rowsOf(smaller)], shift) : smaller;
}

function rowsOf<V>(trie: Trie<V> | null): ReadonlyMap<string, V> {
  const rows = new Map<string, V>();
  const visit = (node: Trie<V> | null): void => {
    if (node?.type === 'branch') for (const child of node.children) visit(child);
    else if (node) for (const [index, key] of node.keys.entries()) rows.set(key, node.values[index] as V);
  };
  visit(trie);
  return rows;
}

function withKey(order: Order, key: string): Order {
  const { list, size } = order;
  if (isIndex(key)) {
    const keys = arranged([...list.slice(0, size), key]);
    return { list: keys, size: keys.length };
  }
  const own = list.length === size ? list : list.slice(0, size);
  own.push(key);
  return { list: own, size: size + 1 };
}

/** Keys in the order of a plain object: those that look like array indices first, by number. */
export function arranged(keys: readonly string[]): string[] {
  const indices = keys.filter(isIndex);
  if (indices.length === 0) return [...keys];
  return [...indices.sort((a, b) => Number(a) - Number(b)), ...keys.filter((key) => !isIndex(key))];
}

function isIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 48 && first <= 57 && String(Number(key) >>> 0) === key && Number(key) < 2 ** 32 - 1;
}

/** 32 well-mixed bits of a key (FNV-1a with a finishing mix). They place a row; they don't protect anything. */
function spread(key: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) bits = Math.imul(bits ^ key.charCodeAt(i), 0x01000193);
  bits ^= bits >>> 15;
  bits = Math.imul(bits, 0x2c1b3c6d);
  return (bits ^ (bits >>> 12)) >>> 0;
}
