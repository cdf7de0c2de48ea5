import type { Json } from './json.ts';
import { isExactNumber } from './largeIntegers.ts';

/** Returns a value with each of its texts, and each key of its objects, changed. */
export function withTexts<Value>(value: Value, change: (text: string) => string): Value {
  return changed(value as Json, change) as Value;
}

function changed(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => changed(each, change));
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), changed(each, change)]));
}
