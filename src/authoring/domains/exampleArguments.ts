import type { Tool } from '../../engine/core/domain/tool.ts';
import { isObject, type Json, type JsonObject, objectOf } from '../../engine/core/values/json.ts';
import { referredBy } from '../../engine/core/values/jsonPointer.ts';
import { patternOf, schemaPattern } from '../../engine/core/values/schemaPattern.ts';
import { exactErrors, integersIn } from '../../engine/shell/load/exactErrors.ts';
import { compileSchema } from '../../engine/shell/load/schemaCompiler.ts';
import { exampleNumber } from './exampleNumber.ts';
import { mergedSchemas } from './mergedSchemas.ts';
import { patternText } from './patternText.ts';

/** Deeper than any schema that a person would fill in. */
const deepest = 8;
/** Values and items of one list at most: a schema of a server can ask for more than a machine holds. */
const mostValues = 200;
const mostItems = 20;
const longestText = 1000;
/** The most sets of arguments to try until one is valid. */
const mostTries = 200;
const mostWaiting = 2000;

/** The state of making a value: its root schema, the number of values left, and the schemas that contain this value. */
type ExampleState = {
  readonly root: JsonObject;
  left: number;
  readonly within: Set<JsonObject>;
  /** Returns the number of a choice, where a schema can be followed in several ways. */
  readonly choose: (count: number) => number;
};

/**
 * Returns arguments that fit a tool's JSON Schema: its own defaults and examples, else placeholders that name what is expected.
 * Only what the schema requires is there, or all of it where nothing is. Where nothing that fits was found, or the schema
 * cannot be compiled, they are the first that were made.
 */
export function exampleArguments({ parameters }: Pick<Tool, 'parameters'>): JsonObject {
  const compiled = compileSchema(parameters);
  const fits = (made: JsonObject) =>
    'problem' in compiled ||
    exactErrors(compiled, { schema: parameters, value: made, integers: integersIn(parameters, made) }).length === 0;
  let first: JsonObject | undefined;
  // The plainest choice is the first one everywhere. What differs from it in few choices is tried before the rest.
  const waiting: (readonly number[])[] = [[]];
  for (let tries = 0; tries < mostTries && waiting.length > 0; tries += 1) {
    const choices = waiting.shift() ?? [];
    const counts: number[] = [];
    const choose = (count: number) => choices[counts.push(count) - 1] ?? 0;
    const made = exampleOf(parameters, 'value', { root: parameters, left: mostValues, within: new Set(), choose }, 0);
    if (isObject(made)) {
      if (fits(made)) return made;
      first ??= made;
    }
    for (const [at, count] of counts.entries())
      for (let other = 1; at >= choices.length && other < count && waiting.length < mostWaiting; other += 1)
        waiting.push([...choices, ...counts.slice(choices.length, at).fill(0), other]);
  }
  return first ?? {};
}

/** Returns one of several, by choice. */
function chosen<Each>(state: ExampleState, all: readonly Each[]): Each | undefined {
  return all.length > 1 ? all[state.choose(all.length)] : all[0];
}

/**
 * Returns a value that fits a schema, or undefined if the schema contains itself or the arguments are already too large.
 * The caller then omits the value if the schema allows that.
 */
function exampleOf(schema: Json | undefined, name: string, state: ExampleState, depth: number): Json | undefined {
  if (state.left <= 0 || depth > deepest || schema === false) return undefined;
  state.left -= 1;
  if (!isObject(schema)) return `example ${spacedName(name)}`;
  const entered = new Set<JsonObject>();
  const flat = flattened(schema, state, entered);
  const made = flat && exampleWithin(flat, name, state, depth);
  for (const each of entered) state.within.delete(each);
  return made;
}

/**
 * Returns a schema as one without references and combinations, by the forms that are chosen of it. Undefined where the value
 * would contain itself.
 * @param entered gets the schemas that it is made of
 */
