import type { Json, JsonObject } from '../../engine/core/values/json.ts';

/** Returns what is at a path of plain data; undefined where nothing does. A `*` is the first that there is. */
export function getAtPath(root: Json, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((value, part) => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (part === '*') return Object.values(value)[0] as Json | undefined;
    return Object.hasOwn(value, part) ? (value as JsonObject)[part as string] : undefined;
  }, root);
}
