import type { Side } from '../domain/tool.ts';
import type { Path } from '../values/json.ts';

/**
 * The reads of a call below a path: by key; `[tree]` where it went through every key and read the same of each; `true`
 * for a value that it got whole.
 */
export type ReadTree = true | readonly [ReadTree] | { readonly [key: string]: ReadTree };

/** The reads of a call, by side of the database. */
export type Reads = { readonly [side in Side]?: ReadTree };

/**
 * Reports whether a call read the value at a path. Getting a row to reach one of its values does not read the other
 * values.
 */
export function isRead(reads: Reads, side: Side, path: Path): boolean {
  let tree = reads[side];
  for (const key of path) {
    if (tree === undefined || tree === true) break;
    if (isEvery(tree)) [tree] = tree;
    else tree = Object.hasOwn(tree, key) ? tree[key] : undefined;
  }
  return tree !== undefined;
}

function isEvery(tree: Exclude<ReadTree, true>): tree is readonly [ReadTree] {
  return Array.isArray(tree);
}

/** Returns what either of several calls, or rows, had read. */
export function mergedReads(trees: readonly ReadTree[]): ReadTree {
  if (trees.some((tree) => tree === true)) return true;
  const parts = trees as readonly Exclude<ReadTree, true>[];
  const all = parts.flatMap((tree) => (isEvery(tree) ? [tree[0]] : []));
  const named = parts.filter((tree) => !isEvery(tree)) as readonly { readonly [key: string]: ReadTree }[];
  if (all.length > 0) return [mergedReads([...all, ...named.flatMap((tree) => Object.values(tree))])];
  const keys = new Set(named.flatMap((tree) => Object.keys(tree)));
  const merged = [...keys].map((key) => {
    const below = named.flatMap((tree) => (Object.hasOwn(tree, key) ? [tree[key] as ReadTree] : []));
    return [key, mergedReads(below)] as const;
  });
  return Object.fromEntries(merged);
}
