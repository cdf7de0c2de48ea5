import { hasInvisible, seenTexts } from '../../core/text/terminalText.ts';
import type { Json } from '../../core/values/json.ts';
import { withTexts } from '../../core/values/texts.ts';
import { bareForms, escapedPattern, unescaped } from './escapedForms.ts';

/** Shorter ones are words such as `none` or `EMPTY`, which servers without keys are given. */
const shortest = 8;

/** A trainer lends each rollout its own key: the newest are enough, for the old ones no longer open anything. */
const most = 512;

/** `searched` are the forms as they are in JSON, and the value as it is in JSON without escapes. */
type Secret = { readonly name: string; readonly forms: readonly string[]; readonly searched: readonly string[] };

/** Secrets by their value, the one used last at the end. */
const known = new Map<string, Secret>();

/** The names of secrets that are numbers, by the number as JSON has it. */
const numbers = new Map<string, string>();

/**
 * The forms in which secrets are searched for, by the hash of their first units. Every record of every rollout is
 * looked through, and hardly any of them holds a secret: one pass over the text tells so, however many secrets there
 * are.
 */
const byBeginning = Array.from<string[] | undefined>({ length: 1 << 16 });

/** Whether a value is kept out of what is written; a short one would take ordinary words with it. */
export const isSecret = (value: string): boolean => value.length >= shortest;

/** Remembers the value of a secret, so that it is written nowhere. Gives it back. */
export function keptSecret(name: string, value: string): string {
  if (!isSecret(value)) return value;
  const held = known.get(value);
  const secret = held ?? secretOf(name, value);
  known.delete(value);
  known.set(value, secret);
  if (!held) for (const form of secret.searched) remember(form);
  for (const form of numberForms(value)) numbers.set(form, name);
  for (const [oldest, given] of known) {
    if (known.size <= most) break;
    known.delete(oldest);
    for (const form of numberForms(oldest)) numbers.delete(form);
    for (const form of given.searched) forget(form);
  }
  return value;
}

function secretOf(name: string, value: string): Secret {
  const forms = formsOf(value);
  const bare = bareForms(value).filter((form) => form.length >= shortest);
  return { name, forms, searched: [...new Set([...forms.map(inJson), ...bare])] };
}

export const secretNames = (): readonly string[] => [...known.values()].map(({ name }) => name);

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

/** Line breaks that a program put into a long text, such as Base64 in lines of 76 characters. */
const breaks = /[\r\n]+[ \t]*/g;
const breaksInJson = /(?:\\[rn])+(?: |\\t)*/g;

function holdsSecret(json: string): boolean {
  if (startsForm(json) || (json.includes('\\n') && startsForm(json.replace(breaksInJson, '')))) return true;
  const text = unescaped(json);
  return text !== null && startsForm(text);
}

/** Returns those of these secrets that a text has in some mixture of escapes. */
function escapedIn(json: string, secrets: Iterable<readonly [value: string, unknown]>): readonly string[] {
  const text = unescaped(json);
  if (text === null) return [];
  const found = Array.from(secrets, ([value]) => value).filter((value) =>
    bareForms(value).some((form) => text.includes(form)),
  );
  return found.toSorted((a, b) => b.length - a.length);
}

function startsForm(json: string): boolean {
  for (let at = 0; at + shortest <= json.length; at += 1)
    if (byBeginning[hashAt(json, at)]?.some((form) => json.startsWith(form, at))) return true;
  return false;
}

/** Every form of every secret, with its name. */
function forms(): readonly (readonly [form: string, name: string])[] {
  return [...known.values()].flatMap(({ name, forms }) => forms.map((form) => [form, name] as const));
}

/**
 * Returns a value plain, and as programs encode it when they print it or send it on. Texts in which single letters are
 * escaped are searched without their escapes.
 */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const pairs = hex.match(/../g) ?? [];
  const spelled = [hex, pairs.join(':'), pairs.join(' ')];
  const inUrl = urlForms(value);
  const wide = Buffer.from(value, 'utf16le');
  const forms = [
    value,
    ...jsonForms(value),
    ...numberForms(value),
    ...inUrl,
    ...spelled.flatMap((form) => [form, form.toUpperCase()]),
    ...base64Forms(bytes),
    ...base64Forms(wide),
    ...inUrl.flatMap((form) => base64Forms(Buffer.from(form))),
    // Padding depends on what follows, so it is not part of the inner text.
    ...base64Forms(Buffer.from(bytes.toString('base64').replace(/=+$/, ''))),
  ];
  return [...new Set(forms)].filter((form) => form.length >= shortest);
}

/** Returns a value of digits as a number is written: without zeros before it, and rounded where it is long. */
function numberForms(value: string): readonly string[] {
  const digits = /^0*(\d+(?:\.\d+)?)$/.exec(value)?.[1];
  return digits === undefined ? [] : [digits, JSON.stringify(Number(digits))].filter(isSecret);
}

