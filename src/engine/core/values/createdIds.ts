import type { Json } from './json.ts';
import type { Random } from './random.ts';
import { withTexts } from './texts.ts';

const date = String.raw`(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\p{N})`;
const prefixed = String.raw`[\p{L}\p{M}\p{N}_#-]`;

/**
 * An id as `id('W')` makes it for tools, also inside of a text: eight digits after a prefix, which can be empty. A prefix
 * with other characters than these, such as `ticket `, is text before the id. A date such as 20260522 is not an id.
 */
const created = new RegExp(
  String.raw`(?<!${prefixed})(?!${date})${prefixed}*?(?<!\p{N})[1-9]\d{7}(?![\p{L}\p{M}\p{N}])`,
  'gu',
);
const isDate = new RegExp(`^${date}$`, 'u');

/** Returns a new id. Its number is not a date, since a date without a prefix is not taken for an id. */
export function createdId(random: Random, prefix = ''): string {
  const number = String(10_000_000 + random.integer(90_000_000));
  return isDate.test(number) ? createdId(random, prefix) : `${prefix}${number}`;
}

/** Rules out most texts in less time. */
const hasNumber = /\d{8}/;

/** The ids in a text, or in the keys and texts of a value, that a tool may have made up. */
export function createdIdsIn(value: Json): readonly string[] {
  const ids: string[] = [];
  withTexts(value, (text) => {
    if (hasNumber.test(text)) for (const [id] of text.matchAll(created)) ids.push(id);
    return text;
  });
  return ids;
}

/** Returns what an id has in common with others of its kind. */
export const prefixOf = (id: string): string => id.slice(0, -8);

/** A text with other ids in place of some. */
export function renamedText(text: string, rename: (id: string) => string): string {
  return text.replace(created, rename);
}

/** A value with other ids in place of some, in its keys and texts. */
export function renamedJson(value: Json, rename: (id: string) => string): Json {
  return withTexts(value, (text) => renamedText(text, rename));
}
