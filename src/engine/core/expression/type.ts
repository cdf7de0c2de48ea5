import { isObject, type Json, type JsonObject } from '../values/json.ts';

/** The kinds of values that are possible, as far as they are known. A type without a kind has no value. */
export type Type = {
  /** Whether the value can be something unknown, so that no finding about it is possible. */
  readonly any?: true;
  readonly null?: true;
  readonly boolean?: true;
  readonly number?: true;
  readonly text?: Texts;
  readonly list?: Type;
  readonly object?: ObjectType;
};

/** The known texts of a value, and their source: the names of tools, a schema, rows, or examples. */
export type Texts = { readonly known: ReadonlySet<string>; readonly from: 'tools' | 'schema' | 'rows' | 'examples' };

export type ObjectType = {
  /** The name of the object in findings: "a row of orders". */
  readonly what: string;
  readonly fields: ReadonlyMap<string, Type>;
  /** The ids of the rows and the type of a row, if the keys are ids of rows. */
  readonly rows?: { readonly keys: ReadonlySet<string>; readonly row: Type };
  /** The path of the object in a database, with the side first and `*` for any row or element. */
  readonly place?: readonly string[];
  /** The type of a field that is not listed, or null where there cannot be one. */
  readonly other?: (name: string) => Type | null;
  /** Names that `other` accepts, to suggest one of them. */
  readonly others?: () => Iterable<string>;
  /** The kind of the fields, if they are not fields of data. */
  readonly kind?: 'tables' | 'arguments' | 'phrases' | 'facts';
  /** Returns the type of the object when its `tool` is one of these. */
  readonly narrowed?: (tools: readonly string[]) => Type;
};

export const anyType: Type = { any: true };
export const textType: Type = { text: { known: new Set(), from: 'examples' } };
export const numberType: Type = { number: true };
export const booleanType: Type = { boolean: true };
const nothing: Type = {};

export function textsFrom(from: Texts['from'], known: Iterable<string>): Type {
  return { text: { known: new Set(known), from } };
}

export const listOf = (item: Type): Type => ({ list: item });

/** An object that has these fields and no other. */
export function recordOf(what: string, fields: Readonly<Record<string, Type>>, more: Partial<ObjectType> = {}): Type {
  return { object: { what, fields: new Map(Object.entries(fields)), ...more } };
}

/** The type of a value that is of one of these types. */
export function eitherOf(types: readonly Type[]): Type {
  return types.reduce(merged, nothing);
}

function merged(one: Type, other: Type): Type {
  if (one === nothing || one === other) return other;
  if (other === nothing) return one;
  const text = bothOf(one.text, other.text, mergedTexts);
  const object = bothOf(one.object, other.object, mergedObjects);
  const list = Boolean(one.list) || Boolean(other.list);
  return {
    ...(one.any || other.any ? { any: true } : {}),
    ...(one.null || other.null ? { null: true } : {}),
    ...(one.boolean || other.boolean ? { boolean: true } : {}),
    ...(one.number || other.number ? { number: true } : {}),
    ...(text ? { text } : {}),
    ...(list
      ? {
          // Late, since a type can contain itself.
          get list() {
            return bothOf(one.list, other.list, merged) as Type;
          },
        }
      : {}),
    ...(object ? { object } : {}),
  };
}

function bothOf<T>(one: T | undefined, other: T | undefined, both: (one: T, other: T) => T): T | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : both(one, other);
}

const strength = ['tools', 'schema', 'rows', 'examples'] as const;

function mergedTexts(one: Texts, other: Texts): Texts {
  if (one.from === other.from && [...other.known].every((text) => one.known.has(text))) return one;
  const from = strength[Math.max(strength.indexOf(one.from), strength.indexOf(other.from))] ?? 'examples';
  const isSame = one.from === other.from || one.known.size === 0 || other.known.size === 0;
  return { known: union(one.known, other.known), from: isSame || from !== 'tools' ? from : 'examples' };
}

const union = (one: ReadonlySet<string>, other: ReadonlySet<string>) => new Set([...one, ...other]);

