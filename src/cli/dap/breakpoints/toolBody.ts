import { resolve, sep } from 'node:path';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { blanked } from '../../../engine/shell/source/scan.ts';

/**
 * Whether a line (from 1) of a file is code that runs inside a call: the body of a tool, or what tools share. The
 * lines from where a tool is declared to where its `run` begins are the tool as a whole: a debugger stops there once,
 * when the file is loaded.
 */
export function isInsideCode({ folder, locations, parts }: LoadedDomain, file: string, line: number): boolean {
  const path = resolve(file);
  if (!/\.[mc]?[jt]s$/.test(path) || !path.startsWith(resolve(folder) + sep)) return false;
  const tools = [...locations.tools.values()].filter((at) => resolve(at.file) === path);
  const declared = Math.max(0, ...tools.map((at) => at.line).filter((each) => each <= line));
  const source = parts.scan.sources.find((each) => resolve(each.file) === path);
  if (declared === 0 || !source) return declared < line;
  const rows = blanked(source.text).split('\n');
  const run = rows.findIndex((row, index) => index + 1 > declared && /\brun\b\s*[:(]/.test(row)) + 1;
  return run > 0 && line > run;
}
