import { basename } from 'node:path';
import { isTable } from '../../core/expression/type.ts';
import { calendarDay } from '../../core/text/calendar.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { respelt } from '../source/edit.ts';
import { didYouMean, nearest } from '../source/nearest.ts';
import type { Bases, Note } from '../source/note.ts';
import { locate, remembered, type Source } from '../source/source.ts';
import { isOptional, tablesRead, usesTable } from '../source/tablesRead.ts';
import { type OddValue, oddValuesIn } from './oddValues.ts';

/**
 * Notes a field that one row of a table has in place of the one that all its other rows have, a field that one row lacks,
 * a date that does not exist, and a value that is not like those of all other rows.
 */
export function checkDatabase({ databases, scan }: Parts, bases: Bases, note: Note): void {
  for (const side of ['agent', 'user'] as const) {
    const source = databases[side];
    if (source === null) continue;
    for (const { table, id, field, meant } of remembered(misspelt, bases[side], () => misspeltFields(bases[side]))) {
      const at = placeOfKey(source, [table, id, field]);
      const message = `Only the row ${id} of ${table} has a field ${field}. All others have ${meant}.`;
      note(at, 'warning', 'database/other-field', message, `Did you mean "${meant}"?`, respelt(at, field, [meant]));
    }
    for (const { table, id, field } of remembered(lacking, bases[side], () => missingFields(bases[side]))) {
      if (isOptional(scan, field)) continue;
      const message = `Only the row ${id} of ${table} has no field ${field}.`;
      const hint = `Add ${field}. A field that a row may lack is optional in the types of the tools: ${field}?:.`;
      note(placeOfKey(source, [table, id]), 'info', 'database/missing-field', message, hint);
    }
    for (const { path, text } of remembered(wrong, bases[side], () => wrongDates(bases[side]))) {
      const message = `${text} of ${path.join('.')} does not exist, and other rows have a date there.`;
      note(placeOfValue(source, path, text), 'warning', 'database/wrong-date', message, 'Correct the date.');
    }
    for (const found of remembered(odd, bases[side], () => oddValuesIn(bases[side]))) {
      const at = placeOfValue(source, found.path, found.value);
      const [table, id, field] = found.path;
      if ('others' in found) {
        const message = `The ${field} of ${id} in ${table} is the text "${found.value}". All other rows have ${kinds[found.others]} there.`;
        note(at, 'warning', 'database/other-type', message, corrections[found.others]);
      } else {
        const ids = Object.keys(bases[side][found.table] ?? {});
        const message = `The ${field} of ${id} in ${table} is ${found.value}, which ${found.table} does not have. All other rows have an id of ${found.table} there.`;
        const more = ids.length > mostIds ? ` and ${ids.length - mostIds} more` : '';
        const hint = `Correct the id, or add the row. ${found.table} has ${ids.slice(0, mostIds).join(', ')}${more}.`;
        note(at, 'warning', 'database/unknown-row', message, hint);
      }
    }
  }
}

/** Notes each table that the code of the tools reads and that no database has. */
export function checkTables({ databases, tasks, scan }: Parts, bases: Bases, note: Note): void {
  const tables = [...Object.keys(bases.agent), ...Object.keys(bases.user)];
  // Without a table, the database is missing, cannot be read or is still to be written.
  if (tables.length === 0) return;
  const states = tasks.flatMap(({ value }) => value.state.map(({ path }) => String(path[0])));
  const read = tablesRead(scan);
  const unread = tables.filter((each) => !usesTable(scan, each));
  for (const [name, at] of read) {
    if (tables.includes(name) || states.includes(name)) continue;
    const renamed = nearest(name, unread);
    const source = renamed === undefined ? null : databases[Object.hasOwn(bases.agent, renamed) ? 'agent' : 'user'];
    if (renamed !== undefined && source) {
      const key = placeOfKey(source, [renamed]);
      const message = `The code of the tools reads a table ${name} (${basename(at.file)}:${at.line}), which the database does not have. No tool reads ${renamed}.`;
      const hint = `Rename the table to ${name}, or correct the code.`;
      note(key, 'error', 'database/missing-table', message, hint, respelt(key, renamed, [name]));
    } else {
      const message = `This code reads a table ${name}, which the database does not have.`;
      const hint = didYouMean(
        name,
        tables,
        `Add it to the database, or correct the name. It has ${tables.join(', ')}.`,
      );
      const severity = nearest(name, tables) === undefined ? 'warning' : 'error';
      note(at, severity, 'database/missing-table', message, hint, respelt(at, name, tables));
    }
  }
}