function mergedObjects(one: ObjectType, other: ObjectType): ObjectType {
  const names = new Set([...one.fields.keys(), ...other.fields.keys()]);
  const fields = new Map(
    [...names].map((name) => [name, eitherOf([one, other].flatMap(({ fields: own }) => own.get(name) ?? []))] as const),
  );
  const rows = bothOf(one.rows, other.rows, (a, b) => ({ keys: union(a.keys, b.keys), row: merged(a.row, b.row) }));
  const others = [one, other].flatMap((each) => each.others ?? []);
  const accept = [one, other].flatMap((each) => each.other ?? []);
  const narrowed = one.narrowed ?? other.narrowed;
  const place = one.place ?? other.place;
  return {
    what: one.what === other.what ? one.what : `${one.what} or ${other.what}`,
    fields,
    ...(rows ? { rows } : {}),
    ...(accept.length > 0 ? { other: (name) => firstOf(accept, name) } : {}),
    ...(others.length > 0 ? { others: () => others.flatMap((each) => [...each()]) } : {}),
    ...(place ? { place } : {}),
    ...(one.kind && one.kind === other.kind ? { kind: one.kind } : {}),
    ...(narrowed ? { narrowed } : {}),
  };
}

function firstOf(accept: readonly ((name: string) => Type | null)[], name: string): Type | null {
  for (const each of accept) {
    const found = each(name);
    if (found !== null) return found;
  }
  return null;
}

/** Matches any key, where the key is computed. */
export const anyKey = '*';

/** Returns what is under a key that is computed, or what an element is: any of what the value contains. */
export function elementOf(type: Type): Type {
  if (type.any) return anyType;
  const { list, object } = type;
  const inside = object ? [...object.fields.values(), ...(object.rows ? [object.rows.row] : [])] : [];
  const isUnknown = object !== undefined && inside.length === 0 && object.other === undefined;
  return eitherOf([
    ...(list ? [list] : []),
    ...inside,
    ...(object?.other && inside.length === 0 ? [object.other(anyKey) ?? anyType] : []),
    ...(isUnknown || (!list && !object) ? [anyType] : []),
  ]);
}

const databases = new WeakMap<JsonObject, Map<string, Type>>();

/**
 * The type of a database, read off its rows. A domain declares no schema of its data, so this is what is seen in all of
 * it.
 */
export function typeOfDatabase(database: JsonObject, side: 'agent' | 'user'): Type {
  const known = databases.get(database) ?? new Map<string, Type>();
  databases.set(database, known);
  const type = known.get(side) ?? typeOfRoot(database, side);
  known.set(side, type);
  return type;
}

function typeOfRoot(database: JsonObject, side: string): Type {
  const { object } = typeOfData([database], [side], false);
  return object ? { object: { ...object, kind: 'tables' } } : anyType;
}

function typeOfData(values: readonly Json[], place: readonly string[], mayHaveRows = true): Type {
  const objects = values.filter(isObject);
  const lists = values.filter((value) => Array.isArray(value));
  const texts = values.filter((value) => typeof value === 'string');
  const filled = objects.filter((object) => Object.keys(object).length > 0);
  return {
    ...(values.length === 0 || (objects.length > 0 && filled.length === 0) ? { any: true } : {}),
    ...(values.includes(null) ? { null: true } : {}),
    ...(values.some((value) => typeof value === 'boolean') ? { boolean: true } : {}),
    ...(values.some((value) => typeof value === 'number') ? { number: true } : {}),
    ...(texts.length > 0 ? { text: { known: new Set(texts), from: 'rows' } } : {}),
    ...(lists.length > 0 ? { list: typeOfData(lists.flat(), [...place, '*']) } : {}),
    ...(filled.length > 0 ? { object: objectType(filled, place, mayHaveRows && filled.every(isTable)) } : {}),
  };
}

function objectType(objects: readonly JsonObject[], place: readonly string[], hasRows: boolean): ObjectType {
  const what = nameOf(place);
  if (hasRows) {
    const keys = new Set(objects.flatMap((object) => Object.keys(object)));
    const inside = objects.flatMap((object) => Object.values(object));
    return { what, fields: new Map(), rows: { keys, row: typeOfData(inside, [...place, '*']) }, place };
  }
  const found = new Map<string, Json[]>();
  for (const object of objects)
    for (const [key, value] of Object.entries(object)) {
      const known = found.get(key);
      if (known) known.push(value);
      else found.set(key, [value]);
    }
  const fields = [...found].map(([key, values]) => [key, typeOfData(values, [...place, key])] as const);
  return { what, fields: new Map(fields), place };
}

function nameOf(place: readonly string[]): string {
  const name = place.slice(1).findLast((part) => part !== '*');
  if (name === undefined) return 'the database';
  return place.at(-1) === '*' ? `a row of ${name}` : name;
}

/** Rows of a table that are looked at to tell that it is one. */
const sampled = 200;

