import type { Json } from './json.ts';
import { withTexts } from './texts.ts';

/** An id as `id('W')` makes it for tools: a prefix and eight digits, also inside of a text. */
const created = /(?<![A-Za-z0-9_#-])[A-Za-z_#-]+[1-9]\d{7}(?![A-Za-z0-9])/g;

/** The ids in a text that a tool may have made up. */
export function createdIdsIn(text: string): readonly string[] {
  return text.match(created) ?? [];
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
