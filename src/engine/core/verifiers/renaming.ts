import type { World } from '../domain/domain.ts';
import { exactly, type FieldComparison, isExact, withSortedLists } from '../domain/fieldComparison.ts';
import type { Side } from '../domain/tool.ts';
import { createdIdsIn, prefixOf, renamedJson, renamedText } from '../values/createdIds.ts';
import { textHash } from '../values/hash.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { applyPatches, type Database, type Patch, patchesOf, toJson } from '../world/database.ts';

/** Maps the ids of one world to those of another. */
export type Renaming = ReadonlyMap<string, string>;

/** A world with its ids renamed so that it is like another as far as it can be. */
export type Renamed = { readonly world: World; readonly renaming: Renaming };

const sides: readonly Side[] = ['agent', 'user'];

/** A change of a world that has ids in it. */
type Change = { readonly side: Side; readonly patch: Patch; readonly ids: readonly string[] };
type Colours = ReadonlyMap<string, string>;

/** Choices between ids that look alike, at most: a world in which more are needed is compared as it is. */
const mostChoices = 200;

/**
 * Renames the ids that tools created in one world to those that they created in another, so that equal worlds become the
 * same. An id counts as created where the start does not have it. The same worlds always give the same renaming.
 * @param isChosen whether a seat made up an id of either world: such an id stays as it is
 */
export function renamedLike(
  world: World,
  other: World,
  start: World,
  isChosen: { readonly world: (id: string) => boolean; readonly other: (id: string) => boolean },
  compare: FieldComparison = exactly,
): Renamed {
  const known = idsOf(start);
  const own = changesOf(start, world, compare);
  const theirs = changesOf(start, other, compare);
  const from = createdIn(own, (id) => known.has(id) || isChosen.world(id));
  const to = createdIn(theirs, (id) => known.has(id) || isChosen.other(id));
  // What is the same text in both stays, unless something else fits better.
  if (from.length === 0 || to.length === 0) return { world, renaming: new Map() };
  const colours = [refined(own, firstColours(from)), refined(theirs, firstColours(to))] as const;
  const exact = from.length === to.length ? matched(own, theirs, ...colours, { left: mostChoices }) : null;
  const renaming = exact ?? closest(own, theirs, ...colours);
  return { world: renamedWorld(start, own, renaming, world), renaming };
}

function changesOf(start: World, world: World, compare: FieldComparison): readonly Change[] {
  return sides.flatMap((side) =>
    patchesOf(start[side], world[side]).map((made) => {
      const patch = isExact(compare) ? made : sortedPatch(made, compare);
      return { side, patch, ids: idsInPatch(patch) };
    }),
  );
}

/** Identifies ids by the values around them. The order of unordered lists must therefore not count. */
function sortedPatch(patch: Patch, compare: FieldComparison): Patch {
  const { path, value } = patch;
  return value === undefined ? patch : { ...patch, value: withSortedLists(value, compare, path.map(String)) };
}

const idsInPatch = ({ path, value = null }: Patch) => createdIdsIn([...path.map(String), value]);

function createdIn(changes: readonly Change[], isOld: (id: string) => boolean): readonly string[] {
  return [...new Set(changes.flatMap(({ ids }) => ids))].filter((id) => !isOld(id)).toSorted();
}

const starts = new WeakMap<Database, ReadonlySet<string>>();

function idsOf(world: World): ReadonlySet<string> {
  return new Set(
    sides.flatMap((side) => {
      const known = starts.get(world[side]) ?? new Set(createdIdsIn(toJson(world[side])));
      starts.set(world[side], known);
      return [...known];
    }),
  );
}

const firstColours = (ids: readonly string[]): Colours => new Map(ids.map((id) => [id, prefixOf(id)]));

/** Distinguishes ids by the changes that contain them, and changes by their ids, until no further ids are distinguished. */
function refined(changes: readonly Change[], colours: Colours): Colours {
  let now = colours;
  for (let kinds = countOf(now); ; ) {
    const before = now;
    const uses = new Map<string, string[]>();
    for (const change of changes)
      for (const id of new Set(change.ids))
        if (before.has(id)) uses.set(id, [...(uses.get(id) ?? []), written(change, markedIn(before, id))]);
    now = shortened(
      new Map([...before].map(([id, colour]) => [id, [colour, ...(uses.get(id) ?? []).toSorted()].join('\0')])),
    );
    const next = countOf(now);
    if (next === kinds) return now;
    kinds = next;
  }
}

const countOf = (colours: Colours) => new Set(colours.values()).size;

const markedIn = (colours: Colours, own: string) => (id: string) =>
  id === own ? '<this>' : `<${colours.get(id) ?? id}>`;

/** A hash keeps colours short: each is made of all that it was distinguished by. */
function shortened(colours: Colours): Colours {
  return new Map([...colours].map(([id, colour]) => [id, textHash(colour)]));
}

/** A change as a text in which ids are renamed; the order of keys does not matter. */
function written({ side, patch: { op, path, value } }: Change, rename: (id: string) => string): string {
  const place = path.map((key) => (typeof key === 'number' ? String(key) : `"${renamedText(key, rename)}"`));
  return `${side} ${op} ${place.join('.')} ${value === undefined ? '' : sortedText(value, rename)}`;
}

