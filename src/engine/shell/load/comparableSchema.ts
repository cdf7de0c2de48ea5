import { canonicalJson, isObject, type Json } from '../../core/values/json.ts';
import { isMapOfSchemas, isSchemaData } from './schemaPatterns.ts';

/** Keywords that describe values and refuse none. */
const annotations = ['title', 'description', 'default', 'examples', '$comment', 'deprecated'];
/** Keywords whose lists are sets. */
const sets = ['enum', 'required', 'type'];

/**
 * Returns a text that JSON Schemas have in common if they take the same values: without annotations, and with the lists
 * that are sets in one order. Some servers make the former from a clock and the latter from a set.
 */
export function comparableSchema(schema: Json): string {
  return canonicalJson(withoutNotes(schema));
}

function withoutNotes(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutNotes);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => !annotations.includes(key));
  return Object.fromEntries(
    kept.map(([key, value]): [string, Json] => {
      if (sets.includes(key) && Array.isArray(value)) return [key, value.map(canonicalJson).toSorted()];
      if (isSchemaData(key)) return [key, value];
      if (!isMapOfSchemas(key) || !isObject(value)) return [key, withoutNotes(value)];
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutNotes(each)]))];
    }),
  );
}
