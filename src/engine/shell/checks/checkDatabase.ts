import { isTable } from '../../core/expression/type.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { respelt } from '../source/edit.ts';
import { nearest } from '../source/nearest.ts';
import type { Bases, Note } from '../source/note.ts';
import { locate, remembered, type Source } from '../source/source.ts';

/** Notes a field that one row of a table has in place of the one that all its other rows have. */
export function checkDatabase({ databases }: Parts, bases: Bases, note: Note): void {
  for (const side of ['agent', 'user'] as const) {
    const source = databases[side];
    if (source === null) continue;
    for (const { table, id, field, meant } of remembered(misspelt, bases[side], () => misspeltFields(bases[side]))) {
      const at = placeOfField(source, table, id, field);
      const message = `Only the row ${id} of ${table} has a field ${field}. All others have ${meant}.`;
      note(at, 'warning', 'database/other-field', message, `Did you mean ${meant}?`, respelt(at, field, [meant]));
    }
  }
}

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
  const all = Object.entries(rows).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
  if (all.length < fewestRows) return [];
  const counts = new Map<string, number>();
  for (const [, row] of all) for (const field in row) counts.set(field, (counts.get(field) ?? 0) + 1);
  const missing = [...counts.keys()].filter((field) => counts.get(field) === all.length - 1);
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

/** The place of a field's name. The text is searched, since positions of a large database are not kept. */
function placeOfField(source: Source, table: string, id: string, field: string) {
  const { text } = source;
  const quoted = (word: string) => JSON.stringify(word);
  const inTable = Math.max(0, text.indexOf(quoted(table)));
  const inRow = Math.max(inTable, text.indexOf(quoted(id), inTable));
  const at = Math.max(0, text.indexOf(quoted(field), inRow));
  return locate(source, at + 1, field.length);
}
