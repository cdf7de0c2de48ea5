import { calendarDay } from '../../core/text/calendar.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';

/** A value that one row of a table has, and that no other row has the like of in this field. */
export type OddValue = {
  readonly path: readonly [table: string, id: string, field: string];
  readonly value: string;
} & ({ readonly others: 'number' | 'boolean' | 'date' } | { readonly table: string });

/** Rows from which it shows what a field has. */
const fewestRows = 3;

/**
 * Returns the texts of one row in a field where all other rows have numbers, true or false, dates in ISO 8601, or ids of one
 * table. A text counts where it is a number, true or false, a date, or an id of the same form, written otherwise.
 */
export function oddValuesIn(database: JsonObject): readonly OddValue[] {
  const tables = Object.entries(database).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
  return tables.flatMap(([table, rows]) => {
    const all = Object.entries(rows).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
    if (all.length < fewestRows) return [];
    const fields = Object.keys(all[0]?.[1] ?? {});
    return fields.flatMap((field) => {
      const found = oddIn(
        all.map(([id, row]) => [id, row[field]] as const),
        tables,
      );
      return found ? [{ ...found, path: [table, found.id, field] as const }] : [];
    });
  });
}

type Cell = readonly [id: string, value: Json | undefined];

function oddIn(cells: readonly Cell[], tables: readonly (readonly [string, JsonObject])[]) {
  const given = cells.filter(([, value]) => value !== undefined && value !== null && value !== '');
  if (given.length < fewestRows) return null;
  for (const type of ['number', 'boolean'] as const) {
    const odd = onlyOne(given, (value) => typeof value === type);
    if (odd && isWritten(odd.value, type)) return { ...odd, others: type };
  }
  const date = onlyOne(given, (value) => typeof value === 'string' && isoDate.test(value));
  if (date && isWritten(date.value, 'date')) return { ...date, others: 'date' as const };
  const [one, other] = given.slice(0, 2).map(([, value]) => String(value));
  if (one === undefined || other === undefined || typeof given[0]?.[1] !== 'string') return null;
  for (const [table, rows] of tables) {
    if (!Object.hasOwn(rows, one) && !Object.hasOwn(rows, other)) continue;
    const odd = onlyOne(given, (value) => typeof value === 'string' && Object.hasOwn(rows, value));
    const isId = odd && Object.keys(rows).some((id) => formOf(id) === formOf(odd.value) && /\d/.test(id));
    if (isId && !tables.some(([, each]) => Object.hasOwn(each, odd.value))) return { ...odd, table };
  }
  return null;
}

const isoDate = /^\d{4}-\d{2}-\d{2}(?:T|$)/;

/** Returns the only text that is unlike all the others. Returns null if all are alike, or if several are unlike. */
function onlyOne(cells: readonly Cell[], isLike: (value: Json) => boolean) {
  let odd: { readonly id: string; readonly value: string } | null = null;
  for (const [id, value] of cells) {
    if (value === undefined || isLike(value)) continue;
    if (odd !== null || typeof value !== 'string') return null;
    odd = { id, value };
  }
  return odd;
}

function isWritten(text: string, type: 'number' | 'boolean' | 'date'): boolean {
  if (type === 'number') return text.trim() !== '' && Number.isFinite(Number(text));
  if (type === 'boolean') return /^(?:true|false|yes|no)$/i.test(text);
  return (
    /\d/.test(text) && !Number.isNaN(Date.parse(text)) && !('day' in calendarDay(text, 'UTC') && isoDate.test(text))
  );
}

/** The letters of an id, with each run of digits as one sign. */
const formOf = (id: string) => id.replace(/\d+/g, '0');
