import { existsSync } from 'node:fs';
import type * as z from 'zod';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { UsageError } from '../terminal/io.ts';

/**
 * Returns what Rehearsal keeps in a JSON file for later calls; undefined if the file does not exist.
 * @param lost what a file that was changed no longer says, and what to write there again: a `UsageError` ends so
 */
export function readKept<T>(path: string, schema: z.ZodType<T>, lost: string): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readBoundedText(path)));
  } catch {
    throw new UsageError(`${path} was changed after Rehearsal wrote it, and no longer says ${lost}`);
  }
}
