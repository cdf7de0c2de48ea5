import { type Change, type Database, diffDatabases, sameDatabase } from '../database.ts';
import type { World } from '../domain.ts';
import type { Deviation, Verdict } from '../event.ts';
import { type Json, showPath } from '../json.ts';
import type { RolloutState } from '../state.ts';

const sides = ['agent', 'user'] as const;

/** A rollout that went far astray differs in many places; its recording names the first ones. */
export const deviationsKept = 100;

/** Whether the final database of both sides is the one that the gold actions leave. */
export function databaseVerdict({ world, next }: RolloutState, start: World, gold: World): Verdict {
  const other = sides.filter((side) => !sameDatabase(world[side], gold[side]));
  const expected = sides.flatMap((side) => placesOf(start[side], gold[side]).map((place) => `${side}:${place}`));
  if (other.length === 0) {
    const of = Math.max(1, expected.length);
    const detail = 'the final database is the expected one';
    return { verifier: 'database', held: true, detail, evidence: [], met: of, of };
  }
  const changes = other.flatMap((side) =>
    diffDatabases(gold[side], world[side]).map((change) => ({ ...change, side })),
  );
  const shown = changes
    .slice(0, 3)
    .map(({ path, before, after }) => `${path.join('.')} is ${show(after)}, expected ${show(before)}`);
  const more = changes.length > 3 ? ` (and ${changes.length - 3} more)` : '';
  const wrong = changes.map(({ side, path }) => pathKey(side, path));
  return {
    verifier: 'database',
    held: false,
    detail: `${shown.join('; ')}${more}`,
    evidence: [next - 1],
    ...shareOf(expected, wrong),
    deviations: changes.slice(0, deviationsKept).map(deviationOf),
  };
}

function deviationOf({ side, path, before, after }: Change & { readonly side: Deviation['side'] }): Deviation {
  return {
    side,
    path: [...path],
    ...(before === undefined ? {} : { expected: before as Deviation['expected'] }),
    ...(after === undefined ? {} : { actual: after as Deviation['actual'] }),
  };
}

const places = new WeakMap<Database, { readonly start: Database; readonly places: readonly string[] }>();

/** Where the gold actions change a side: the same for all rollouts of a task that begin alike. */
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
const show = (value: Json | undefined) => (value === undefined ? 'missing' : JSON.stringify(value));
