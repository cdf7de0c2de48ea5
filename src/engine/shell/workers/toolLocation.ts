import { resolve } from 'node:path';
import { scanTools } from '../source/scan.ts';
import { readSource } from '../source/source.ts';

/** Returns where a code tool is exported, found without running anything; null when the file does not say. */
export function toolLocation(
  { folder, toolsFile = 'tools.ts' }: { readonly folder: string; readonly toolsFile?: string },
  tool: string,
): { readonly file: string; readonly line: number } | null {
  const read = readSource(resolve(folder, toolsFile), 'tool', undefined, undefined, folder);
  if (!('source' in read)) return null;
  const found = scanTools(resolve(folder), read.source).tools.get(tool);
  return found ? { file: found.file, line: found.line } : null;
}
