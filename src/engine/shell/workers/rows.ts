import type { World } from '../../core/domain/domain.ts';
import type { Side } from '../../core/domain/tool.ts';
import type { Writes } from '../../core/events/event.ts';
import type { Json, JsonObject, Path } from '../../core/values/json.ts';
import { type Database, diffDatabases, draft, getAt } from '../../core/world/database.ts';

/** A changed row as it travels between processes: a member of the database, a row of a table, or a place in one; gone without a value. */
export type RowChange = { readonly path: readonly string[]; readonly value?: Json };
export type SidedChange = RowChange & { readonly side: Side };

/** The rows in which a world differs from another one; what both share is never looked at. */
export function changedRows(before: World, after: World): readonly SidedChange[] {
  return (['agent', 'user'] as const).flatMap((side) => {
    const changes = diffDatabases(before[side], after[side]);
    const paths = new Map(changes.map(({ path }) => rowPath(after[side], path)).map((path) => [path.join('\n'), path]));
    return [...paths.values()].map((path): SidedChange => {
      const value = getAt(after[side], path);
      return { side, path, ...(value === undefined ? {} : { value }) };
    });
  });
}

/** A row of a table where the member is one, else the whole member. */
function rowPath(db: Database, [member, row]: Path): readonly string[] {
  const isRow = typeof row === 'string' && !Array.isArray(getAt(db, [member as string]));
  return isRow ? [String(member), row] : [String(member)];
}

/** The world after changed rows of both sides, and their results as patches. */
export function withSidedRows(
  world: World,
  rows: readonly SidedChange[],
): { readonly world: World; readonly writes: Writes } {
  let after = world;
  const writes = (['agent', 'user'] as const).flatMap((side) => {
    const made = withRows(
      after,
      side,
      rows.filter((row) => row.side === side),
    );
    after = made.world;
    return made.writes;
  });
  return { world: after, writes };
}

/**
 * The database after changed rows, and their results as patches.
 * @throws TypeError for a row of something that is not a table, and for what is not JSON
 */
export function withRows(
  world: World,
  side: Side,
  rows: readonly RowChange[],
): { readonly world: World; readonly writes: Writes } {
  if (rows.length === 0) return { world, writes: [] };
  const open = draft(world[side]);
  for (const { path, value } of rows) {
    const target = path.slice(0, -1).reduce<Json | undefined>(memberAt, open.view);
    if (typeof target !== 'object' || target === null)
      throw new TypeError(`${path.slice(0, -1).join('.')} is not a table`);
    const key = path.at(-1) ?? '';
    if (value === undefined) delete (target as Record<string, Json>)[key];
    else (target as Record<string, Json>)[key] = value;
  }
  const { db, patches } = open.finish();
  const writes = patches.length > 0 ? [{ side, patches }] : [];
  return { world: { ...world, [side]: db }, writes: writes as unknown as Writes };
}

function memberAt(value: Json | undefined, key: string): Json | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[key] : undefined;
}
