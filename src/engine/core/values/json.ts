import { isTooDeep } from './nesting.ts';

export type JsonScalar = string | number | boolean | null;
export type JsonObject = { readonly [key: string]: Json };
/** A JSON value. Read-only: anyone who changes one makes a new one. */
export type Json = JsonScalar | readonly Json[] | JsonObject;

/** Returns whether a value is an object, and not a list. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a value as an object; an empty one if it is not an object. */
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Returns the value of a JSON text; undefined for a text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a text as it is, and any other value as JSON. */
export const textOrJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns the value of a JSON text; the text itself where it is not JSON. */
export function jsonOrText(text: string): Json {
  const value = jsonOf(text);
  return value === undefined ? text : (value as Json);
}

/** Returns a text with null in place of NaN and Infinity, which Python writes and JSON does not have. */
export function finiteText(text: string): string {
  if (!/NaN|Infinity/.test(text) || jsonOf(text) !== undefined) return text;
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/gs, (part) =>
    part.startsWith('"') ? part : 'null',
  );
}

/** An escaped surrogate pair, half of one, or another escape. */
const escapes = /\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|(\\ud[89a-f][\da-f]{2})|\\./gis;

/** Returns a JSON text without halves of surrogate pairs, which servers and tokenizers in Python refuse. */
export function wellFormedText(text: string): string {
  if (!/\\ud[89a-f]/i.test(text)) return text;
  return text.replace(escapes, (whole: string, half: string | undefined) => (half === undefined ? whole : '\\ufffd'));
}

/** The path of a value inside another one, from the root. */
export type Path = readonly (string | number)[];

/** `orders["#W1"].items[0]`, as a person would write it. */
export function showPath(path: Path): string {
  const text = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return text.join('').replace(/^\./, '') || 'the database';
}

/**
 * Sets an own property, whatever its name: a plain assignment to `__proto__` would set the prototype instead.
 * For values under construction only.
 */
export function put<T>(object: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** JSON text with sorted keys and no space: equal values have equal text. Keys without a value are left out. */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return scalarText(value);
  const object = value as JsonObject;
  const entries = Object.keys(object)
    .sort()
    .flatMap((key) => (object[key] === undefined ? [] : [`${JSON.stringify(key)}:${canonicalJson(object[key])}`]));
  return `{${entries.join(',')}}`;
}

/** JSON text of a scalar. Throws on what JSON does not know: it would silently become another value. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return isBare(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value === 'number' ? Number.isFinite(value) : value === null || typeof value === 'boolean')
    return String(value);
  throw new TypeError(`${String(value)} is not a JSON value`);
}

/** Whether a short text is in JSON as it is: quoting it by hand is several times faster than a call. */
function isBare(text: string): boolean {
  if (text.length > 64) return false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    if (unit < 0x20 || unit === doubleQuote || unit === backslash || isSurrogate) return false;
  }
  return true;
}

const doubleQuote = 0x22;
const backslash = 0x5c;

/** Returns an object without the keys whose value is null. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Returns the value at the end of a path of own keys, or undefined if the path leads nowhere. */
export function valueAt(value: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((at, key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    return (at as JsonObject)[key];
  }, value);
}

/** Returns a JSON value on one line as a person reads it: names without quotes. */
export function readableJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(readableJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return `{${readableEntries(value)}}`;
  return JSON.stringify(value) ?? 'nothing';
}

/** Returns the entries of an object on one line, such as the arguments of a call. */
export function readableEntries(object: object): string {
  return Object.entries(object)
    .map(([name, value]) => `${/^[\w$.-]+$/.test(name) ? name : JSON.stringify(name)}: ${readableJson(value)}`)
    .join(', ');
}

/** The longest text that is read as JSON, in characters. */
const longest = 100_000;

/**
 * Returns a text that is a JSON object or list as a person reads it, and any other text unchanged. A number with more
 * digits than a JavaScript number keeps would be another one.
 */
export function readableText(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > longest || /\d{16}/.test(text)) return text;
  const value = jsonOf(text) as Json | undefined;
  if (value === undefined || isTooDeep(value)) return text;
  return (isObject(value) && readableEntries(value)) || readableJson(value);
}
