import { type Json, type JsonObject, valueAt } from './json.ts';
import { keysOfPointer } from './jsonPointer.ts';
import { isLargeInteger, largeIntegerPlaces, rawJson, withDigits } from './largeIntegers.ts';

// Whole numbers in a schema that a JavaScript number cannot hold, such as `maximum: 9223372036854775807`. As everywhere, such a
// number is a text of its digits. The schema lists where these texts are, since `enum` and `const` have other texts too.

/** The key of a schema with the JSON Pointers of its texts that are numbers. */
const integersKey = 'x-rehearsal-integers';

/** Returns a schema with a text of digits in place of each number of `rawJson` that is too large. */
export function schemaWithDigits(raw: JsonObject): JsonObject {
  const { [integersKey]: _, ...schema } = withDigits(raw) as JsonObject;
  const places = largeIntegerPlaces(JSON.stringify({ ...raw, [integersKey]: undefined }));
  return places.length === 0 ? schema : { ...schema, [integersKey]: places };
}

/** Returns a schema for `JSON.stringify`, which writes all digits of its numbers. */
export const exactSchema = (schema: JsonObject): JsonObject =>
  withoutPlaces(schema, (digits) => rawJson(digits) as Json);

/** A number of a schema that is too large: where it is, and what holds it. */
export type LargeLimit = {
  readonly digits: string;
  /** The object or the list that has it, with its key there. */
  readonly holder: Record<string, Json>;
  readonly key: string;
  /** The keys that lead to the holder. */
  readonly path: readonly string[];
};

/** Returns a copy of a schema without the places, and the numbers that it has there as texts; null for one without any. */
export function largeLimits(
  schema: JsonObject,
): { readonly copy: JsonObject; readonly limits: readonly LargeLimit[] } | null {
  const { [integersKey]: places, ...plain } = schema;
  if (!Array.isArray(places)) return null;
  const copy = JSON.parse(JSON.stringify(plain)) as JsonObject;
  const limits = places.flatMap((place): readonly LargeLimit[] => {
    const path = [...keysOfPointer(String(place))];
    const key = path.pop() ?? '';
    const holder = valueAt(copy, path);
    const digits = typeof holder === 'object' && holder !== null ? valueAt(holder, [key]) : undefined;
    if (typeof digits !== 'string' || !isLargeInteger(digits)) return [];
    return [{ digits, holder: holder as Record<string, Json>, key, path }];
  });
  return { copy, limits };
}

/** Returns a limit of a schema with all its digits; undefined for what is not a limit. */
export function exactLimit(limit: Json | undefined): bigint | number | undefined {
  if (typeof limit === 'number') return limit;
  return typeof limit === 'string' && isLargeInteger(limit) ? BigInt(limit) : undefined;
}

function withoutPlaces(schema: JsonObject, number: (digits: string) => Json): JsonObject {
  const found = largeLimits(schema);
  if (!found) return schema;
  for (const { holder, key, digits } of found.limits) holder[key] = number(digits);
  return found.copy;
}
