import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';

/** Deeper than this a schema says no more than that something is there. */
const deepest = 4;

/** The JSON Schema of arguments that were seen: their names and types, and as required those that every call has. */
export function schemaOf(seen: readonly JsonObject[], depth = 0): JsonObject {
  const names = [...new Set(seen.flatMap(Object.keys))];
  const required = names.filter((name) => seen.every((each) => Object.hasOwn(each, name)));
  const valuesOf = (name: string) => seen.flatMap((each) => (Object.hasOwn(each, name) ? [each[name] as Json] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, schemaOfValues(valuesOf(name), depth + 1)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function schemaOfValues(values: readonly Json[], depth: number): JsonObject {
  const types = [...new Set(values.map(typeOf))];
  const [type = 'null'] = types;
  if (types.length !== 1) return { type: types };
  if (depth >= deepest) return { type };
  if (type === 'object') return schemaOf(values.filter(isObject), depth);
  const items = type === 'array' ? values.flatMap((each) => each as readonly Json[]) : [];
  return items.length === 0 ? { type } : { type, items: schemaOfValues(items, depth + 1) };
}

/** A whole number may be one by chance. */
function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
