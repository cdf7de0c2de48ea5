import type { Json } from './json.ts';
import { isExactNumber } from './largeIntegers.ts';

type Change<Part> = (part: Part) => Part;

/**
 * Returns a value with each of its texts, and each key of its objects, changed.
 * @param number changes each number too; an exact number is an object
 */
export function withTexts<Value>(value: Value, text: Change<string>, number: Change<Json> = (same) => same): Value {
  return changed(value as Json, text, number) as Value;
}

function changed(value: Json, text: Change<string>, number: Change<Json>): Json {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((each) => changed(each, text, number));
  if (typeof value === 'number' || isExactNumber(value)) return number(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), changed(each, text, number)]));
}
