import type { Json, Path } from '../values/json.ts';
import { childOf, countOf, isContainer, jsonOf, keysOf, type Node, type NodeObject, Wide } from './node.ts';
import { differingKeys } from './table.ts';

/**
 * One change, after RFC 6902 with the path as a list: `add` of a new key or at an index of a list, `replace` and
 * `remove` of what is there. `old` is what was there before, for people.
 */
export type Patch = {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: Path;
  readonly value?: Json;
  readonly old?: Json;
};

/** Deep equality that never looks into what both share. */
export function equalNodes(a: Node | undefined, b: Node | undefined): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Wide && b instanceof Wide) {
    if (countOf(a) !== countOf(b)) return false;
    return differingKeys(a.table.root, b.table.root).every((key) => equalNodes(childOf(a, key), childOf(b, key)));
  }
  const keys = keysOf(a);
  return keys.length === countOf(b) && keys.every((key) => equalNodes(childOf(a, key), childOf(b, key)));
}

/** The patches that turn one node into the other, smallest values first found; empty when they are equal. */
export function patchesBetween(before: Node, after: Node): readonly Patch[] {
  const patches: Patch[] = [];
  compare(before, after, [], patches);
  return patches;
}

function compare(before: Node, after: Node, path: Path, patches: Patch[]): void {
  if (before === after) return;
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    patches.push({ op: 'replace', path, value: jsonOf(after), old: jsonOf(before) });
  } else if (Array.isArray(before) && Array.isArray(after)) {
    compareArrays(before, after, path, patches);
  } else {
    compareObjects(before as Node, after as Node, path, patches);
  }
}

/** Removals and changes in the order of the old keys, then additions in the order of the new ones. */
function compareObjects(before: Node, after: Node, path: Path, patches: Patch[]): void {
  if (!(before instanceof Wide) && !(after instanceof Wide)) {
    compareNarrow(before as NodeObject, after as NodeObject, path, patches);
    return;
  }
  const additions: Patch[] = [];
  for (const key of changedKeys(before, after)) {
    const [old, now] = [childOf(before, key), childOf(after, key)];
    const at = [...path, key];
    if (old === undefined) additions.push({ op: 'add', path: at, value: jsonOf(now as Node) });
    else if (now === undefined) patches.push({ op: 'remove', path: at, old: jsonOf(old) });
    else compare(old, now, at, patches);
  }
  patches.push(...additions);
}

function compareNarrow(before: NodeObject, after: NodeObject, path: Path, patches: Patch[]): void {
  for (const key of Object.keys(before)) {
    const [old, now] = [before[key] as Node, after[key]];
    if (old === now) continue;
    if (now === undefined || !Object.hasOwn(after, key))
      patches.push({ op: 'remove', path: [...path, key], old: jsonOf(old) });
    else compare(old, now, [...path, key], patches);
  }
  for (const key of Object.keys(after))
    if (!Object.hasOwn(before, key))
      patches.push({ op: 'add', path: [...path, key], value: jsonOf(after[key] as Node) });
}

function changedKeys(before: Node, after: Node): readonly string[] {
  if (!(before instanceof Wide && after instanceof Wide)) {
    return [...keysOf(before), ...keysOf(after).filter((key) => childOf(before, key) === undefined)];
  }
  const differing = differingKeys(before.table.root, after.table.root);
  const added = new Set(differing.filter((key) => childOf(before, key) === undefined));
  if (added.size < 2) return differing;
  return [...differing.filter((key) => !added.has(key)), ...keysOf(after).filter((key) => added.has(key))];
}

/** A common head and tail stay; what lies between is changed in place, then cut or filled up. */
function compareArrays(before: readonly Node[], after: readonly Node[], path: Path, patches: Patch[]): void {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && equalNodes(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && equalNodes(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const shared = shorter - tail;
  for (let index = head; index < shared; index++)
    compare(before[index] as Node, after[index] as Node, [...path, index], patches);
  for (let index = before.length - tail - 1; index >= shared; index--) {
    patches.push({ op: 'remove', path: [...path, index], old: jsonOf(before[index] as Node) });
  }
  for (let index = shared; index < after.length - tail; index++) {
    patches.push({ op: 'add', path: [...path, index], value: jsonOf(after[index] as Node) });
  }
}