function sortedText(value: Json, rename: (id: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((each) => sortedText(each, rename)).join()}]`;
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(typeof value === 'string' ? renamedText(value, rename) : value);
  }
  const entries = Object.entries(value as JsonObject).map(
    ([key, each]) => `${JSON.stringify(renamedText(key, rename))}:${sortedText(each, rename)}`,
  );
  return `{${entries.toSorted().join()}}`;
}

/** The renaming under which the changes are the same, or null. Of ids that look alike, one is tried after the other. */
function matched(
  own: readonly Change[],
  theirs: readonly Change[],
  from: Colours,
  to: Colours,
  choices: { left: number },
): Renaming | null {
  const [groups, others] = [groupsOf(from), groupsOf(to)];
  const isAlike =
    groups.size === others.size && [...groups].every(([colour, ids]) => others.get(colour)?.length === ids.length);
  if (!isAlike) return null;
  const renaming = new Map(
    [...groups].flatMap(([colour, ids]) => ids.map((id, at) => [id, others.get(colour)?.[at] ?? id] as const)),
  );
  // Ids that nothing tells apart are mostly not related to each other: then any order of them will do.
  if (isSame(own, theirs, renaming)) return renaming;
  const open = [...groups].filter(([, ids]) => ids.length > 1).toSorted(([a], [b]) => (a < b ? -1 : 1))[0];
  if (open === undefined) return null;
  const [colour, [first = '']] = open;
  for (const candidate of others.get(colour) ?? []) {
    if (choices.left-- <= 0) return null;
    const told = (colours: Colours, id: string) => new Map([...colours, [id, `${colour}!`]]);
    const found = matched(own, theirs, refined(own, told(from, first)), refined(theirs, told(to, candidate)), choices);
    if (found) return found;
  }
  return null;
}

function groupsOf(colours: Colours): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(colours.keys(), (id) => colours.get(id) ?? '');
}

function isSame(own: readonly Change[], theirs: readonly Change[], renaming: Renaming): boolean {
  const made = own.map((change) => written(change, (id) => renaming.get(id) ?? id)).toSorted();
  const wanted = theirs.map((change) => written(change, (id) => id)).toSorted();
  return made.length === wanted.length && made.every((text, at) => text === wanted[at]);
}

/**
 * Returns where the worlds differ: ids that are used alike, then those of rows with the same values, else the only ones
 * that are left in their places. Of several equal rows, the first ones are paired, so that only the others are extra.
 */
function closest(own: readonly Change[], theirs: readonly Change[], from: Colours, to: Colours): Renaming {
  const pairs = new Map<string, string>();
  const usedAs = (colours: Colours) => (id: string) => colours.get(id) ?? '';
  const passes = [
    { keys: [usedAs(from), usedAs(to)], isAlone: true },
    { keys: [rowIn(own, from), rowIn(theirs, to)], isAlone: false },
    { keys: [placeIn(own), placeIn(theirs)], isAlone: true },
  ] as const;
  for (const { keys, isAlone } of passes) {
    const free = [...from.keys()].filter((id) => !pairs.has(id));
    const taken = new Set(pairs.values());
    const left = [...to.keys()].filter((id) => !taken.has(id));
    const others = Map.groupBy(left, keys[1]);
    for (const [key, ids] of Map.groupBy(free, keys[0])) {
      const found = others.get(key) ?? [];
      if (key === null || (isAlone && (ids.length > 1 || found.length > 1))) continue;
      for (const [at, other] of found.entries()) {
        const id = ids[at];
        if (id !== undefined) pairs.set(id, other);
      }
    }
  }
  return withoutCollisions(pairs, from);
}

/** Two rows must not become one: no id is renamed to another one of its own world that keeps its name. */
function withoutCollisions(pairs: Renaming, own: Colours): Renaming {
  const isTaken = (id: string, other: string) => id !== other && own.has(other) && !pairs.has(other);
  const kept = new Map([...pairs].filter(([id, other]) => !isTaken(id, other)));
  return kept.size === pairs.size ? kept : withoutCollisions(kept, own);
}

/** Returns the row that an id names, whatever other created ids are in it; null where it names none. */
const rowIn = (changes: readonly Change[], created: Colours) => (id: string) => {
  const rows = changes.filter(({ patch }) => patch.path.some((key) => createdIdsIn(key).includes(id)));
  const mark = (each: string) =>
    each === id ? `<this ${prefixOf(id)}>` : created.has(each) ? `<${prefixOf(each)}>` : each;
  return rows.length === 0
    ? null
    : rows
        .map((change) => written(change, mark))
        .toSorted()
        .join('\0');
};

/** Returns where an id is, whatever else is there. */
const placeIn = (changes: readonly Change[]) => (id: string) => {
  const places = changes.flatMap(({ side, patch, ids }) =>
    ids.includes(id)
      ? [
          `${side} ${patch.path.map((key) => renamedText(String(key), (each) => (each === id ? '<this>' : each))).join('.')}`,
        ]
      : [],
  );
  return `${prefixOf(id)} ${places.toSorted().join()}`;
};

function renamedWorld(start: World, changes: readonly Change[], renaming: Renaming, world: World): World {
  if (renaming.size === 0) return world;
  const rename = (id: string) => renaming.get(id) ?? id;
  const side = (name: Side): Database =>
    applyPatches(
      start[name],
      changes.flatMap(({ side: of, patch }) => (of === name ? [renamedPatch(patch, rename)] : [])),
    );
  return { agent: side('agent'), user: side('user') };
}

function renamedPatch({ op, path, value }: Patch, rename: (id: string) => string): Patch {
  const renamed = path.map((key) => (typeof key === 'number' ? key : renamedText(key, rename)));
  return { op, path: renamed, ...(value === undefined ? {} : { value: renamedJson(value, rename) }) };
}
