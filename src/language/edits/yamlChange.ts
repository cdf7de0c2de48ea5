import { isObject, type Json, type JsonObject, type Path, put } from '../../engine/core/values/json.ts';

/** A change of a value in a file: of what is at a path, of a list by an item before an index, or of less. */
export type YamlChange =
  | { readonly type: 'set'; readonly path: Path; readonly value: Json }
  /** The path ends with the index that the new item will have. */
  | { readonly type: 'insert'; readonly path: Path; readonly value: Json }
  | { readonly type: 'remove'; readonly path: Path };

/** The value after a change; undefined where the path leads nowhere. What is missing on the way to a `set` is made. */
export function changed(value: Json, change: YamlChange): Json | undefined {
  return at(value, change.path, change);
}

function at(value: Json | undefined, path: Path, change: YamlChange): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return change.type === 'set' ? change.value : undefined;
  if (Array.isArray(value)) return inList(value, Number(key), rest, change);
  const isMap = typeof value === 'object' && value !== null;
  if (!isMap && value !== null && value !== undefined) return undefined;
  if (!isMap && change.type === 'remove') return undefined;
  if (!isMap && (typeof key === 'number' || change.type === 'insert') && rest.length === 0)
    return change.type === 'remove' ? undefined : [change.value];
  const map = (isMap ? value : {}) as JsonObject;
  if (rest.length === 0) {
    if (change.type === 'insert' || (change.type === 'remove' && !Object.hasOwn(map, key))) return undefined;
    const others = Object.entries(map).filter(([name]) => change.type === 'set' || name !== String(key));
    return made(others, change.type === 'set' ? [String(key), change.value] : null);
  }
  const inner = at(Object.hasOwn(map, key) ? map[key] : undefined, rest, change);
  return inner === undefined ? undefined : made(Object.entries(map), [String(key), inner]);
}

function inList(list: readonly Json[], index: number, rest: Path, change: YamlChange): Json | undefined {
  const isNew = rest.length === 0 && change.type !== 'remove';
  if (!Number.isInteger(index) || index < 0 || index > list.length || (index === list.length && !isNew))
    return undefined;
  if (rest.length > 0) {
    const inner = at(list[index], rest, change);
    return inner === undefined ? undefined : list.with(index, inner);
  }
  if (change.type === 'remove') return list.toSpliced(index, 1);
  return list.toSpliced(index, change.type === 'set' ? 1 : 0, change.value);
}

function made(entries: readonly (readonly [string, Json])[], last: readonly [string, Json] | null): JsonObject {
  const map: Record<string, Json> = {};
  for (const [key, value] of entries) put(map, key, value);
  if (last) put(map, ...last);
  return map;
}

/** The fewest changes of single places that make one value the other, to be made one after the other. */
export function changesBetween(before: Json | undefined, after: Json, path: Path): readonly YamlChange[] {
  if (before !== undefined && equalJson(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length > 0 && after.length > 0)
    return betweenLists(before, after, path);
  if (!isObject(before) || !isObject(after)) return [{ type: 'set', path, value: after }];
  const kept = Object.keys(before).filter((key) => Object.hasOwn(after, key));
  if (kept.length === 0) return [{ type: 'set', path, value: after }];
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const inner = Object.keys(after).flatMap((key) =>
    changesBetween(Object.hasOwn(before, key) ? before[key] : undefined, after[key] as Json, [...path, key]),
  );
  return [...inner, ...gone.map((key): YamlChange => ({ type: 'remove', path: [...path, key] }))];
}

/** A common head and tail stay; what lies between is changed in place, then taken out or put in. */
function betweenLists(before: readonly Json[], after: readonly Json[], path: Path): readonly YamlChange[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && equalJson(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && equalJson(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const shared = shorter - tail;
  const changes: YamlChange[] = [];
  for (let index = head; index < shared; index++)
    changes.push(...changesBetween(before[index], after[index] as Json, [...path, index]));
  for (let index = before.length - tail - 1; index >= shared; index--)
    changes.push({ type: 'remove', path: [...path, index] });
  for (let index = shared; index < after.length - tail; index++)
    changes.push({ type: 'insert', path: [...path, index], value: after[index] as Json });
  return changes;
}

/** Whether two values mean the same; the order of keys means nothing. */
export function equalJson(one: Json | undefined, other: Json | undefined): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && equalJson((one as JsonObject)[key], (other as JsonObject)[key]))
  );
}
