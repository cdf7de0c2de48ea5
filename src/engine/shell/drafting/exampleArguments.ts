import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { referredBy } from '../../core/jsonPointer.ts';
import { patternOf } from '../../core/schemaPattern.ts';
import type { Tool } from '../../core/tool.ts';
import { patternText } from './patternText.ts';

/** Deeper than any schema that a person would fill in. */
const deepest = 8;
/** Values and items of one list at most: a schema of a server can ask for more than a machine holds. */
const mostValues = 200;
const mostItems = 20;
const longestText = 200;

/** What is being made, how many values it may still get, and the schemas that this value is a part of. */
type Making = { readonly root: JsonObject; left: number; readonly within: Set<JsonObject> };

/**
 * Arguments that fit a tool's JSON Schema: its own defaults and examples, else values that say what they stand for. Only
 * what the schema requires is there, or all of it where nothing is.
 */
export function exampleArguments({ parameters }: Pick<Tool, 'parameters'>): JsonObject {
  const made = exampleOf(parameters, 'value', { root: parameters, left: mostValues, within: new Set() }, 0);
  return isObject(made) ? made : {};
}

/**
 * Returns a value that fits a schema, or undefined if the schema contains itself or the arguments are already too large.
 * The caller then omits the value if the schema allows that.
 */
function exampleOf(schema: Json | undefined, name: string, making: Making, depth: number): Json | undefined {
  if (making.left <= 0 || depth > deepest || schema === false) return undefined;
  if (!isObject(schema)) {
    making.left -= 1;
    return `example ${wordsOf(name)}`;
  }
  if (making.within.has(schema)) return undefined;
  making.within.add(schema);
  try {
    return exampleWithin(schema, name, making, depth);
  } finally {
    making.within.delete(schema);
  }
}

function exampleWithin(schema: JsonObject, name: string, making: Making, depth: number): Json | undefined {
  if (typeof schema.$ref === 'string') return exampleOf(referredBy(making.root, schema.$ref), name, making, depth + 1);
  if (listOf(schema.allOf).length > 0) return exampleOf(together(schema, making.root), name, making, depth + 1);
  making.left -= 1;
  const given = [schema.const, schema.default, listOf(schema.examples)[0], listOf(schema.enum)[0]];
  const first = given.find((each) => each !== undefined && each !== null);
  if (first !== undefined) return first;
  const forms = [schema.anyOf, schema.oneOf].flatMap(listOf);
  if (schema.type === undefined && forms.length > 0) {
    // The form that says nothing but null is the last choice.
    for (const form of forms.toSorted((a, b) => Number(isNull(a)) - Number(isNull(b)))) {
      const made = exampleOf(form, name, making, depth + 1);
      if (made !== undefined) return made;
    }
    return undefined;
  }
  switch (typeOf(schema)) {
    case 'object':
      return exampleObject(schema, making, depth);
    case 'array':
      return exampleList(schema, name, making, depth);
    case 'integer':
    case 'number':
      return exampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema, name);
  }
}

function exampleObject(schema: JsonObject, making: Making, depth: number): JsonObject | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = listOf(schema.required).map(String);
  const names = required.length > 0 || depth === 0 ? required : Object.keys(properties);
  const made: [string, Json][] = [];
  for (const name of names) {
    const value = exampleOf(properties[name], name, making, depth + 1);
    if (value !== undefined) made.push([name, value]);
    else if (required.includes(name)) return undefined;
  }
  for (let at = 1; made.length < Math.min(Number(schema.minProperties ?? 0), mostItems); at += 1) {
    const value = exampleOf(schema.additionalProperties, `value ${at}`, making, depth + 1);
    if (value === undefined) return undefined;
    made.push([`key${at}`, value]);
  }
  return Object.fromEntries(made);
}

/** Returns a schema and the parts of its `allOf` as one schema, which a value fits that fits them all. */
function together({ allOf, ...own }: JsonObject, root: JsonObject): JsonObject {
  const parts = [...listOf(allOf), own].map((part) => {
    const schema = isObject(part) && typeof part.$ref === 'string' ? referredBy(root, part.$ref) : part;
    return isObject(schema) ? schema : {};
  });
  const properties = Object.assign({}, ...parts.map((part) => (isObject(part.properties) ? part.properties : {})));
  const required = [...new Set(parts.flatMap((part) => listOf(part.required)))];
  const nested = parts.flatMap((part) => (part === own ? [] : listOf(part.allOf)));
  return {
    ...Object.assign({}, ...parts),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
    allOf: nested,
  };
}