/** Whether the keys of an object are ids of rows: its values are objects of one form, or the keys have digits. */
export function isTable(object: JsonObject): boolean {
  const keys = Object.keys(object);
  if (keys.length === 0) return false;
  const rows = sample(Object.values(object));
  const haveDigits = sample(keys).every((key) => /\d/.test(key));
  if (!rows.every(isObject)) return haveDigits;
  if (rows.length === 1) return haveDigits;
  const [first = {}, ...rest] = rows as readonly JsonObject[];
  const common = Object.keys(first).filter((key) => rest.every((row) => Object.hasOwn(row, key)));
  return common.length > 0 || haveDigits || rows.every((row) => isTable(row as JsonObject));
}

/** Some of many, spread over all of them. */
export function sample<T>(all: readonly T[]): readonly T[] {
  if (all.length <= sampled) return all;
  const stride = all.length / sampled;
  return Array.from({ length: sampled }, (_, index) => all[Math.floor(index * stride)] as T);
}

/**
 * Returns what is under a key of a type: its type, or the object that has no such field. Null where neither is known.
 */
export function typeUnder(
  { any, list, object }: Type,
  key: string | number,
): { readonly type: Type } | { readonly missing: ObjectType } | null {
  if (any) return null;
  if (list) return { type: list };
  if (!object) return null;
  if (object.rows) return { type: object.rows.row };
  const type = object.fields.get(String(key));
  return type ? { type } : { missing: object };
}

/** A value that is put at a path into data. */
export type PutValue = { readonly path: readonly (string | number)[]; readonly value: Json };

/** The type with values put at paths, as the own states of tasks do. A field that no row has is not added. */
export function withValuesAt(type: Type, all: readonly PutValue[]): Type {
  const values = all.flatMap(({ path, value }) => (path.length === 0 ? [value] : []));
  const own = values.length > 0 ? eitherOf([type, typeOfData(values, [])]) : type;
  const inside = all.filter(({ path }) => path.length > 0);
  return inside.length > 0 ? withValuesInside(own, inside) : own;
}

function withValuesInside(type: Type, all: readonly PutValue[]): Type {
  const { object, list } = type;
  const inside = all.map(({ path: [key, ...path], value }) => ({ key: String(key), path, value }));
  if (list) return { ...type, list: withValuesAt(list, inside) };
  if (object?.rows) {
    const keys = new Set([...object.rows.keys, ...inside.map(({ key }) => key)]);
    return { ...type, object: { ...object, rows: { keys, row: withValuesAt(object.rows.row, inside) } } };
  }
  if (!object) return type;
  const fields = new Map(object.fields);
  for (const [key, own] of Map.groupBy(inside, (each) => each.key)) {
    const field = fields.get(key);
    if (field) fields.set(key, withValuesAt(field, own));
  }
  return { ...type, object: { ...object, fields } };
}

/** The type that a JSON Schema describes. */
export function typeOfSchema(schema: unknown, what: string): Type {
  if (!isSchema(schema)) return anyType;
  const { enum: values, type, properties, items, additionalProperties } = schema;
  const choices = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as readonly unknown[] | undefined;
  if (choices) return eitherOf(choices.map((each) => typeOfSchema(each, what)));
  if ('const' in schema) return typeOfEnum([schema['const']]);
  if (Array.isArray(values)) return typeOfEnum(values);
  if (Array.isArray(type)) return eitherOf(type.map((each) => typeOfSchema({ ...schema, type: each }, what)));
  switch (type) {
    case 'string':
      return textType;
    case 'number':
    case 'integer':
      return numberType;
    case 'boolean':
      return booleanType;
    case 'null':
      return { null: true };
    case 'array':
      return listOf(typeOfSchema(items, `an element of ${what}`));
    case 'object': {
      if (!isSchema(properties)) return anyType;
      const fields = Object.entries(properties).map(([name, each]) => [name, typeOfSchema(each, name)] as const);
      const isOpen = additionalProperties !== false && additionalProperties !== undefined;
      return isOpen ? anyType : { object: { what, fields: new Map(fields) } };
    }
    default:
      return anyType;
  }
}

function typeOfEnum(values: readonly unknown[]): Type {
  const texts = values.filter((value) => typeof value === 'string');
  return {
    ...(texts.length > 0 ? { text: { known: new Set(texts), from: 'schema' } } : {}),
    ...(values.some((value) => typeof value === 'number') ? { number: true } : {}),
    ...(values.some((value) => typeof value === 'boolean') ? { boolean: true } : {}),
    ...(values.includes(null) ? { null: true } : {}),
  };
}

const isSchema = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
