import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { referredBy } from '../../core/values/jsonPointer.ts';

/** Keywords whose schemas are for the same value as the schema that has them. */
const sameValue = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];
/** The same, with the schemas in a map. */
const sameValueMaps = ['dependentSchemas', 'dependencies'];

/** Keywords whose schemas are for the parts of a value. */
const ofParts = [
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
];
const ofPartsMaps = ['properties', 'patternProperties'];

/**
 * Returns a reference of a schema that leads back to itself without a step into the value, so that the check of a value does
 * not end; undefined in a schema without one.
 */
export function endlessReference(root: JsonObject): string | undefined {
  const anchors = anchorsIn(root);
  const waiting: Json[] = [root];
  const open = new Set<JsonObject>();
  const done = new Set<JsonObject>();
  /** @param by the reference that led here last */
  const follow = (schema: Json | undefined, by: string): string | undefined => {
    if (!isObject(schema) || done.has(schema)) return undefined;
    if (open.has(schema)) return by;
    open.add(schema);
    waiting.push(...schemasIn(schema, ofParts, ofPartsMaps));
    const { $ref } = schema;
    for (const each of schemasIn(schema, sameValue, sameValueMaps)) {
      const found = follow(each, by);
      if (found !== undefined) return found;
    }
    const found = typeof $ref === 'string' ? follow(referredBy(root, $ref) ?? anchors.get($ref), $ref) : undefined;
    open.delete(schema);
    done.add(schema);
    return found;
  };
  for (const schema of waiting) {
    const found = follow(schema, '');
    if (found !== undefined) return found;
  }
  return undefined;
}

function schemasIn(schema: JsonObject, keywords: readonly string[], maps: readonly string[]): readonly Json[] {
  const valuesOf = (map: Json | undefined) => (isObject(map ?? null) ? Object.values(map as JsonObject) : []);
  return [
    ...keywords.flatMap((keyword) => (schema[keyword] ?? []) as Json | readonly Json[]),
    ...maps.flatMap((keyword) => valuesOf(schema[keyword])),
  ];
}

/** Returns the schemas with an anchor, by the references to them. */
function anchorsIn(value: Json, found = new Map<string, JsonObject>()): ReadonlyMap<string, JsonObject> {
  if (typeof value !== 'object' || value === null) return found;
  if (isObject(value) && typeof value['$anchor'] === 'string') found.set(`#${value['$anchor']}`, value);
  for (const each of Object.values(value)) anchorsIn(each, found);
  return found;
}
