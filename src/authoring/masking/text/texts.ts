import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { isTooDeep } from '../../../engine/core/values/nesting.ts';
import { isAscii } from './script.ts';

/**
 * Matches signs without a width, which can be within a name: soft hyphens, spaces of no width and marks of direction.
 * Joiners are signs of the script in Persian and in languages of India, and in pictures.
 */
const invisible =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}])[\u200c\u200d]/gu;

/**
 * Returns a text with its letters and accents composed, with signs of ASCII for those of full width, and without signs
 * that have no width.
 */
export function composed(text: string): string {
  if (isAscii(text)) return text;
  return text
    .replace(invisible, '')
    .normalize('NFC')
    .replace(/[\uff0b\uff0d-\uff19\uff20-\uff3a\uff41-\uff5a]/g, (sign) =>
      String.fromCharCode(sign.charCodeAt(0) - 0xfee0),
    );
}

/** Returns all the texts in some values, keys included. */
export function textsIn(values: readonly Json[]): readonly string[] {
  return values.flatMap((value): readonly string[] => {
    if (typeof value === 'string') {
      const inner = jsonIn(value);
      return inner === undefined ? [composed(value)] : textsIn([inner]);
    }
    if (typeof value !== 'object' || value === null) return value === null ? [] : [String(value)];
    return [...(Array.isArray(value) ? [] : Object.keys(value)), ...textsIn(Object.values(value as JsonObject))];
  });
}

/** Returns the texts in a value as they are, keys included, without its numbers. */
export function stringsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [
    ...(Array.isArray(value) ? [] : Object.keys(value)),
    ...Object.values(value as JsonObject).flatMap(stringsIn),
  ];
}

/** Returns the JSON object, list or text that a text is; undefined for any other, and for one that is nested too deep. */
export function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) return undefined;
    return (typeof value === 'object' && value !== null) || typeof value === 'string' ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a word that does not hold the text that it is from in the memory, as a longer part of a text does. */
export const apart = (word: string): string => (word.length < 13 ? word : [...word].join(''));
