import { isObject, type Json, type JsonObject } from './json.ts';
import { pointerKey, referredBy } from './jsonPointer.ts';
import { patternOf } from './schemaPattern.ts';

// Whole numbers that a JavaScript number cannot hold. In recordings, states and arguments such a number is a text of its
// digits, as the files of a domain have it. In JSON that is sent to a tool it is a number again: where a call marks it as
// one, since it was a number where the call was parsed, and where the schema of the tool has a number.

type Revive = (key: string, value: Json, context?: { readonly source?: string }) => unknown;

/** `JSON.parse` gives the source of a number to the reviver (ES2026), which the types of this TypeScript do not know. */
const parseWithSource = JSON.parse as (text: string, revive: Revive) => unknown;
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON: (value: unknown) => boolean;
};

/** Returns whether a value is a number that `JSON.stringify` writes with all its digits. */
export const isExactNumber = (value: unknown): boolean => isRawJSON(value);

/** Returns whether a text may have a number that is too large; most texts have none, and are parsed as usual. */
const mayHaveLarge = (text: string) => /\d{16}/.test(text);

/**
 * Returns whether a text is the digits of a whole number beyond those that a JavaScript number is safe for. Some of these
 * numbers are exact, but the type of an id cannot depend on its value.
 */
export const isLargeInteger = (text: string): boolean =>
  /^-?[1-9]\d{15,}$/.test(text) && !Number.isSafeInteger(Number(text));

/** Parses JSON, with a text of digits in place of each number that is too large. Throws a SyntaxError. */
export function exactJson(text: string, revive?: (key: string, value: Json) => unknown): Json {
  if (!mayHaveLarge(text)) return JSON.parse(text, revive) as Json;
  return parseWithSource(text, (key, value, { source = '' } = {}) =>
    typeof value === 'number' && isLargeInteger(source) ? source : revive ? revive(key, value) : value,
  ) as Json;
}

/** Returns the value of a JSON text as `exactJson` reads it, or undefined for a text that is not JSON. */
export function exactJsonOf(text: string): Json | undefined {
  try {
    return exactJson(text);
  } catch {
    return undefined;
  }
}

/** Returns a part of a JSON text as compact JSON in which every whole number keeps its digits. Throws a SyntaxError. */
export function exactText(text: string, part: (value: never) => unknown): string {
  return JSON.stringify(part(rawJson(text) as never));
}

/**
 * Returns whether a JSON text has a whole number beyond those that a JavaScript number is safe for. False for a text that is
 * not JSON.
 */
export function losesDigits(text: string): boolean {
  if (!mayHaveLarge(text)) return false;
  let loses = false;
  try {
    parseWithSource(text, (_, value, { source = '' } = {}) => {
      loses ||= typeof value === 'number' && isLargeInteger(source);
      return value;
    });
  } catch {
    return false;
  }
  return loses;
}

/**
 * Returns a value that `JSON.stringify` writes as the JSON text that it is made of, with all digits. A large float is written
 * as it was too: without its point or exponent it would be an integer.
 */
export function rawJson(text: string): unknown {
  return parseWithSource(text, (_, value, { source = '' } = {}) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? rawJSON(source) : value,
  );
}

/** Returns a value that `JSON.stringify` writes with each number as the JSON text has it, such as 5.0 or 1e3. */
export function writtenJson(text: string): unknown {
  return parseWithSource(text, (_, value, { source = '' } = {}) =>
    typeof value === 'number' && String(value) !== source ? rawJSON(source) : value,
  );
}

const sourceOf = (value: unknown) => (value as { readonly rawJSON: string }).rawJSON;

/** Returns a value of `rawJson` with a text of digits in place of each exact number. A float of any size stays a number. */
export function withDigits(value: Json): Json {
  if (isExactNumber(value)) return isLargeInteger(sourceOf(value)) ? sourceOf(value) : Number(sourceOf(value));
  if (Array.isArray(value)) return value.map(withDigits);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withDigits(each)]));
}

/** Returns whether a value of `rawJson` has a whole number that a JavaScript number is not safe for. */
export const hasExactNumber = (value: Json): boolean => !exactPlaces(value, '').next().done;

/** Returns a value with the closest JavaScript number in place of each number of `exactArguments`. */
export function approximated<Value extends Json>(
  schema: JsonObject,
  given: Value,
  integers: readonly string[] = [],
): Value {
  return (hasLarge(given) ? withAllNumbers(schema, given, Number, integers) : given) as Value;
}

/**
 * Returns arguments for `JSON.stringify`, which writes the exact number where the schema has one.
 * @param integers JSON Pointers of texts that are numbers too, unless the schema has only a text there
 */
