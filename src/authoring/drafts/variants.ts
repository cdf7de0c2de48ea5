import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import { factOf, type Task } from '../../engine/core/domain/task.ts';
import { literal } from '../../engine/core/text/literal.ts';
import { leavesOf, mapLeaves } from '../../engine/core/text/value.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { type Random, randomStream } from '../../engine/core/values/random.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { freeId } from './draftTask.ts';
import { kindColumns, leafPairs, type Row, rowsNamed, type Table, tablesOf, valuesOf } from './rowsNamed.ts';

/** A task as the data of its file. */
export type TaskData = Readonly<Record<string, unknown>> & { readonly id: string };

/** Old values with their replacements. */
type Swap = ReadonlyMap<string, string>;

/**
 * Variants of a task without a model: the same request about other rows of the database, in the order in which they are
 * most likely to be sound. The rows that a task of the other split is about are left out.
 * @param data the task as its file says it, without defaults
 * @returns a sentence that says why there can be none
 */
export function variantsOf(
  loaded: LoadedDomain,
  task: Task,
  data: JsonObject,
  seed: string,
): readonly TaskData[] | string {
  const random = randomStream(seed, task.id, 'variants');
  const tables = tablesOf(loaded.world);
  const values = valuesOf(task);
  const named = rowsNamed(tables, values);
  const root = rootOf(named);
  if (!root)
    return `the task ${task.id} names no row of the database that another row could replace. Draft its variants with a model (--model)`;
  const stale = task.communicate.find((text) => /\d/.test(text) && !isCarried(text, named, loaded));
  const taken = usedRows(loaded, task, tables);
  const ids: string[] = [];
  return candidates(root, taken, named, values, readableText(task), random).flatMap(
    ({ replacement, swap }): readonly TaskData[] => {
      if (stale !== undefined && !swap.has(stale)) return [];
      const options = optionsFor(loaded, task, swap, random);
      const all = new Map([...swap, ...options]);
      const { id: renamed, ...made } = swapped(data, all) as JsonObject & { readonly id: string };
      const id = freeId(loaded, renamed === task.id ? `${task.id}-${replacement}` : renamed, ids);
      ids.push(id);
      return [{ id, draft: true, ...made }];
    },
  );
}

/** A demanded text that does not depend on the row: it is in the policy, or nothing of the rows is in it. */
function isCarried(text: string, named: readonly Row[], { domain }: LoadedDomain): boolean {
  const words = [domain.policy.text, ...Object.values(domain.lexicon.tools).flatMap(({ done }) => done)];
  if (words.some((each) => each.toLowerCase().includes(text.toLowerCase()))) return true;
  return !named.some(({ table, key }) =>
    leavesOf(table.rows[key]).some((leaf) => leaf.length > 1 && text.includes(leaf)),
  );
}

/** The field of a row that names another row, or null. */
function referenceTo({ table, key }: Row, other: Row): string | null {
  const row = table.rows[key] ?? {};
  return Object.keys(row).find((field) => row[field] === other.key) ?? null;
}

type Use = { readonly forbidden: ReadonlySet<string>; readonly used: ReadonlySet<string> };

/** Rows that other tasks are about: those of the other split must not be shared. */
function usedRows({ parts }: LoadedDomain, task: Task, tables: readonly Table[]): Use {
  const of = (split: (each: Task) => boolean) =>
    new Set(
      parts.tasks
        .map(({ value }) => value)
        .filter((each) => each.id !== task.id && split(each))
        .flatMap((each) => rowsNamed(tables, valuesOf(each)).map(({ table, key }) => `${table.name} ${key}`)),
    );
  return { forbidden: of(({ split }) => split !== task.split), used: of(({ split }) => split === task.split) };
}

/** The row that the others hang on: it names most of them, and its table is the largest. */
function rootOf(named: readonly Row[]): Row | undefined {
  const names = (row: Row) => named.filter((other) => other !== row && referenceTo(row, other) !== null).length;
  const size = ({ table }: Row) => Object.keys(table.rows).length;
  return named.toSorted((a, b) => names(b) - names(a) || size(b) - size(a))[0];
}

type Replacement = { readonly replacement: string; readonly swap: Swap };

/** Rows that can replace one: the most alike first, unused ones before others, and drawn among equals. */
function candidates(
  root: Row,
  { forbidden, used }: Use,
  named: readonly Row[],
  values: ReadonlySet<string>,
  words: string,
  random: Random,
): readonly Replacement[] {
  const { table, key } = root;
  const isForbidden = ([row, other]: Pair) => forbidden.has(`${row.table.name} ${other}`);
  return Object.keys(table.rows)
    .filter((other) => other !== key)
    .flatMap((replacement) => {
      const pairs = pairsOf(root, replacement, named);
      if (pairs === null || pairs.some(isForbidden) || pairs.some((pair) => isOfOtherKind(pair, words))) return [];
      const swap = swapOf(pairs, values);
      const unlike = pairs.reduce((sum, [row, other]) => sum + unlikeness(row, other), 0);
      const isUsed = used.has(`${table.name} ${replacement}`) ? 1 : 0;
      return [{ replacement, swap, rank: unlike + swap.size / 2 + isUsed, drawn: random.integer(1 << 30) }];
    })
    .toSorted((a, b) => a.rank - b.rank || a.drawn - b.drawn);
}

/** Returns what people read of a task: a kind of row that it names must stay true. */
function readableText({ description, user }: Task): string {
  return [description, user.goal, user.opening, user.change?.say, user.insist?.say].filter(Boolean).join('\n');
}

