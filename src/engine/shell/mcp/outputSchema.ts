import type { Tool } from '../../core/domain/tool.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { largeIntegerPlaces, withDigits } from '../../core/values/largeIntegers.ts';
import { redactedPart } from '../keys/secrets.ts';
import { exactErrors } from '../load/exactErrors.ts';
import { compileOutputSchema, compileSchema } from '../load/schemaCompiler.ts';
import type { ReadResult } from './result.ts';

/** The longest note on one result. */
const longest = 500;

/**
 * Returns the first difference of a result from the output schema of its tool; undefined where it fits, where there is no
 * such schema, and where it cannot be compiled. A result that differs is still the result: the tool has done its work.
 */
export function mismatchOf({ outputSchema }: Tool, { isError, data }: ReadResult): string | undefined {
  if (!outputSchema || isError) return undefined;
  const schema = compileOutputSchema(outputSchema);
  if ('problem' in schema) return undefined;
  if (data === undefined) return 'the tool has an output schema, and its result has no structuredContent';
  const integers = largeIntegerPlaces(JSON.stringify(data));
  const [error] = integers.length > 0 ? errorsOf(outputSchema, data, integers) : schema.errorsOf(withDigits(data));
  if (!error) return undefined;
  const text = `${error.instancePath || 'structuredContent'} ${error.message}`;
  return redactedPart(`structuredContent does not match the output schema: ${text}`, 0, longest);
}

/** All errors are found, as some of them are only those of JavaScript numbers next to a large one. */
function errorsOf(outputSchema: JsonObject, data: Json, integers: readonly string[]) {
  const compiled = compileSchema(outputSchema);
  return 'problem' in compiled ? [] : exactErrors(compiled, { schema: {}, value: withDigits(data), integers });
}
