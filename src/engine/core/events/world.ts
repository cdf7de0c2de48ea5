import type { World } from '../domain/domain.ts';
import { contentHash } from '../values/hash.ts';
import { applyPatches, diffDatabases, hashOf, keysAt, type Patch, patchesOf } from '../world/database.ts';
import type { Writes } from './event.ts';

/** Hash of a base database; of the agent's side alone where the user has none. */
export function baseHash({ agent, user }: World): string {
  return keysAt(user, []).total === 0 ? hashOf(agent) : contentHash([hashOf(agent), hashOf(user)]);
}

/** A world with writes laid over it. */
export function withWrites(world: World, writes: Writes): World {
  const now = { ...world };
  for (const { side, patches } of writes) now[side] = applyPatches(now[side], patches as readonly Patch[]);
  return now;
}

/** The writes that make one world of another. */
export function writesBetween(before: World, after: World): Writes {
  return (['agent', 'user'] as const).flatMap((side) => {
    const patches = patchesOf(before[side], after[side]);
    return patches.length > 0 ? [{ side, patches: patches as never }] : [];
  });
}

/** Hash of what differs between the domain's base database and the end, on both sides. */
export function differenceHash(base: World, end: World): string {
  const changes = (['agent', 'user'] as const).map((side) =>
    diffDatabases(base[side], end[side]).map(({ path, before, after }) => [
      path,
      before === undefined ? [] : [before],
      after === undefined ? [] : [after],
    ]),
  );
  return contentHash(changes);
}