/** A tuple has all of its places; any other list has one item, where its schema lets it. */
function exampleList(schema: JsonObject, name: string, making: Making, depth: number): readonly Json[] | undefined {
  const places = listOf(schema.prefixItems ?? schema.items);
  const rest = schema.prefixItems === undefined && places.length > 0 ? schema.additionalItems : schema.items;
  const least = Number(schema.minItems ?? 0);
  const most = Math.min(Number(schema.maxItems ?? mostItems), mostItems);
  const length = Math.min(Math.max(1, least, places.length), most);
  const items: Json[] = [];
  for (let at = 0; at < length; at += 1) {
    const own = places[at] ?? rest;
    const item = exampleOf(own, singular(name), making, depth + 1);
    if (item === undefined) break;
    items.push(schema.uniqueItems === true ? other(own, item, at, making.root) : item);
  }
  return items.length < Math.min(least, mostItems) ? undefined : items;
}

/** The least that a schema takes, and 1 where it does not say. In older drafts, `exclusiveMinimum: true` excludes `minimum`. */
function exampleNumber(schema: JsonObject): number {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const bound = (inclusive: Json | undefined, exclusive: Json | undefined, towards: number) => {
    if (typeof exclusive === 'number') return exclusive + towards;
    return typeof inclusive === 'number' ? inclusive + (exclusive === true ? towards : 0) : undefined;
  };
  const lower = bound(minimum, exclusiveMinimum, step);
  const most = bound(maximum, exclusiveMaximum, -step) ?? Number.POSITIVE_INFINITY;
  const least = lower ?? 1;
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return lower ?? Math.min(1, most);
  const up = Math.ceil(least / multipleOf) * multipleOf;
  return up <= most ? up : Math.floor(most / multipleOf) * multipleOf;
}

/** The value that stands at a place of a list without repetitions, made of the one that stands first. */
function other(schema: Json | undefined, value: Json, at: number, root: JsonObject): Json {
  if (at === 0 || !isObject(schema)) return value;
  if (typeof schema.$ref === 'string') return other(referredBy(root, schema.$ref), value, at, root);
  const choices = listOf(schema.enum);
  if (choices.length > 0) return choices[at % choices.length] ?? value;
  switch (typeof value) {
    case 'string':
      return otherText(schema, value, at);
    case 'number':
      return value + at * (typeof schema.multipleOf === 'number' ? schema.multipleOf : 1);
    case 'boolean':
      return !value;
    default:
      return isObject(value) ? otherObject(schema, value, at, root) : value;
  }
}

function otherText({ maxLength }: JsonObject, value: string, at: number): string {
  const end = ` ${at + 1}`;
  return `${typeof maxLength === 'number' ? value.slice(0, Math.max(0, maxLength - end.length)) : value}${end}`;
}

function otherObject({ properties }: JsonObject, value: JsonObject, at: number, root: JsonObject): JsonObject {
  const known = isObject(properties) ? properties : {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, other(known[name], each, at, root)]));
}

const formats = new Map(
  Object.entries({
    date: '2026-03-02',
    'date-time': '2026-03-02T09:00:00Z',
    email: 'someone@example.com',
    uri: 'https://example.com/',
    url: 'https://example.com/',
    uuid: '00000000-0000-4000-8000-000000000000',
  }),
);

function exampleText({ format, pattern, minLength = 0, maxLength }: JsonObject, name: string): string {
  const text = formats.get(String(format)) ?? `example ${wordsOf(name)}`;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  const least = Number(minLength);
  const plain = text.padEnd(Math.min(least, longestText), '.').slice(0, most);
  if (typeof pattern !== 'string') return plain;
  const compiled = patternOf(pattern);
  const fits = (made: string) => compiled.test(made) && made.length >= least && made.length <= most;
  return fits(plain) ? plain : (patternText(pattern, least, fits) ?? plain);
}

/** The type of a schema; of several the first that is something. */
function typeOf(schema: JsonObject): string {
  const types = listOf(schema.type).map(String);
  const named = typeof schema.type === 'string' ? schema.type : types.find((type) => type !== 'null');
  if (named !== undefined) return named;
  if (isObject(schema.properties)) return 'object';
  return schema.items === undefined && schema.prefixItems === undefined ? 'string' : 'array';
}

/** A name of code as people write it: `entityType` is "entity type". */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z\d]+/g, ' ')
    .trim()
    .toLowerCase();
}

const singular = (name: string) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const isNull = (value: Json) => isObject(value) && value.type === 'null';
