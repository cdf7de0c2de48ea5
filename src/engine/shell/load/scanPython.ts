import { dirname, join } from 'node:path';
import type { Location } from '../diagnostic.ts';
import type { Scan } from './scan.ts';
import { inside, type Overlay, readSource, type Source } from './source.ts';

const decorator = /^@(?:\w+\.)?tool\s*\(/;
const definition = /^(?:async\s+)?def\s+(\w+)/;
const imported = /^\s*(?:from\s+(\w+)[\w.]*\s+import|import\s+(\w+))/gm;

/**
 * The names of the tools in Python without running anything: functions below `@tool(`. Light on purpose; what the
 * process says once the code has run is the truth.
 */
export function scanPython(folder: string, source: Source, overlay?: Overlay): Scan {
  const tools = new Map<string, Location>();
  let isDecorated = false;
  for (const [index, line] of source.text.split('\n').entries()) {
    if (decorator.test(line)) isDecorated = true;
    const name = definition.exec(line)?.[1];
    if (name === undefined) continue;
    const column = line.indexOf(name) + 1;
    const at = { file: source.file, line: index + 1, column, endLine: index + 1, endColumn: column + name.length };
    if (isDecorated) tools.set(name, at);
    isDecorated = false;
  }
  const sources = new Map([[source.file, source]]);
  collectImports(folder, source, overlay, sources);
  return { tools, sync: null, complete: sources.size === 1, sources: [...sources.values()] };
}

function collectImports(folder: string, from: Source, overlay: Overlay | undefined, found: Map<string, Source>): void {
  for (const match of from.text.matchAll(imported)) {
    const path = inside(folder, join(dirname(from.file), `${match[1] ?? match[2]}.py`));
    const read = path === null || found.has(path) ? null : readSource(path, 'tool', overlay);
    if (!read || !('source' in read)) continue;
    found.set(read.source.file, read.source);
    collectImports(folder, read.source, overlay, found);
  }
}
