import { isObject, type Json, type JsonObject } from './json.ts';

// Whole numbers that a JavaScript number cannot hold. In recordings, states and arguments such a number is a text of its
// digits, as the files of a domain have it. In JSON that is sent to a tool it is a number again.

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

/** Returns whether a text is the digits of a whole number that a JavaScript number cannot hold. */
export const isLargeInteger = (text: string): boolean =>
  /^-?[1-9]\d{15,}$/.test(text) && (text.length > mostDigits || BigInt(text) !== BigInt(Number(text)));

/** A longer number is infinite as a JavaScript number. */
const mostDigits = 300;

/** Parses JSON, with a text of digits in place of each number that is too large. Throws a SyntaxError. */
export function exactJson(text: string, revive?: (key: string, value: Json) => unknown): Json {
  if (!mayHaveLarge(text)) return JSON.parse(text, revive) as Json;
  return parseWithSource(text, (key, value, { source = '' } = {}) =>
    typeof value === 'number' && isLargeInteger(source) ? source : revive ? revive(key, value) : value,
  ) as Json;
}

/** Returns a part of a JSON text as compact JSON in which every whole number keeps its digits. Throws a SyntaxError. */
export function exactText(text: string, part: (value: never) => unknown): string {
  return JSON.stringify(part(rawJson(text) as never));
}

/** Returns whether parsing a JSON text as usual changes one of its numbers. False for a text that is not JSON. */
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

/** Returns a value that `JSON.stringify` writes as the JSON text that it is made of, with all digits. */
export function rawJson(text: string): unknown {
  return parseWithSource(text, (_, value, { source = '' } = {}) =>
    typeof value === 'number' && isLargeInteger(source) ? rawJSON(source) : value,
  );
}

/** Returns arguments as they are checked: a number where the schema has one, which is close to the one that is meant. */
export function approximated(schema: JsonObject, given: JsonObject): JsonObject {
  return hasLarge(given) ? (withNumbers(schema, schema, given, Number) as JsonObject) : given;
}

/** Returns arguments for `JSON.stringify`, which writes the exact number where the schema has one. */
export function exactArguments(schema: JsonObject, given: JsonObject): object {
  return hasLarge(given) ? (withNumbers(schema, schema, given, rawJSON) as object) : given;
}

function hasLarge(value: Json): boolean {
  if (typeof value === 'string') return value.length > 15 && isLargeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLarge);
}

function withNumbers(
  root: JsonObject,
  schema: Json | undefined,
  value: Json,
  number: (text: string) => unknown,
): unknown {
  if (typeof value === 'string') return isLargeInteger(value) && isNumeric(root, schema) ? number(value) : value;
  if (Array.isArray(value)) {
    const { items } = resolved(root, schema);
    return value.map((each) => withNumbers(root, items, each, number));
  }
  if (!isObject(value) || isExactNumber(value)) return value;
  const { properties, additionalProperties } = resolved(root, schema);
  const known = isObject(properties) ? properties : {};
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const own = Object.hasOwn(known, key) ? known[key] : additionalProperties;
      return [key, withNumbers(root, own, each, number)];
    }),
  );
}

/** Returns whether a schema allows a number and no text. */
function isNumeric(root: JsonObject, schema: Json | undefined): boolean {
  const own = resolved(root, schema);
  const alternatives = [own.anyOf, own.oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
  const types = [own, ...alternatives.map((each) => resolved(root, each))].flatMap(({ type = [] }) => type as Json);
  return types.some((type) => type === 'integer' || type === 'number') && !types.includes('string');
}

/** Returns a schema with the one that it refers to in its place. */
function resolved(root: JsonObject, schema: Json | undefined): JsonObject {
  if (!isObject(schema)) return {};
  const path = typeof schema.$ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref) : null;
  if (!path) return schema;
  const [, group = '', name = ''] = path;
  const named = root[group];
  const target = isObject(named) && Object.hasOwn(named, name) ? named[name] : undefined;
  return isObject(target) ? target : schema;
}
