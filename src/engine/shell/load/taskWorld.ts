import type { Task } from '../../core/domain/task.ts';
import { quotedIn } from '../../core/events/quotedResults.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Bases } from '../source/note.ts';
import { remembered } from '../source/source.ts';

/** Both databases as a task begins: the base with the task's own state laid over it. */
export function worldOf(bases: Bases, task: Task): Bases {
  if (task.state.length === 0) return bases;
  return remembered(
    remembered(worlds, bases, () => new WeakMap<Task, Bases>()),
    task,
    () => laidOver(bases, task),
  );
}

const worlds = new WeakMap<Bases, WeakMap<Task, Bases>>();

function laidOver(bases: Bases, { state }: Task): Bases {
  let { agent, user } = bases;
  for (const { side, path, value } of state) {
    if (side === 'agent') agent = placed(agent, path, value as Json) as JsonObject;
    else user = placed(user, path, value as Json) as JsonObject;
  }
  return { agent, user };
}

/** A copy along the path only; a path into nowhere, which `task/unknown-path` names, changes nothing. */
function placed(root: Json | undefined, [key, ...rest]: readonly (string | number)[], value: Json): Json | undefined {
  if (typeof root !== 'object' || root === null || key === undefined) return root;
  const before = (root as JsonObject)[key as string];
  const copy = (Array.isArray(root) ? [...root] : { ...root }) as Record<string, Json>;
  if (rest.length > 0) copy[key as string] = placed(before, rest, value) as Json;
  else if (value === null) delete copy[key as string];
  else copy[key as string] = value;
  return copy as Json;
}

const words = new WeakMap<object, ReadonlySet<string>>();

/** Every key and every value of a database as a text: what a tool that reads it can bring. */
export function wordsIn(base: JsonObject): ReadonlySet<string> {
  return remembered(words, base, () => {
    const found = new Set<string>();
    collect(base, found);
    return found;
  });
}

function collect(value: Json, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) {
    found.add(String(value));
    return;
  }
  for (const [key, each] of Object.entries(value)) {
    if (!Array.isArray(value)) found.add(key);
    collect(each, found);
  }
}

/** A scalar of the arguments of a call as a text: its own key, and the path to it. */
export type NamedLeaf = { readonly name: string; readonly leaf: string; readonly path: readonly PropertyKey[] };

/**
 * The arguments of a call as texts, each with the key that it is under: `flight_number` in a list of flights. What an
 * argument quotes of a result is not known.
 */
export function namedLeavesIn(value: unknown): readonly NamedLeaf[] {
  return namedLeaves(value).filter(({ leaf }) => quotedIn(leaf) === null);
}

/** The arguments of a gold action that quote a result. */
export function quotingLeavesIn(value: unknown): readonly NamedLeaf[] {
  return namedLeaves(value).filter(({ leaf }) => quotedIn(leaf) !== null);
}

/** The scalar values in an argument, with the names and the paths that lead to them. */
export function namedLeaves(value: unknown, name = '', path: readonly PropertyKey[] = []): readonly NamedLeaf[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [{ name, leaf: String(value), path }];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, each]) =>
    namedLeaves(each, isList ? name : key, [...path, isList ? Number(key) : key]),
  );
}
