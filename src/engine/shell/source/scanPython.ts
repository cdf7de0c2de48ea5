import { dirname, join } from 'node:path';
import type { Location } from '../files/diagnostic.ts';
import type { Declared, Scan } from './scan.ts';
import { inside, locate, type Overlay, readSource, type Source } from './source.ts';

const decorator = /^@(?:\w+\.)?tool\s*\(/;
const definition = /^(?:async\s+)?def\s+(\w+)/;
const imported = /^\s*(?:from\s+(\w+)[\w.]*\s+import|import\s+(\w+))/gm;

/**
 * The names of the tools in Python without running anything: functions below `@tool(`. Light on purpose; what the
 * process says once the code has run is the truth.
 */
export function scanPython(folder: string, source: Source, overlay?: Overlay): Scan {
  const tools = new Map<string, Location>();
  const declared = new Map<string, Declared>();
  let decoratedAt: number | null = null;
  let offset = 0;
  for (const [index, line] of source.text.split('\n').entries()) {
    const begin = offset;
    offset += line.length + 1;
    if (decorator.test(line)) decoratedAt = begin;
    const name = definition.exec(line)?.[1];
    if (name === undefined) continue;
    const column = line.indexOf(name) + 1;
    const at = { file: source.file, line: index + 1, column, endLine: index + 1, endColumn: column + name.length };
    if (decoratedAt !== null) {
      tools.set(name, at);
      declared.set(name, declarationAt(source, decoratedAt, begin));
    }
    decoratedAt = null;
  }
  const sources = new Map([[source.file, source]]);
  collectImports(folder, source, overlay, sources);
  return { tools, declared, unexported: new Map(), complete: sources.size === 1, sources: [...sources.values()] };
}

/** The options of the decorator that is between two offsets. */
function declarationAt(source: Source, from: number, to: number): Declared {
  const own = source.text.slice(from, to);
  const effect = /\beffect\s*=\s*['"](read|write)['"]/.exec(own);
  const word = effect?.[1] ?? '';
  return {
    effect: effect ? (word as 'read' | 'write') : null,
    effectAt: effect ? locate(source, from + effect.index + effect[0].lastIndexOf(word), word.length) : null,
    owner: /\bowner\s*=\s*['"]user['"]/.test(own) ? 'user' : 'agent',
    generic: /\bgeneric\s*=\s*True\b/.test(own),
    handsOff: /\bhands_off\s*=\s*True\b/.test(own),
  };
}

function collectImports(folder: string, from: Source, overlay: Overlay | undefined, found: Map<string, Source>): void {
  for (const match of from.text.matchAll(imported)) {
    const path = inside(folder, join(dirname(from.file), `${match[1] ?? match[2]}.py`));
    const read = path === null || found.has(path) ? null : readSource(path, 'tool', overlay, undefined, folder);
    if (!read || !('source' in read)) continue;
    found.set(read.source.file, read.source);
    collectImports(folder, read.source, overlay, found);
  }
}
