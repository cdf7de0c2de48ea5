import { exactLimit } from '../../engine/core/values/exactSchema.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';

/** Merges the values of a keyword in two schemas, so that data valid under the result is valid under both. */
type Merge = (a: Json, b: Json) => Json;

const both: Merge = (a, b) => ({ allOf: [a, b] });
const larger: Merge = (a, b) => (isLess(b, a) ? a : b);
const smaller: Merge = (a, b) => (isLess(a, b) ? a : b);
const either: Merge = (a, b) => [...new Set([a, b].flat())];
const common: Merge = (a, b) => {
  const known = new Set([a].flat().map(canonicalJson));
  const shared = [b].flat().filter((each) => known.has(canonicalJson(each)));
  return shared.length > 0 ? shared : b;
};
const commonType: Merge = (a, b) => {
  const [one, two] = [[a].flat(), [b].flat()];
  if (one.includes('integer') && two.includes('number')) return a;
  return one.includes('number') && two.includes('integer') ? b : common(a, b);
};
const byKey =
  (merge: Merge): Merge =>
  (a, b) => {
    if (!isObject(a) || !isObject(b)) return b;
    const shared = Object.keys(a).filter((key) => Object.hasOwn(b, key));
    return { ...a, ...b, ...Object.fromEntries(shared.map((key) => [key, merge(a[key] as Json, b[key] as Json)])) };
  };

function isLess(a: Json, b: Json): boolean {
  const [one, two] = [exactLimit(a), exactLimit(b)];
  return one !== undefined && two !== undefined && one < two;
}

const merges: Readonly<Record<string, Merge>> = {
  type: commonType,
  enum: common,
  required: either,
  properties: byKey(both),
  patternProperties: byKey(both),
  dependentRequired: byKey(either),
  dependentSchemas: byKey(both),
  additionalProperties: both,
  propertyNames: both,
  items: (a, b) => (Array.isArray(a) || Array.isArray(b) ? b : both(a, b)),
  contains: both,
  minimum: larger,
  exclusiveMinimum: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  minLength: larger,
  maxLength: smaller,
  minItems: larger,
  maxItems: smaller,
  minProperties: larger,
  maxProperties: smaller,
};

/** Returns two schemas without references and combinations as one. Where they cannot be merged, the second counts. */
export function mergedSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const shared = Object.keys(a).filter((key) => Object.hasOwn(b, key) && Object.hasOwn(merges, key));
  const merged = shared.map((key) => [key, (merges[key] as Merge)(a[key] as Json, b[key] as Json)]);
  return { ...a, ...b, ...Object.fromEntries(merged) };
}
