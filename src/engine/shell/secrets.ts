import type { Json } from '../core/json.ts';

/** Shorter ones are words such as `none` or `EMPTY`, which servers without keys are given. */
const shortest = 8;

/** A trainer lends each rollout a key of its own: the newest are enough, for the old ones open nothing any more. */
const most = 1024;

/** Names of the secrets, by every form in which a value is told. */
const known = new Map<string, string>();

/** Whether a value is kept out of what is written; a short one would take ordinary words with it. */
const isSecret = (value: string) => value.length >= shortest;

/** Remembers the value of a secret, so that it is written nowhere. Gives it back. */
export function keptSecret(name: string, value: string): string {
  if (!isSecret(value) || known.has(value)) return value;
  for (const form of formsOf(value)) known.set(form, name);
  for (const oldest of known.keys()) {
    if (known.size <= most) break;
    known.delete(oldest);
  }
  return value;
}

/** A value as it is, and as it stands in JSON, in an address, and in a header of basic authentication. */
function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const url = encodeURIComponent(value.toWellFormed());
  return [...new Set([value, json, ascii, url, Buffer.from(value).toString('base64')])];
}

/** The text with the name of each secret in place of its value. */
export function redacted(text: string): string {
  return replaced(known, text);
}

/** The text with the name of each of these secrets in place of its value. */
export function without(secrets: Iterable<readonly [value: string, name: string]>, text: string): string {
  const forms = [...secrets].flatMap(([value, name]) =>
    isSecret(value) ? formsOf(value).map((form) => [form, name] as const) : [],
  );
  return replaced(forms, text);
}

function replaced(secrets: Iterable<readonly [form: string, name: string]>, text: string): string {
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
