import type { World } from '../domain/domain.ts';
import { alignedDatabase, exactly, type FieldComparison } from '../domain/fieldComparison.ts';
import type { Task } from '../domain/task.ts';
import type { Deviation, Verdict } from '../events/event.ts';
import { callsIn } from '../events/message.ts';
import type { RolloutState } from '../events/state.ts';
import { shownValue } from '../text/value.ts';
import { createdIdsIn } from '../values/createdIds.ts';
import { jsonOrText, showPath } from '../values/json.ts';
import { type Change, type Database, diffDatabases, sameDatabase } from '../world/database.ts';
import { type Renamed, type Renaming, renamedLike } from './renaming.ts';

const sides = ['agent', 'user'] as const;

/** A rollout that went far astray differs in many places; its recording names the first ones. */
export const deviationsKept = 100;

/**
 * The world that the gold actions leave, with the ids that its tools created renamed to those of the rollout, and with
 * the values of the rollout where those count as equal. Both draw ids from their own streams. A benchmark's own
 * evaluator does neither, so its tasks are compared as they are.
 */
export function goldLike({ task, state, compare = exactly }: Compared, start: World, gold: World): Renamed {
  const isLike = sides.every((side) => sameDatabase(state.world[side], gold[side]));
  if (isLike || task.origin) return { world: gold, renaming: new Map() };
  const given = new Set(createdIdsIn(task.actions.map(({ arguments: args }) => args)));
  const chosen = chosenIn(state);
  const isChosen = { world: (id: string) => given.has(id), other: (id: string) => chosen.has(id) };
  const { world, renaming } = renamedLike(gold, state.world, start, isChosen, compare);
  const aligned = (side: (typeof sides)[number]) => alignedDatabase(world[side], state.world[side], compare);
  return { world: { agent: aligned('agent'), user: aligned('user') }, renaming };
}

/** Ids that a seat said in a call before any tool had told them: no tool created those. */
function chosenIn({ messages }: RolloutState): ReadonlySet<string> {
  const told = new Set<string>();
  const chosen = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool')
      for (const id of createdIdsIn([message.content, jsonOrText(message.content)])) told.add(id);
    for (const { arguments: args } of callsIn(message))
      for (const id of createdIdsIn(args)) if (!told.has(id)) chosen.add(id);
  }
  return chosen;
}

/** Returns which created id of the gold actions is which of the rollout, in words; empty where none differs. */
export function renamingText(renaming: Renaming): string {
  const pairs = [...renaming].filter(([id, other]) => id !== other).map(([id, other]) => `${id} is ${other}`);
  return pairs.length === 0 ? '' : ` (ids that tools created: ${pairs.join(', ')})`;
}

type Compared = {
  readonly task: Pick<Task, 'actions' | 'origin'>;
  readonly state: RolloutState;
  /** The fields that the domain does not compare exactly. */
  readonly compare?: FieldComparison;
};

/** Whether the final database of both sides is the one that the gold actions leave, up to ids that tools created. */
export function databaseVerdict(compared: Compared, start: World, made: World): Verdict {
  const { state } = compared;
  const { world, next } = state;
  const { world: gold, renaming } = goldLike(compared, start, made);
  const ids = renamingText(renaming);
  const other = sides.filter((side) => !sameDatabase(world[side], gold[side]));
  const expected = sides.flatMap((side) => placesOf(start[side], gold[side]).map((place) => `${side}:${place}`));
  if (other.length === 0) {
    const of = Math.max(1, expected.length);
    const detail = `the final database is the expected one${ids}`;
    return { verifier: 'database', held: true, detail, evidence: [], met: of, of };
  }
  const changes = other.flatMap((side) =>
    diffDatabases(gold[side], world[side]).map((change) => ({ ...change, side })),
  );
  const shown = changes
    .slice(0, 3)
    .map(({ path, before, after }) => `${showPath(path)} is ${shownValue(after)}, expected ${shownValue(before)}`);
  const more = changes.length > 3 ? ` (and ${changes.length - 3} more)` : '';
  const wrong = changes.map(({ side, path }) => pathKey(side, path));
  return {
    verifier: 'database',
    held: false,
    detail: `${shown.join('; ')}${more}${ids}`,
    evidence: [next - 1],
    ...shareOf(expected, wrong),
    deviations: changes.slice(0, deviationsKept).map(deviationOf),
  };
}

/** The verdict where a gold action failed: without it, the gold actions do not leave the database that the task expects. */
export const unknownDatabase = (failed: string, { next }: RolloutState): Verdict => ({
  verifier: 'database',
  held: false,
  unknown: true,
  detail: `the expected database is unknown, because ${failed}`,
  evidence: [next - 1],
  met: 0,
  of: 1,
});

function deviationOf({ side, path, before, after }: Change & { readonly side: Deviation['side'] }): Deviation {
  return {
    side,
    path: [...path],
    ...(before === undefined ? {} : { expected: before as Deviation['expected'] }),
    ...(after === undefined ? {} : { actual: after as Deviation['actual'] }),
  };
}

const places = new WeakMap<Database, { readonly start: Database; readonly places: readonly string[] }>();

/** Returns where the gold actions change a side: the same for all rollouts of a task that begin alike. */
function placesOf(start: Database, gold: Database): readonly string[] {
  const known = places.get(gold);
  if (known?.start === start) return known.places;
  const made = diffDatabases(start, gold).map(({ path }) => showPath(path));
  places.set(gold, { start, places: made });
  return made;
}

/** Of the places that should have changed, or did: how many are as they should be. */
function shareOf(expected: readonly string[], wrong: readonly string[]): { readonly met: number; readonly of: number } {
  const isTouched = (place: string) =>
    wrong.some((each) => each === place || each.startsWith(place) || place.startsWith(each));
  const missed = expected.filter(isTouched).length;
  const extra = wrong.filter((each) => !expected.some((place) => each.startsWith(place) || place.startsWith(each)));
  return { met: expected.length - missed, of: expected.length + extra.length };
}

const pathKey = (side: string, path: readonly (string | number)[]) => `${side}:${showPath(path)}`;
