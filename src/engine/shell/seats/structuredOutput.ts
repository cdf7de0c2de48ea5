import { endsWithObject } from '../../core/answerEnd.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ChatAnswer } from './chatAnswer.ts';

/**
 * Returns the field of a request that asks for JSON of a schema. An endpoint that does not support it ignores the field,
 * or refuses it and is then asked without it.
 * @param strict whether the schema keeps to what strict mode allows: every key required, and no further ones
 */
export function structured(name: string, schema: JsonObject, strict = true) {
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}

/** Returns the text of an answer that has JSON. vLLM's reasoning parsers put an answer without thoughts into theirs. */
export function structuredText({ content, thoughts }: ChatAnswer): string {
  const said = content ?? '';
  return said.trim() === '' && thoughts !== null && endsWithObject(thoughts) ? thoughts : said;
}
