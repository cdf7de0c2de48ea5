import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { Bases } from '../source/note.ts';
import { remembered } from '../source/source.ts';

/** A table of a database: rows by their ids. */
export type Table = { readonly name: string; readonly rows: JsonObject };

/** The table of either database that an argument or a fact is named after. */
export function tableOf(argument: string, bases: Bases): Table | null {
  const known = remembered(tables, bases, () => new Map<string, Table | null>());
  const found = known.has(argument) ? known.get(argument) : findTable(argument, bases);
  known.set(argument, found ?? null);
  return found ?? null;
}

const tables = new WeakMap<Bases, Map<string, Table | null>>();

function findTable(argument: string, { agent, user }: Bases): Table | null {
  const base = argument.toLowerCase().replace(/_?(?:id|number|no|key)$/, '');
  if (base === '') return null;
  const names = [base, `${base}s`, `${base}es`, base.replace(/y$/, 'ies')];
  for (const database of [agent, user]) {
    const name = names.find((each) => Object.hasOwn(database, each));
    const table = name === undefined ? null : tableNamed(name, database[name]);
    if (table) return table;
  }
  return null;
}

function tableNamed(name: string, rows: Json | undefined): Table | null {
  return isObject(rows) && isObject(firstOf(rows)) ? { name, rows } : null;
}

/** The first row of a table, which may have very many. */
function firstOf(rows: JsonObject): Json | undefined {
  for (const key in rows) return rows[key];
  return undefined;
}

/** The tables of both databases. */
export function tablesIn({ agent, user }: Bases): readonly Table[] {
  return [agent, user].flatMap((database) =>
    Object.entries(database).flatMap(([name, rows]) => tableNamed(name, rows) ?? []),
  );
}

/** Whether a value is the id of a row, or a value of one: a name of a row is not an id, as in `part: folding pedal`. */
export function isRowOrField({ rows }: Table, value: string): boolean {
  return (
    Object.hasOwn(rows, value) || Object.values(rows).some((row) => isObject(row) && Object.values(row).includes(value))
  );
}

/** The form that the ids of a table have in common, such as W and four digits. */
export type IdForm = {
  /** Finds words of this form in a text; a number may have a digit more or less. */
  readonly words: RegExp;
  /** Whether other words of a text have it rarely: there are two digits at least. */
  readonly isDistinct: boolean;
};

const forms = new WeakMap<JsonObject, { readonly form: IdForm | null }>();

/** Returns the form of the ids of a table; null where they do not have the same parts, or no letter. */
export function idFormOf({ rows }: Table): IdForm | null {
  return remembered(forms, rows, () => ({ form: formOf(Object.keys(rows)) })).form;
}

/** Whether a value has the form of the ids of a table. */
export function hasIdForm(table: Table, value: string): boolean {
  return value.match(idFormOf(table)?.words ?? /(?!)/)?.[0] === value;
}

function formOf(ids: readonly string[]): IdForm | null {
  const split = ids.map((id) => id.match(/\d+|[A-Za-z]+|[^\dA-Za-z\s]/g) ?? []);
  const [first] = split;
  if (!first || split.some((parts, at) => parts.length !== first.length || parts.join('') !== ids[at])) return null;
  const parts = first.map((_, at) => partPattern(split.map((each) => each[at] ?? '')));
  if (parts.includes(null) || !/[A-Za-z]/.test(ids[0] ?? '')) return null;
  return {
    words: new RegExp(`(?<![\\w#@/-])${parts.join('')}(?![\\w@/-])`, 'g'),
    isDistinct: ids.every((id) => id.replace(/\D/g, '').length >= distinctDigits),
  };
}

const distinctDigits = 2;

/** The form of one part of several ids: what all of them have there, or digits or letters. */
function partPattern(parts: readonly string[]): string | null {
  const [first = ''] = parts;
  if (parts.every((part) => part === first) && !/^\d/.test(first)) return first.replace(/[^\w]/g, '\\$&');
  const lengths = parts.map(({ length }) => length);
  const shortest = lengths.reduce((one, other) => Math.min(one, other));
  const longest = lengths.reduce((one, other) => Math.max(one, other));
  if (parts.every((part) => /^\d+$/.test(part)))
    return `\\d{${Math.max(Math.min(shortest, distinctDigits), shortest - 1)},${longest + 1}}`;
  const letters = ['[a-z]', '[A-Z]'].find((each) => parts.every((part) => new RegExp(`^${each}+$`).test(part)));
  return letters === undefined ? null : `${letters}{${shortest},${longest}}`;
}

/** Whether a value has the form of the ids of a table, and is between two of them in order. */
export function isBetweenIds(table: Table, value: string): boolean {
  if (!hasIdForm(table, value)) return false;
  const ids = Object.keys(table.rows).filter(({ length }) => length === value.length);
  return ids.some((id) => id < value) && ids.some((id) => id > value);
}

/** A field of a table whose every row names a row of another table: the customer of an order. */
export type Reference = { readonly table: Table; readonly field: string; readonly to: Table };

const references = new WeakMap<Bases, readonly Reference[]>();

/** Returns the references between the tables of both databases. */
export function referencesIn(bases: Bases): readonly Reference[] {
  return remembered(references, bases, () => {
    const all = tablesIn(bases);
    return all.flatMap((table) => {
      const rows = Object.values(table.rows);
      const first = rows[0];
      const fields = isObject(first) ? Object.keys(first) : [];
      return fields.flatMap((field) =>
        all.flatMap((to): readonly Reference[] => {
          const isNamed = (row: Json) =>
            isObject(row) && typeof row[field] === 'string' && Object.hasOwn(to.rows, row[field]);
          return to.name !== table.name && rows.every(isNamed) ? [{ table, field, to }] : [];
        }),
      );
    });
  });
}

const owners = new WeakMap<JsonObject, ReadonlyMap<string, string | null>>();

/** Returns the row that a value is in alone, in any field with text; null where several rows have it. */
export function rowsByValue({ rows }: Table): ReadonlyMap<string, string | null> {
  return remembered(owners, rows, () => {
    const found = new Map<string, string | null>();
    for (const [id, row] of Object.entries(rows)) {
      if (!isObject(row)) continue;
      for (const value of Object.values(row)) {
        if (typeof value !== 'string') continue;
        const key = value.toLowerCase();
        found.set(key, (found.get(key) ?? id) === id && found.get(key) !== null ? id : null);
      }
    }
    return found;
  });
}