export function exactArguments(
  schema: JsonObject,
  given: JsonObject | readonly Json[],
  integers: readonly string[] = [],
): object {
  return (hasLarge(given) ? withAllNumbers(schema, given, rawJSON, integers) : given) as object;
}

function withAllNumbers(
  schema: JsonObject,
  given: Json,
  number: (text: string) => unknown,
  integers: readonly string[],
): unknown {
  return withNumbers(schema, schemaParts(schema, schema), given, number, { marked: new Set(integers), place: '' });
}

/** Returns the JSON Pointers of the numbers in a JSON text that are too large; none for a text that is not JSON. */
export function largeIntegerPlaces(text: string): readonly string[] {
  return losesDigits(text) ? [...exactPlaces(rawJson(text), '')] : [];
}

function* exactPlaces(value: unknown, place: string): Generator<string, void> {
  if (isExactNumber(value)) {
    if (isLargeInteger(sourceOf(value))) yield place;
  } else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) yield* exactPlaces(each, `${place}/${pointerKey(key)}`);
}

const hasLarge = (value: Json): boolean => !largeTexts(value, '').next().done;

/** Returns the JSON Pointers of the texts in a value that are digits of a number that is too large. */
export const largeTextPlaces = (value: Json): readonly string[] => [...largeTexts(value, '')];

function* largeTexts(value: Json, place: string): Generator<string, void> {
  if (typeof value === 'string') {
    if (value.length > 15 && isLargeInteger(value)) yield place;
  } else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) yield* largeTexts(each, `${place}/${pointerKey(key)}`);
}

/** The paths of the texts that were numbers, and the path of the value in the arguments. */
type Marks = { readonly marked: ReadonlySet<string>; readonly place: string };

function withNumbers(
  root: JsonObject,
  schemas: readonly JsonObject[],
  value: Json,
  number: (text: string) => unknown,
  { marked, place }: Marks,
): unknown {
  if (typeof value === 'string') {
    if (!isLargeInteger(value)) return value;
    return areNumeric(schemas) || (marked.has(place) && !areTexts(schemas)) ? number(value) : value;
  }
  const convert = (key: string, each: Json, subschemaOf: (schema: JsonObject) => Json | undefined) =>
    withNumbers(root, schemaParts(root, ...schemas.map(subschemaOf)), each, number, {
      marked,
      place: `${place}/${pointerKey(key)}`,
    });
  if (Array.isArray(value)) return value.map((each, at) => convert(`${at}`, each, (schema) => itemSchema(schema, at)));
  if (!isObject(value) || isExactNumber(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, convert(key, each, (schema) => propertySchema(schema, key))]),
  );
}

function propertySchema(schema: JsonObject, key: string): Json | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  const patterns = isObject(patternProperties) ? Object.entries(patternProperties) : [];
  return patterns.find(([pattern]) => patternOf(pattern).test(key))?.[1] ?? additionalProperties;
}

/** Returns the schema of an item, in a tuple of draft 2020-12 (`prefixItems`) or of an earlier draft. */
function itemSchema({ prefixItems, items, additionalItems }: JsonObject, at: number): Json | undefined {
  if (Array.isArray(prefixItems) && at < prefixItems.length) return prefixItems[at];
  if (!Array.isArray(items)) return items;
  return at < items.length ? items[at] : additionalItems;
}

/** Returns whether schemas allow a number and no text. */
const areNumeric = (schemas: readonly JsonObject[]): boolean =>
  hasNumber(schemas) && !typesOf(schemas).includes('string');

/** Returns whether schemas allow a text and no number. */
const areTexts = (schemas: readonly JsonObject[]): boolean =>
  typesOf(schemas).includes('string') && !hasNumber(schemas);

const hasNumber = (schemas: readonly JsonObject[]) =>
  typesOf(schemas).some((type) => type === 'integer' || type === 'number');

const typesOf = (schemas: readonly JsonObject[]) => schemas.flatMap(({ type = [] }) => type as Json);

/** Returns schemas, and those that they refer to and combine, once each. */
export function schemaParts(root: JsonObject, ...schemas: readonly (Json | undefined)[]): readonly JsonObject[] {
  const parts = new Set<JsonObject>();
  const add = (schema: Json | undefined) => {
    if (!isObject(schema) || parts.has(schema)) return;
    parts.add(schema);
    const { $ref, allOf, anyOf, oneOf, then, else: otherwise } = schema;
    for (const each of [referredBy(root, $ref), allOf, anyOf, oneOf, then, otherwise].flat() as Json[]) add(each);
  };
  for (const schema of schemas) add(schema);
  return [...parts];
}
