import type { JsonObject } from '../../core/json.ts';

/**
 * Returns the field of a request that asks for JSON of a schema. An endpoint that does not support it ignores the field,
 * or refuses it and is then asked without it.
 * @param strict whether the schema keeps to what strict mode allows: every key required, and no further ones
 */
export function structured(name: string, schema: JsonObject, strict = true) {
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}
