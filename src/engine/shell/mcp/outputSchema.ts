import type { Tool } from '../../core/tool.ts';
import { compileOutputSchema } from '../load/schemaCompiler.ts';
import { redacted } from '../secrets.ts';
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
  // The schema is checked with the closest JavaScript numbers.
  const [error] = schema.errorsOf(JSON.parse(JSON.stringify(data)));
  if (!error) return undefined;
  const text = `${error.instancePath || 'structuredContent'} ${error.message}`;
  return redacted(`structuredContent does not match the output schema: ${text}`).slice(0, longest);
}
