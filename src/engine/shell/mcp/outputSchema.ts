import type { Tool } from '../../core/domain/tool.ts';
import { hasExactNumber, withDigits } from '../../core/values/largeIntegers.ts';
import { redactedPart } from '../keys/secrets.ts';
import { exactDataErrors } from '../load/exactErrors.ts';
import { compileOutputSchema, isUnchecked } from '../load/schemaCompiler.ts';
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
  const [error] = hasExactNumber(data) ? exactDataErrors(outputSchema, data) : schema.errorsOf(withDigits(data));
  if (!error || isUnchecked(error)) return undefined;
  const text = `${error.instancePath || 'structuredContent'} ${error.message}`;
  return redactedPart(`structuredContent does not match the output schema: ${text}`, 0, longest);
}
