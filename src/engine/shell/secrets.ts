import { withTexts } from '../core/texts.ts';

/** Shorter ones are words such as `none` or `EMPTY`, which servers without keys are given. */
const shortest = 8;

/** A trainer lends each rollout a key of its own: the newest are enough, for the old ones open nothing any more. */
const most = 512;

type Secret = { readonly name: string; readonly forms: readonly string[] };

/** Secrets by their value, the one used last at the end. */
const known = new Map<string, Secret>();

/**
 * The forms of all secrets as they stand in JSON, by the hash of their first units. Every record of every rollout is
 * looked through, and hardly any of them holds a secret: one pass over the text tells so, however many secrets there are.
 */
const byBeginning = Array.from<string[] | undefined>({ length: 1 << 16 });

/** Whether a value is kept out of what is written; a short one would take ordinary words with it. */
const isSecret = (value: string) => value.length >= shortest;

/** Remembers the value of a secret, so that it is written nowhere. Gives it back. */
export function keptSecret(name: string, value: string): string {
  if (!isSecret(value)) return value;
  const held = known.get(value);
  const secret = held ?? { name, forms: formsOf(value) };
  known.delete(value);
  known.set(value, secret);
  if (!held) for (const form of secret.forms) remember(inJson(form));
  for (const [oldest, given] of known) {
    if (known.size <= most) break;
    known.delete(oldest);
    for (const form of given.forms) forget(inJson(form));
  }
  return value;
}

const inJson = (form: string) => JSON.stringify(form).slice(1, -1);

function remember(form: string): void {
  const hash = hashAt(form, 0);
  byBeginning[hash] = [...(byBeginning[hash] ?? []), form];
}

/** Once: two secrets may have a form in common. */
function forget(form: string): void {
  const hash = hashAt(form, 0);
  const left = byBeginning[hash] ?? [];
  const at = left.indexOf(form);
  byBeginning[hash] = left.length === 1 ? undefined : left.toSpliced(at, 1);
}

/** Of the five units of a text from there on. */
function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let unit = at; unit < at + 5; unit += 1) hash = Math.imul(hash, 31) + text.charCodeAt(unit);
  return hash & 0xffff;
}

function holdsSecret(json: string): boolean {
  for (let at = 0; at + shortest <= json.length; at += 1)
    if (byBeginning[hashAt(json, at)]?.some((form) => json.startsWith(form, at))) return true;
  return false;
}

/** Every form of every secret, with its name. */
function forms(): readonly (readonly [form: string, name: string])[] {
  return [...known.values()].flatMap(({ name, forms }) => forms.map((form) => [form, name] as const));
}

/** Returns a value plain, and as encoded in JSON, in a URL, in hexadecimal digits and anywhere inside base64. */
function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const url = encodeURIComponent(value.toWellFormed());
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const whole = [bytes.toString('base64'), bytes.toString('base64url')];
  const inside = [0, 1, 2].flatMap((offset) =>
    (['base64', 'base64url'] as const).map((encoding) => within(bytes, offset, encoding)),
  );
  return [...new Set([value, json, ascii, url, hex, hex.toUpperCase(), ...whole, ...inside])];
}

/** The characters of a base64 text that hold these bytes alone, after a number of other bytes. */
function within(bytes: Buffer, offset: number, encoding: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** The text with the name of each secret in place of its value. */
export function redacted(text: string): string {
  return replaced(forms(), text);
}

/** The text with the name of each of these secrets in place of its value. */
export function without(secrets: Iterable<readonly [value: string, name: string]>, text: string): string {
  const told = [...secrets].flatMap(([value, name]) =>
    isSecret(value) ? formsOf(value).map((form) => [form, name] as const) : [],
  );
  return replaced(told, text);
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
  return holdsSecret(JSON.stringify(value)) ? withTexts(value, redacted) : value;
}
