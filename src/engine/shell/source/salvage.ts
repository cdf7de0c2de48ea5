import type * as z from 'zod';

type Path = readonly PropertyKey[];

/** The part of a value that fits its schema. */
export type Salvaged<T> = {
  readonly value: T;
  /** The keys that were taken out. A required one has a value in its place that the file does not have. */
  readonly lost: readonly Path[];
};

/** Rounds of taking keys out, after which a value is given up. */
const mostRounds = 50;

/** Values that take the place of a required key, the first that fits. */
const placeholders: readonly unknown[] = ['lost', ['lost'], [], {}, 1, false];

/**
 * Returns as much of a value as fits a schema, for checks of the rest: one wrong key does not hide what is wrong with
 * the others. Null where nothing usable is left.
 */
export function salvage<T>(schema: z.ZodType<T>, value: unknown): Salvaged<T> | null {
  const left = structuredClone(value);
  const lost: Path[] = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const { success, data, error } = schema.safeParse(left);
    if (success) return { value: data, lost };
    const [issue] = error.issues;
    if (!issue) return null;
    const keys =
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [keyIn(issue.path)];
    for (const path of keys) {
      lost.push(path);
      if (path.length === 0 || !(remove(left, path) || fill(schema, left, path))) return null;
    }
  }
  return null;
}

/** An element of a list is lost with its list: without it, the others would have other places. */
function keyIn(path: Path): Path {
  const last = path.findLastIndex((part) => typeof part !== 'number');
  return path.slice(0, last + 1);
}

function remove(value: unknown, path: Path): boolean {
  const parent = parentOf(value, path);
  const key = path.at(-1);
  return parent !== null && key !== undefined && Object.hasOwn(parent, key) && Reflect.deleteProperty(parent, key);
}

/** Puts a placeholder that fits in the place of a key; says whether one does. */
function fill(schema: z.ZodType, value: unknown, path: Path): boolean {
  const parent = parentOf(value, path);
  const key = path.at(-1);
  if (parent === null || key === undefined) return false;
  const choices = [...choicesFor(schema, value, path), ...placeholders];
  for (const choice of choices) {
    Reflect.set(parent, key, structuredClone(choice));
    const { error } = schema.safeParse(value);
    if (!error?.issues.some((issue) => path.every((part, at) => issue.path[at] === part))) return true;
  }
  Reflect.deleteProperty(parent, key);
  return false;
}

/** The words that the schema names for a key. */
function choicesFor(schema: z.ZodType, value: unknown, path: Path): readonly unknown[] {
  const issue = schema.safeParse(value).error?.issues.find((each) => each.path.join('\0') === path.join('\0'));
  return issue?.code === 'invalid_value' ? issue.values : [];
}

function parentOf(value: unknown, path: Path): object | null {
  let parent: unknown = value;
  for (const part of path.slice(0, -1))
    parent = typeof parent === 'object' && parent !== null ? Reflect.get(parent, part) : undefined;
  return typeof parent === 'object' && parent !== null ? parent : null;
}