const odd = new WeakMap<JsonObject, readonly OddValue[]>();
/** Ids that a hint has at most. */
const mostIds = 5;
const kinds = { number: 'numbers', boolean: 'true or false', date: 'dates in ISO 8601' } as const;
const corrections = {
  number: 'Write it without quotes.',
  boolean: 'Write true or false without quotes.',
  date: 'Write it as 2026-01-05.',
} as const;

type Misspelt = { readonly table: string; readonly id: string; readonly field: string; readonly meant: string };
const misspelt = new WeakMap<JsonObject, readonly Misspelt[]>();

/** Rows from which it shows what a row has. */
const fewestRows = 3;

function misspeltFields(database: JsonObject): readonly Misspelt[] {
  return Object.entries(database).flatMap(([table, rows]) =>
    isObject(rows) && isTable(rows) ? misspeltIn(table, rows as JsonObject) : [],
  );
}

function misspeltIn(table: string, rows: JsonObject): readonly Misspelt[] {
  const { all, counts, missing } = fieldsOf(rows);
  if (missing.length === 0) return [];
  return all.flatMap(([id, row]) =>
    Object.keys(row).flatMap((field) => {
      if (counts.get(field) !== 1) return [];
      const meant = nearest(
        field,
        missing.filter((each) => !Object.hasOwn(row, each)),
      );
      return meant === undefined ? [] : [{ table, id, field, meant }];
    }),
  );
}

/** Returns the rows of a table, how many of them have each field, and the fields that all of them but one have. */
function fieldsOf(rows: JsonObject) {
  const all = Object.entries(rows).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
  const counts = new Map<string, number>();
  for (const [, row] of all) for (const field in row) counts.set(field, (counts.get(field) ?? 0) + 1);
  const missing = [...counts.keys()].filter((field) => counts.get(field) === all.length - 1);
  return { all, counts, missing: all.length < fewestRows ? [] : missing };
}

type Lacking = Pick<Misspelt, 'table' | 'id' | 'field'>;
const lacking = new WeakMap<JsonObject, readonly Lacking[]>();

/** Returns the fields that one row of a table lacks, unless it has them under a misspelt name. */
function missingFields(database: JsonObject): readonly Lacking[] {
  const known = remembered(misspelt, database, () => misspeltFields(database));
  return Object.entries(database).flatMap(([table, rows]) => {
    if (!isObject(rows) || !isTable(rows)) return [];
    const { all, missing } = fieldsOf(rows);
    return missing.flatMap((field) => {
      const [id] = all.find(([, row]) => !Object.hasOwn(row, field)) ?? [];
      const isMisspelt = known.some((each) => each.table === table && each.id === id && each.meant === field);
      return id === undefined || isMisspelt ? [] : [{ table, id, field }];
    });
  });
}

type Dated = { readonly path: readonly string[]; readonly text: string };
const wrong = new WeakMap<JsonObject, readonly Dated[]>();

/** Returns the texts that are written as dates and do not exist, in fields that have dates in other rows. */
function wrongDates(database: JsonObject): readonly Dated[] {
  const dated = new Set<string>();
  const found: Dated[] = [];
  const visit = (value: Json, path: readonly string[]): void => {
    if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(value)) {
      const read = calendarDay(value, 'UTC');
      if ('day' in read) dated.add(columnOf(path));
      else if (read.problem === 'does not exist') found.push({ path, text: value });
    } else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) visit(each, [...path, key]);
  };
  visit(database, []);
  return found.filter(({ path }) => dated.has(columnOf(path)));
}

const columnOf = ([table, , ...field]: readonly string[]) => JSON.stringify([table, ...field]);

/** The place of a key. The text is searched, since positions of a large database are not kept. */
function placeOfKey(source: Source, path: readonly string[]) {
  return locate(source, offsetOf(source, path) + 1, path.at(-1)?.length ?? 0);
}

function placeOfValue(source: Source, path: readonly string[], value: string) {
  return locate(source, Math.max(0, source.text.indexOf(value, offsetOf(source, path))), value.length);
}

/** Returns the offset of the last of these keys in the text, each after the one before it. */
const offsetOf = ({ text }: Source, path: readonly string[]) =>
  path.reduce((from, key) => Math.max(from, text.indexOf(JSON.stringify(key), from)), 0);
