import { isObject, type Json, type JsonObject } from '../values/json.ts';

/**
 * A value of an object's rows as Python's `json` writes it and reads it again: keys are texts, tuples are lists. The
 * bridge writes keys that are not texts in brackets, and others than Python's plain values under a name with a dollar.
 */
export function plainJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(plainJson);
  if (!isObject(value)) return value;
  const [tag = ''] = Object.keys(value);
  const inner = value[tag];
  if (tag === '$tuple' && Array.isArray(inner)) return inner.map(plainJson);
  if (tag === '$int' || tag === '$float') return Number(inner);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [plainKey(key), plainJson(each)])) as JsonObject;
}

const words: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

function plainKey(key: string): string {
  const bracketed = /^\((.*)\)$/s.exec(key)?.[1];
  if (bracketed !== undefined) return words[bracketed] ?? bracketed;
  const quoted = /^(['"])(.*)\1$/s.exec(key)?.[2];
  return quoted === undefined ? key : quoted.replace(/\\(['"\\])/g, '$1');
}