function flattened(schema: JsonObject, state: ExampleState, entered: Set<JsonObject>): JsonObject | undefined {
  if (entered.has(schema)) return {};
  if (state.within.has(schema)) return undefined;
  state.within.add(schema);
  entered.add(schema);
  const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise, ...own } = schema;
  const forms = [anyOf, oneOf].map(listOf).flatMap((all) => chosen(state, all.toSorted(nullLast)) ?? []);
  const branches = [
    ...(condition !== undefined && then !== undefined ? [[condition, then]] : []),
    ...(condition !== undefined && (then !== undefined || otherwise !== undefined) ? [[otherwise ?? true]] : []),
  ];
  const referred = typeof $ref === 'string' ? [referredBy(state.root, $ref)] : [];
  let flat: JsonObject = own;
  for (const part of [...referred, ...listOf(allOf), ...forms, ...(chosen(state, branches) ?? [])]) {
    if (part === false) return undefined;
    const more = isObject(part) ? flattened(part, state, entered) : {};
    if (!more) return undefined;
    flat = mergedSchemas(more, flat);
  }
  return flat;
}

function exampleWithin(schema: JsonObject, name: string, state: ExampleState, depth: number): Json | undefined {
  if (schema.const !== undefined) return schema.const;
  const choices = listOf(schema.enum);
  const given = [schema.default, ...listOf(schema.examples), ...choices].filter((each) => (each ?? null) !== null);
  if (given.length === 0 && choices.includes(null)) return null;
  const isFree = choices.length === 0;
  const at = given.length + Number(isFree) > 1 ? state.choose(given.length + Number(isFree)) : 0;
  if (at < given.length) return given[at];
  switch (chosen(state, typesOf(schema))) {
    case 'object':
      return exampleObject(schema, state, depth);
    case 'array':
      return exampleList(schema, name, state, depth);
    case 'integer':
      return exampleNumber(schema, true);
    case 'number':
      return exampleNumber(schema, false);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema, name);
  }
}

/** Properties that a schema has, by name, and those that it needs. */
type Fields = { readonly schema: JsonObject; readonly names: readonly string[] };

function exampleObject(written: JsonObject, state: ExampleState, depth: number): JsonObject | undefined {
  const { schema, names } = fieldsOf(written, state, depth);
  const required = listOf(schema.required);
  const made: [string, Json][] = [];
  const min = Math.min(Number(schema.minProperties ?? 0), mostItems);
  const others = Object.keys(objectOf(schema.properties)).filter((name) => !names.includes(name));
  for (const name of [...names, ...others.slice(0, Math.max(0, min - names.length))]) {
    const value = exampleOf(schemaOf(schema, name), name, state, depth + 1);
    if (value !== undefined) made.push([name, value]);
    else if (required.includes(name)) return undefined;
  }
  for (let at = 1; made.length < min; at += 1) {
    const name = freeName(schema, new Set(made.map(([taken]) => taken)), state, depth);
    const value = exampleOf(schemaOf(schema, name), `value ${at}`, state, depth + 1);
    if (value === undefined) return undefined;
    made.push([name, value]);
  }
  return Object.fromEntries(made);
}

/** Returns which properties are made of a schema, and the schema with what these properties demand. */
function fieldsOf(written: JsonObject, state: ExampleState, depth: number): Fields {
  let schema = written;
  const all = Object.keys(objectOf(written.properties));
  const required = listOf(written.required).map(String);
  const wanted = required.length > 0 || depth === 0 ? required : all;
  const hasMore = all.length > wanted.length;
  const names = new Set(hasMore && state.choose(2) === 1 ? [...wanted, ...all] : wanted);
  for (const name of names) {
    for (const dependents of [schema.dependentRequired, schema.dependencies])
      for (const each of listOf(objectOf(dependents)[name])) names.add(String(each));
    for (const dependents of [schema.dependentSchemas, schema.dependencies]) {
      const more = objectOf(dependents)[name];
      if (!isObject(more)) continue;
      const entered = new Set<JsonObject>();
      schema = mergedSchemas(flattened(more, state, entered) ?? {}, schema);
      for (const each of entered) state.within.delete(each);
      for (const each of listOf(schema.required)) names.add(String(each));
    }
  }
  return { schema, names: [...names] };
}

/** Returns the schema of a property, whatever keyword has it. */
function schemaOf({ properties, patternProperties, additionalProperties }: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(objectOf(properties), name)) return objectOf(properties)[name];
  const patterns = Object.entries(objectOf(patternProperties));
  return patterns.find(([pattern]) => patternOf(pattern).test(name))?.[1] ?? additionalProperties;
}

