import type { Json, Path } from '../../../engine/core/values/json.ts';
import { type Database, diffDatabases, getAt } from '../../../engine/core/world/database.ts';

/** The changes a step made to one side of the world. They mark the values and everything that contains them. */
export type Marks = {
  /** Whether there is a step before to compare with. */
  readonly isMarked: boolean;
  /** The value at a path before the step. */
  readonly before: (path: Path) => Json | undefined;
  /** Returns the number of changed values at a path or below it. */
  readonly countAt: (path: Path) => number;
  /** The keys right below a path under which something is not what it was. */
  readonly changedIn: (path: Path) => readonly string[];
  /** The keys right below a path that are no longer there. */
  readonly goneFrom: (path: Path) => readonly string[];
};

/** Nothing to compare with. */
export const unmarked: Marks = {
  isMarked: false,
  before: () => undefined,
  countAt: () => 0,
  changedIn: () => [],
  goneFrom: () => [],
};

type Changes = { readonly counts: ReadonlyMap<string, number>; readonly below: ReadonlyMap<string, Set<string>> };

/** The changes between two versions of a side; they are looked for when the first row is shown. */
export function marksOf(before: Database | undefined, now: Database): Marks {
  if (!before) return unmarked;
  let known: Changes | undefined;
  const changes = () => {
    known ??= changesBetween(before, now);
    return known;
  };
  const changedIn = (path: Path) => [...(changes().below.get(keyOf(path)) ?? [])];
  return {
    isMarked: true,
    before: (path) => getAt(before, path),
    countAt: (path) => changes().counts.get(keyOf(path)) ?? 0,
    changedIn,
    goneFrom: (path) => changedIn(path).filter((key) => getAt(now, [...path, key]) === undefined),
  };
}

function changesBetween(before: Database, now: Database): Changes {
  const counts = new Map<string, number>();
  const below = new Map<string, Set<string>>();
  for (const { path } of diffDatabases(before, now))
    for (let length = 0; length <= path.length; length += 1) {
      const at = keyOf(path.slice(0, length));
      counts.set(at, (counts.get(at) ?? 0) + 1);
      if (length === path.length) continue;
      const keys = below.get(at) ?? new Set();
      below.set(at, keys.add(String(path[length])));
    }
  return { counts, below };
}

const keyOf = (path: Path) => JSON.stringify(path.map(String));