/** JSON in JSON in JSON, with the escape of a slash that is optional. */
function jsonForms(value: string): readonly string[] {
  const once = inJson(value);
  return [once, once.replaceAll('/', '\\/')].flatMap((form) => [form, inJson(form), inJson(inJson(form))]);
}

/** Encoders differ in which characters they leave as they are, and in the case of the digits. */
function urlForms(value: string): readonly string[] {
  const usual = encodeURIComponent(value.toWellFormed());
  const strict = usual.replace(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  const kept = [usual, strict].flatMap((form) => [form, form.replaceAll('%2F', '/'), form.replaceAll('%20', '+')]);
  return kept.flatMap((form) => [form, form.replace(/%../g, (code) => code.toLowerCase())]);
}

/** Whole and anywhere inside of another text. */
function base64Forms(bytes: Buffer): readonly string[] {
  return (['base64', 'base64url'] as const).flatMap((encoding) => [
    bytes.toString(encoding),
    ...[0, 1, 2].map((offset) => within(bytes, offset, encoding)),
  ]);
}

/** The characters of a base64 text that hold these bytes alone, after a number of other bytes. */
function within(bytes: Buffer, offset: number, encoding: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** The text with the name of each secret in place of its value. */
export function redacted(text: string): string {
  return known.size === 0 ? text : withoutSplit(text, redactedWhole);
}

function redactedWhole(text: string): string {
  return holdsSecret(JSON.stringify(text)) ? withoutEscaped(replaced(longestFirst(forms()), text), named) : text;
}

/**
 * Returns a text without secrets that a terminal would show whole, as characters that it removes are between their
 * parts. Only a text with such a secret loses these characters.
 */
function withoutSplit(text: string, redact: (text: string) => string): string {
  const rest = redact(text);
  for (const seen of seenTexts(rest)) {
    const without = seen === rest ? seen : redact(seen);
    if (without !== seen) return without;
  }
  return rest;
}

function named(): readonly NamedForm[] {
  return [...known].map(([value, { name }]) => [value, name]);
}

/** Replaces secrets whose letters are escaped in different ways. */
function withoutEscaped(text: string, secrets: () => readonly NamedForm[]): string {
  const all = new Map(secrets());
  return escapedIn(JSON.stringify(text), all).reduce(
    (rest, value) => rest.replace(escapedPattern(value), () => `[${all.get(value)}]`),
    text,
  );
}

/**
 * Returns a part of the text as `slice` does, with the name of each secret in place of its value. Every text that is
 * cut is cut here: half of a key would no longer be found.
 */
export function redactedPart(text: string, start: number, end?: number): string {
  return redacted(text).slice(start, end);
}

type NamedForm = readonly [form: string, name: string];

/** Returns a function that writes the name of each of these secrets in place of its value. */
export function without(secrets: Iterable<readonly [value: string, name: string]>): (text: string) => string {
  const long = [...secrets].filter(([value]) => isSecret(value));
  const forms = longestFirst(long.flatMap(([value, name]) => formsOf(value).map((form) => [form, name] as const)));
  return (text) => withoutSplit(text, (whole) => withoutEscaped(replaced(forms, whole), () => long));
}

/** Sorts forms, as one secret may be a part of another. */
const longestFirst = (forms: readonly NamedForm[]) => forms.toSorted(([a], [b]) => b.length - a.length);

/** @param forms the longest first */
function replaced(forms: readonly NamedForm[], text: string): string {
  let rest = text;
  for (const [form, name] of forms) if (rest.includes(form)) rest = rest.replaceAll(form, `[${name}]`);
  if (!rest.includes('\n')) return rest;
  const joined = rest.replace(breaks, '');
  for (const [form, name] of forms)
    if (joined.includes(form)) rest = rest.replace(acrossBreaks(form), () => `[${name}]`);
  return rest;
}

/** Matches a text with line breaks anywhere in it. */
function acrossBreaks(form: string): RegExp {
  const units = Array.from({ length: form.length }, (_, at) =>
    form[at]?.replace(/[^A-Za-z0-9]/, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  return new RegExp(units.join('(?:[\\r\\n]+[ \\t]*)?'), 'g');
}

/** Finds in JSON what a terminal removes. */
const controlsInJson = /\\(?:u00[01]|[bfr])|[\u007f-\u009f]/;

/** The same for every text and number in a value that goes into a record. A value without secrets is given back itself. */
export function redactedValue<T>(value: T): T {
  if (known.size === 0 || value === undefined) return value;
  const json = JSON.stringify(value);
  if (!holdsSecret(json) && !controlsInJson.test(json) && !hasInvisible(json)) return value;
  let isChanged = false;
  const change = <Part>(part: Part, without: Part): Part => {
    isChanged ||= without !== part;
    return without;
  };
  const without = withTexts(
    value,
    (text) => change(text, redacted(text)),
    (number) => change(number, redactedNumber(number)),
  );
  return isChanged ? without : value;
}

/** Returns the name of a secret in place of a number with its digits. */
export function redactedNumber(number: Json): Json {
  const name = numbers.get(JSON.stringify(number).replace(/^-/, ''));
  return name === undefined ? number : `[${name}]`;
}
