import type { World } from '../domain/domain.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { readView } from '../world/database.ts';

/** Fields that say what a row is called. */
export const naming = /(?:^|_)(?:title|name|label|subject|product|model)$/i;
/** Fields of rows that are about people: naming its customer does not name an order. */
const personal = /e_?mail|phone|birth|postcode|password|^pin$|first_?name|last_?name/i;

type Row = { readonly table: JsonObject; readonly row: JsonObject };

/**
 * Returns what people call the row that an argument is the id of: its title or name, or that of a thing that it refers
 * to (a loan by the title of its book). A text that other rows have as well, of those it could be confused with, is
 * left out.
 * @param rivals ids that the call could have had instead, as far as the conversation tells
 */
export function namesOfRow(id: string, argument: string, world: World, rivals: readonly string[]): readonly string[] {
  return namingOf(id, argument, world, rivals).flatMap(({ text, others }) => (others.length === 0 ? [text] : []));
}

/** A text that several rows have, and the fields in which all of the others differ from the row. */
export type SharedName = { readonly text: string; readonly ids: readonly string[]; readonly fields: readonly string[] };

/** Returns the texts that `namesOfRow` leaves out. */
export function sharedNamesOfRow(
  id: string,
  argument: string,
  world: World,
  rivals: readonly string[],
): readonly SharedName[] {
  return namingOf(id, argument, world, rivals).flatMap(({ text, row, others }): readonly SharedName[] => {
    if (others.length === 0) return [];
    const isTelling = ([key, value]: readonly [string, Json]) =>
      isScalar(value) && value !== id && others.every(([, other]) => other[key] !== value);
    const fields = Object.entries(row).filter(isTelling);
    return [{ text, ids: [id, ...others.map(([key]) => key)], fields: fields.map(([key]) => key) }];
  });
}

const isScalar = (value: Json) => typeof value === 'string' || typeof value === 'number';

/** Returns each text that people call a row by, with the other rows that it could mean. */
function namingOf(id: string, argument: string, world: World, rivals: readonly string[]) {
  const database = [world.agent, world.user].map(readView);
  const found = rowOf(id, argument, database);
  if (!found) return [];
  const { table, row } = found;
  const owners = ownersOf(row, database);
  const isRival = (key: string, other: JsonObject) => rivals.includes(key) || isOfOneOf(owners, other);
  const others = Object.entries(table).flatMap(([key, other]) => {
    if (key === id || !isObject(other) || !isRival(key, other)) return [];
    return [
      { entry: [key, other] as const, texts: new Set(textsOf(other, database).map((text) => text.toLowerCase())) },
    ];
  });
  return textsOf(row, database).map((text) => ({
    text,
    row,
    others: others.flatMap(({ entry, texts }) => (texts.has(text.toLowerCase()) ? [entry] : [])),
  }));
}

/** A text that people call a row by, and the field that it is in. */
export type RowName = { readonly id: string; readonly field: string; readonly text: string };

/** Returns what people call the rows of the table that has the row of an argument's id, as `namesOfRow` does. */
export function namesInTable(id: string, argument: string, databases: readonly JsonObject[]): readonly RowName[] {
  const { table = {} } = rowOf(id, argument, databases) ?? {};
  return Object.entries(table).flatMap(([key, row]) =>
    isObject(row) ? fieldsNaming(row, databases).map(([field, text]) => ({ id: key, field, text })) : [],
  );
}

/** The row of an id: in the table that the argument is named after, else in the only table that has it. */
function rowOf(id: string, argument: string, databases: readonly JsonObject[]): Row | null {
  const base = argument.toLowerCase().replace(/_?(?:id|number|no|key)$/, '');
  const found = databases.flatMap((database) =>
    Object.entries(database).flatMap(([name, table]) => {
      const row = isObject(table) && Object.hasOwn(table, id) ? table[id] : undefined;
      return isObject(table) && isObject(row) ? [{ name: name.toLowerCase(), table, row }] : [];
    }),
  );
  const named = found.find(({ name }) => [base, `${base}s`, `${base}es`, base.replace(/y$/, 'ies')].includes(name));
  return named ?? (found.length === 1 ? (found[0] ?? null) : null);
}

const textsOf = (row: JsonObject, databases: readonly JsonObject[]) =>
  fieldsNaming(row, databases).map(([, text]) => text);

type Field = readonly [name: string, text: string];

/** The names of a row, and of the things that it refers to. */
function fieldsNaming(row: JsonObject, databases: readonly JsonObject[]): readonly Field[] {
  const referred = referencesOf(row, databases).filter(({ row: other }) => !isPerson(other));
  return [row, ...referred.map(({ row: other }) => other)].flatMap(ownFields);
}

function ownFields(row: JsonObject): readonly Field[] {
  return Object.entries(row).flatMap(([key, value]): readonly Field[] =>
    naming.test(key) && typeof value === 'string' && /\p{L}{2}/u.test(value) ? [[key, value]] : [],
  );
}

/** Returns whether the fields of a row are those of a person. */
export const isPerson = (row: JsonObject) => Object.keys(row).some((key) => personal.test(key));

type Reference = { readonly id: string; readonly row: JsonObject };

/** The rows whose ids a row has in its fields. */
function referencesOf(row: JsonObject, databases: readonly JsonObject[]): readonly Reference[] {
  return Object.values(row).flatMap((value: Json): readonly Reference[] => {
    if (typeof value !== 'string') return [];
    return databases.flatMap((database) =>
      Object.values(database).flatMap((table) => {
        const other = isObject(table) && Object.hasOwn(table, value) ? table[value] : undefined;
        return isObject(other) ? [{ id: value, row: other }] : [];
      }),
    );
  });
}

/** Returns the ids of the people whom a row belongs to. */
function ownersOf(row: JsonObject, databases: readonly JsonObject[]): readonly string[] {
  return referencesOf(row, databases).flatMap((each) => (isPerson(each.row) ? [each.id] : []));
}

/** Returns whether a row belongs to one of the people. Without any, each row does. */
function isOfOneOf(owners: readonly string[], row: JsonObject): boolean {
  if (owners.length === 0) return true;
  const values = Object.values(row);
  return owners.some((id) => values.includes(id));
}