/** Returns a name for a further property of an object. */
function freeName(schema: JsonObject, taken: ReadonlySet<string>, state: ExampleState, depth: number): string {
  const at = taken.size + 1;
  const { propertyNames, patternProperties, additionalProperties } = schema;
  const [pattern] = Object.keys(objectOf(patternProperties));
  if (pattern !== undefined && additionalProperties === false)
    return patternText(pattern, at, (text) => !taken.has(text)) ?? `key${at}`;
  if (!isObject(propertyNames)) return `key${at}`;
  const name = exampleOf(propertyNames, `key ${at}`, state, depth + 1);
  return String(other(propertyNames, name ?? `key${at}`, at - 1, state.root));
}

/** A tuple has all of its places; any other list has one item, where its schema lets it. */
function exampleList(
  schema: JsonObject,
  name: string,
  state: ExampleState,
  depth: number,
): readonly Json[] | undefined {
  const places = listOf(schema.prefixItems ?? schema.items);
  const rest = schema.prefixItems === undefined && places.length > 0 ? schema.additionalItems : schema.items;
  const contained = schema.contains === undefined ? 0 : Math.min(Number(schema.minContains ?? 1), mostItems);
  const start = contained > 0 && places.length > 0 ? (chosen(state, [places.length, 0]) ?? 0) : 0;
  const min = Math.max(Number(schema.minItems ?? 0), contained);
  const max = Math.min(Number(schema.maxItems ?? mostItems), mostItems);
  const length = Math.min(Math.max(1, min, places.length, start + contained), max);
  const items: Json[] = [];
  for (let at = 0; at < length; at += 1) {
    const place = places[at] ?? rest;
    const isContained = at >= start && at < start + contained;
    const own = isContained ? { allOf: [place ?? true, schema.contains ?? true] } : place;
    const item = exampleOf(own, singular(name), state, depth + 1);
    if (item === undefined) break;
    items.push(schema.uniqueItems === true ? other(own, item, at, state.root) : item);
  }
  return items.length < Math.min(min, mostItems) ? undefined : items;
}

/** The value that is at a place of a list without repetitions, made of the one that is first. */
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
  const known = objectOf(properties);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, other(known[name], each, at, root)]));
}

const formats = new Map(
  Object.entries({
    date: '2026-03-02',
    'date-time': '2026-03-02T09:00:00Z',
    email: 'someone@example.com',
    hostname: 'example.com',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
    time: '09:00:00',
    uri: 'https://example.com/',
    url: 'https://example.com/',
    uuid: '00000000-0000-4000-8000-000000000000',
  }),
);

function exampleText({ format, pattern, minLength = 0, maxLength }: JsonObject, name: string): string {
  const text = formats.get(String(format)) ?? `example ${spacedName(name)}`;
  const max = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  const min = Number(minLength);
  const plain = text.padEnd(Math.min(min, longestText), '.').slice(0, max);
  if (typeof pattern !== 'string') return plain;
  const compiled = patternOf(pattern);
  const fits = (made: string) => compiled.test(made) && made.length >= min && made.length <= max;
  // What Rehearsal cannot check, the server does.
  const isKnown = schemaPattern(pattern).pattern !== undefined;
  return isKnown && fits(plain) ? plain : (patternText(pattern, min, fits) ?? plain);
}

/** Returns the types of a schema, the one that is nothing last. */
function typesOf(schema: JsonObject): readonly string[] {
  const types = [schema.type ?? []].flat().map(String);
  if (types.length > 0) return types.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
  const has = (...keys: readonly string[]) => keys.some((key) => schema[key] !== undefined);
  if (has('properties', 'required', 'minProperties', 'patternProperties', 'dependentRequired')) return ['object'];
  if (has('items', 'prefixItems', 'contains', 'minItems')) return ['array'];
  return has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf') ? ['number'] : ['string'];
}

/** A name of code as people write it: `entityType` is "entity type". */
export function spacedName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z\d]+/g, ' ')
    .trim()
    .toLowerCase();
}

const singular = (name: string) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const isNull = (value: Json) => isObject(value) && value.type === 'null';
const nullLast = (a: Json, b: Json) => Number(isNull(a)) - Number(isNull(b));
