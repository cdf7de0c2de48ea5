import type { Json } from '../core/json.ts';

/** Shorter ones are words such as `none` or `EMPTY`, which servers without keys are given. */
const shortest = 8;

/** A trainer lends each rollout a key of its own: the newest are enough, for the old ones open nothing any more. */
const most = 512;

const known = new Map<string, string>();

/** Remembers the value of a secret, so that it is written nowhere. Gives it back. */
export function keptSecret(name: string, value: string): string {
  if (value.length < shortest || known.has(value)) return value;
  known.set(value, name);
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
  return value;
}

/** The text with the name of each secret in place of its value. */
export function redacted(text: string): string {
  return without(known, text);
}

/** The text with the name of each of these secrets in place of its value. */
export function without(secrets: Iterable<readonly [value: string, name: string]>, text: string): string {
  let rest = text;
  // The longest first: one secret may be a part of another.
  for (const [value, name] of [...secrets].toSorted(([a], [b]) => b.length - a.length))
    if (rest.includes(value)) rest = rest.replaceAll(value, `[${name}]`);
  return rest;
}

/** The same for every text in a value that goes into a record. A value without secrets is given back itself. */
export function redactedValue<T>(value: T): T {
  if (known.size === 0 || value === undefined) return value;
  const text = JSON.stringify(value);
  return [...known.keys()].some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
    ? (mapped(value as Json) as T)
    : value;
}

function mapped(value: Json): Json {
  if (typeof value === 'string') return redacted(value);
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [redacted(key), mapped(each)]));
}