/** Whether the task says in words of what kind its row is, and the other row is of another. */
function isOfOtherKind([{ table, key }, other]: Pair, words: string): boolean {
  const [own, row] = [table.rows[key] ?? {}, table.rows[other] ?? {}];
  return kindColumns(table).some((field) => {
    const value = own[field];
    return typeof value === 'string' && value.length > 3 && row[field] !== value && namesValue(words, value);
  });
}

/** Returns how far another row is of another kind; what few rows have weighs more. */
function unlikeness({ table, key }: Row, other: string): number {
  const [own, row] = [table.rows[key] ?? {}, table.rows[other] ?? {}];
  const differing = kindColumns(table).filter(
    (field) => JSON.stringify(row[field] ?? null) !== JSON.stringify(own[field] ?? null),
  );
  return differing.reduce((sum, field) => sum + 1 + rarityOf(table, field, own[field]), 0);
}

/** Returns what a row's value says about it, in bits: what few rows have is more likely what the task is about. */
function rarityOf({ rows }: Table, field: string, value: Json | undefined): number {
  const all = Object.values(rows);
  const text = JSON.stringify(value ?? null);
  return Math.log2(all.length / all.filter((row) => JSON.stringify(row[field] ?? null) === text).length);
}

type Pair = readonly [row: Row, other: string];

/** Another row in place of the root, and those that it names in place of those that the root names; null where one is missing. */
function pairsOf(root: Row, replacement: string, named: readonly Row[]): readonly Pair[] | null {
  const pairs: Pair[] = [[root, replacement]];
  for (const [row, other] of pairs) {
    for (const linked of named) {
      const field = referenceTo(row, linked);
      if (field === null || pairs.some(([each]) => each.table === linked.table && each.key === linked.key)) continue;
      const target = row.table.rows[other]?.[field];
      if (typeof target !== 'string' || !linked.table.rows[target]) return null;
      pairs.push([linked, target]);
    }
  }
  return pairs;
}

/** Returns what changes of the task's values when other rows replace its own. */
function swapOf(pairs: readonly Pair[], values: ReadonlySet<string>): Swap {
  const swap = new Map<string, string>();
  for (const [{ table, key }, other] of pairs) {
    swap.set(key, other);
    const kinds = kindColumns(table);
    const [from, to] = [table.rows[key] ?? {}, table.rows[other] ?? {}];
    for (const field of Object.keys(from)) {
      if (kinds.includes(field) && !isObject(from[field])) continue;
      for (const [old, now] of leafPairs(from[field], to[field])) {
        const isText = old.length > 2 && !['true', 'false'].includes(old);
        if (isText && old !== now && !swap.has(old) && isSaid(old, values)) swap.set(old, now);
      }
    }
  }
  return swap;
}

/** A value that the task says; a name of several words may also are in its texts alone. */
const isSaid = (value: string, values: ReadonlySet<string>) => values.has(value) || /^\p{Lu}\S+ \p{Lu}/u.test(value);

/** Other wishes: for some of the facts that no row holds, what another task of the domain says under the same name. */
function optionsFor(loaded: LoadedDomain, task: Task, swap: Swap, random: Random): Swap {
  const all = { ...task.user.known, ...task.user.change?.known };
  const own = new Set(Object.values(all).map((fact) => String(factOf(fact).value)));
  const made = new Map<string, string>();
  for (const [name, fact] of Object.entries(task.user.known)) {
    const value = String(factOf(fact).value);
    if (typeof fact === 'object' || swap.has(value) || task.user.change?.known[name] !== undefined) continue;
    const others = loaded.tasks.flatMap(({ user }) => {
      const other = user.known[name];
      return other === undefined || typeof other === 'object' ? [] : [String(other)];
    });
    const free = [...new Set(others)].filter((other) => !own.has(other) && !isRowValue(other, loaded));
    if (free.length > 0 && random.chance(0.5)) made.set(value, random.pick(free.toSorted()));
  }
  return made;
}

/** Whether a value belongs to one row: it goes with that row, and is not a wish. */
function isRowValue(value: string, { world }: LoadedDomain): boolean {
  return rowsNamed(tablesOf(world), new Set([value])).length > 0;
}

/** A copy with the values replaced: whole values, and the same words in texts. Keys stay, except where they are paths. */
function swapped(value: Json, swap: Swap): Json {
  const words = wordSwap(swap);
  const pattern = new RegExp(
    [...words.keys()]
      .toSorted((a, b) => b.length - a.length)
      .map(bounded)
      .join('|'),
    'gu',
  );
  return mapLeaves(value, (each) => {
    if (typeof each === 'string') return swap.get(each) ?? each.replace(pattern, (old) => words.get(old) ?? old);
    const now = swap.get(String(each));
    return now === undefined ? each : likeScalar(each, now);
  });
}

/** A value as the one that it means: a number where it is one as well, else a text. */
function likeScalar(each: Json, now: string): Json {
  if (typeof each === 'number' && now.trim() !== '' && Number.isFinite(Number(now))) return Number(now);
  return typeof each === 'boolean' && (now === 'true' || now === 'false') ? now === 'true' : now;
}

/** The swap with the words of names: anyone who is "Ada Moreau" also says "Ada". */
function wordSwap(swap: Swap): Swap {
  const names = [...swap].flatMap(([old, now]): [string, string][] => {
    const [from, to] = [old.split(' '), now.split(' ')];
    const isName =
      from.length > 1 && from.length === to.length && from.every((word) => /^\p{Lu}\p{L}{2,}$/u.test(word));
    return isName ? from.map((word, index) => [word, to[index] ?? word]) : [];
  });
  return new Map([...names, ...swap]);
}

function bounded(text: string): string {
  return `(?<![\\p{L}\\p{N}])${literal(text)}(?![\\p{L}\\p{N}])`;
}
