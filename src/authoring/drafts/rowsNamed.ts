import type { Task } from '../../engine/core/domain/task.ts';
import type { Side } from '../../engine/core/domain/tool.ts';
import { leavesOf } from '../../engine/core/text/value.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';

/** A table of a database: rows by key, each a map of fields. */
export type Table = { readonly side: Side; readonly name: string; readonly rows: Readonly<Record<string, JsonObject>> };

export type Row = { readonly table: Table; readonly key: string };

/** Values of a column up to which it says what kind of row it is, and not which one. */
const mostKinds = 8;

/** The tables of both databases. */
export function tablesOf(world: Readonly<Record<Side, JsonObject>>): readonly Table[] {
  return (['agent', 'user'] as const).flatMap((side) =>
    Object.entries(world[side]).flatMap(([name, rows]) => (isTable(rows) ? [{ side, name, rows }] : [])),
  );
}

function isTable(rows: Json | undefined): rows is Readonly<Record<string, JsonObject>> {
  return isObject(rows) && Object.keys(rows).length > 1 && Object.values(rows).every(isObject);
}

/** Returns what a task says in values: facts, arguments, its state. */
export function valuesOf({ user, actions, state, communicate, receipts = [] }: Task): ReadonlySet<string> {
  const facts = Object.values({ ...user.known, ...user.change?.known });
  const data = [
    facts,
    actions.map(({ arguments: args }) => args),
    state,
    receipts.map(({ arguments: args }) => args),
    communicate,
  ];
  return new Set(leavesOf(data));
}

/** The rows that a task is about: by their keys, or by a value that only they have. */
export function rowsNamed(tables: readonly Table[], values: ReadonlySet<string>): readonly Row[] {
  return tables.flatMap((table) =>
    Object.entries(table.rows)
      .filter(([key, row]) => (key.length > 1 && values.has(key)) || isToldApart(table, row, values))
      .map(([key]) => ({ table, key })),
  );
}

function isToldApart(table: Table, row: JsonObject, values: ReadonlySet<string>): boolean {
  return Object.entries(row).some(
    ([field, value]) =>
      typeof value === 'string' &&
      value.length > 2 &&
      values.has(value) &&
      Object.values(table.rows).filter((other) => other[field] === value).length === 1,
  );
}

/** Columns of a table that say what kind a row is: few values, each of many rows. */
export function kindColumns(table: Table): readonly string[] {
  const known = kinds.get(table);
  if (known) return known;
  const found = kindsIn(table);
  kinds.set(table, found);
  return found;
}

const kinds = new WeakMap<Table, readonly string[]>();

function kindsIn({ rows }: Table): readonly string[] {
  const all = Object.values(rows);
  const fields = [...new Set(all.flatMap((row) => Object.keys(row)))];
  return fields.filter((field) => {
    const distinct = new Set(all.map((row) => JSON.stringify(row[field] ?? null)));
    return distinct.size <= mostKinds && distinct.size < all.length / 1.5;
  });
}

/** Leaves of one value beside what is in the same place of another; lists are matched by place. */
export function leafPairs(one: Json | undefined, other: Json | undefined): readonly (readonly [string, string])[] {
  if (one === null || other === null || one === undefined || other === undefined) return [];
  if (typeof one !== 'object' || typeof other !== 'object')
    return typeof one === 'object' || typeof other === 'object' ? [] : [[String(one), String(other)]];
  const [from, to] = [one as JsonObject, other as JsonObject];
  return Object.keys(from).flatMap((key) => leafPairs(from[key], to[key]));
}
