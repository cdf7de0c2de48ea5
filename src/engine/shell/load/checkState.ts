import type { Json, JsonObject } from '../../core/json.ts';
import type { Task } from '../../core/task.ts';
import { type Placed, placeOf } from './items.ts';
import { didYouMean } from './nearest.ts';
import type { Bases, Note } from './note.ts';

/** A task's time must be one, and its own state must go into places that the database has. */
export function checkState(placed: Placed<Task>, bases: Bases, note: Note): void {
  const { now, state } = placed.value;
  if (now !== undefined && Number.isNaN(Date.parse(now))) {
    const message = `now is "${now}", which is no date and time.`;
    note(placeOf(placed, 'now'), 'error', 'task/wrong-value', message, 'Write it as 2026-01-05T09:00:00Z.');
  }
  // Earlier entries may create what later ones go into.
  const created: string[] = [];
  for (const [index, { side, path, value }] of state.entries()) {
    const needed = value === null ? path.length : path.length - 1;
    const depth = path.slice(0, needed).findIndex((_, at) => lookUp(bases[side], path.slice(0, at + 1)) === undefined);
    const own = [side, ...path, ''].join('\0');
    const isCreated = created.some((earlier) => own.startsWith(earlier));
    if (value !== null) created.push(own);
    if (depth < 0 || isCreated) continue;
    const parent = lookUp(bases[side], path.slice(0, depth)) as JsonObject;
    const part = String(path[depth]);
    const where = depth === 0 ? `the ${side} database` : path.slice(0, depth).join('.');
    const message = `There is no ${part} in ${where}.`;
    const hint = didYouMean(part, Object.keys(parent ?? {}), 'Check the path against the database.');
    note(placeOf(placed, 'state', index, 'path', depth), 'error', 'task/unknown-path', message, hint);
  }
}

function lookUp(root: Json, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((value, part) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    return (value as JsonObject)[part as string];
  }, root);
}
