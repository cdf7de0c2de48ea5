import type * as z from 'zod';

/**
 * Returns the first issue of a value that does not fit its schema, after the path to it.
 * @param whole names the value, for an issue of the whole value
 */
export function issueText({ issues: [issue] }: z.core.$ZodError, whole: string): string {
  return `${issue?.path.join('.') || whole}: ${issue?.message ?? 'is not valid'}`;
}
