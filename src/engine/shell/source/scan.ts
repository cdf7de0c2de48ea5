import { dirname, resolve } from 'node:path';
import type { Location } from '../files/diagnostic.ts';
import { inside, locate, type Overlay, readSource, type Source } from './source.ts';

/** A tool's declarations about itself, as far as its source shows them. */
export type Declared = {
  readonly effect: 'read' | 'write' | null;
  /** The location where its effect is declared. */
  readonly effectAt: Location | null;
  readonly owner: 'agent' | 'user';
  readonly generic: boolean;
  readonly handsOff: boolean;
};

export type Scan = {
  /** The location where each tool is exported, in the order of the source. */
  readonly tools: ReadonlyMap<string, Location>;
  readonly declared: ReadonlyMap<string, Declared>;
  /** The locations of `const NAME` of what is made as a tool, but neither exported nor used. */
  readonly unexported: ReadonlyMap<string, Location>;
  /** Whether the scan understood every export, so that a name that is not here is not a tool. */
  readonly complete: boolean;
  /** The scanned file and every file of the domain that it imports. */
  readonly sources: readonly Source[];
};

const exportedTool =
  /^[ \t]*export\s+const\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]+)?=\s*(?:[A-Za-z_$][\w$]*\s*\.\s*)?tool\s*(?:<[^(]*>)?\(/gm;
const exportedConst = /^[ \t]*export\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)/gm;
const exportedList = /^[ \t]*export\s*\{([^}]*)\}(?:\s*from\s*['"](\.[^'"]+)['"])?/gm;
const exportedAll = /^[ \t]*export\s*\*\s*from\s*['"](\.[^'"]+)['"]/gm;
const localTool = /^[ \t]*const\s+([A-Za-z_$][\w$]*)\s*=\s*(?:[A-Za-z_$][\w$]*\s*\.\s*)?tool\s*(?:<[^(]*>)?\(/gm;
const relativeImport = /\bfrom\s*['"](\.[^'"]+)['"]|\bimport\s*['"](\.[^'"]+)['"]/g;

/**
 * The names of the code tools without running anything: from `export const NAME = tool(` of the file and of the files
 * that it exports from. Light on purpose; the worker's description is the truth once the code has run.
 */
export function scanTools(folder: string, source: Source, overlay?: Overlay): Scan {
  const visited = new Map<string, Source>();
  const found = scanFile(folder, source, overlay, visited);
  collectImports(folder, source, overlay, visited);
  return { ...found, sources: [...visited.values()] };
}

function scanFile(
  folder: string,
  source: Source,
  overlay: Overlay | undefined,
  visited: Map<string, Source>,
): Omit<Scan, 'sources'> {
  visited.set(source.file, source);
  const text = blanked(source.text);
  const tools = new Map<string, Location>();
  const declared = new Map<string, Declared>();
  const unexported = new Map<string, Location>();
  for (const match of text.matchAll(exportedTool)) {
    const [whole, name] = match;
    if (!name) continue;
    tools.set(name, locate(source, match.index + whole.indexOf(name, whole.indexOf('const') + 5), name.length));
    declared.set(name, declarationAt(source, text, match.index));
  }
  const locals = new Map([...text.matchAll(localTool)].map((match) => [match[1] ?? '', match.index] as const));
  for (const [name, index] of locals) {
    const from = text.indexOf('const', index);
    const isUsed = (text.match(wordOf(name)) ?? []).length > 1;
    if (!isUsed) unexported.set(name, locate(source, from, text.indexOf(name, from + 5) + name.length - from));
  }
  const others = [...text.matchAll(exportedConst)].some(({ 1: name = '' }) => !tools.has(name) && name !== 'sync');
  let complete = !others && !/^[ \t]*export\s+default\b/m.test(text);
  for (const match of text.matchAll(exportedAll)) {
    const from = match[1] && neighbour(folder, source, match[1], overlay);
    if (!from) complete = false;
    else if (!visited.has(from.file)) {
      const inner = scanFile(folder, from, overlay, visited);
      for (const [name, at] of inner.tools) tools.set(name, at);
      for (const [name, own] of inner.declared) declared.set(name, own);
      for (const [name, at] of inner.unexported) unexported.set(name, at);
      complete &&= inner.complete;
    }
  }
  for (const match of text.matchAll(exportedList)) {
    const from = match[2] && neighbour(folder, source, match[2], overlay);
    const inner = from && !visited.has(from.file) ? scanFile(folder, from, overlay, visited) : null;
    for (const { name, as } of namesIn(match[1] ?? '')) {
      const index = locals.get(name);
      const at =
        inner?.tools.get(name) ??
        (index === undefined ? undefined : locate(source, text.indexOf(name, index + 5), name.length));
      const own = inner?.declared.get(name) ?? (index === undefined ? null : declarationAt(source, text, index));
      if (own) declared.set(as, own);
      if (at) tools.set(as, at);
      else if (as !== 'sync') complete = false;
    }
  }
  return { tools, declared, unexported, complete };
}

const wordOf = (name: string) => new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g');

const effectOption = /\beffect\s*:\s*(['"])(read|write)\1/;

/** The options of the tool whose declaration begins at an offset; it ends with the first line that begins with `}`. */
function declarationAt(source: Source, text: string, offset: number): Declared {
  const rest = text.slice(offset);
  const own = rest.slice(0, /^\}|\n(?=export )/m.exec(rest)?.index ?? rest.length);
  const effect = effectOption.exec(own);
  const word = effect?.[2] ?? '';
  return {
    effect: effect ? (word as 'read' | 'write') : null,
    effectAt: effect ? locate(source, offset + effect.index + effect[0].lastIndexOf(word), word.length) : null,
    owner: /\bowner\s*:\s*['"]user['"]/.test(own) ? 'user' : 'agent',
    generic: /\bgeneric\s*:\s*true\b/.test(own),
    handsOff: /\bhandsOff\s*:\s*true\b/.test(own),
  };
}

function collectImports(
  folder: string,
  source: Source,
  overlay: Overlay | undefined,
  visited: Map<string, Source>,
): void {
  visited.set(source.file, source);
  for (const match of source.text.matchAll(relativeImport)) {
    const from = neighbour(folder, source, match[1] ?? match[2] ?? '', overlay);
    if (from && !visited.has(from.file)) collectImports(folder, from, overlay, visited);
  }
}

function neighbour(folder: string, { file }: Source, specifier: string, overlay?: Overlay): Source | null {
  const path = inside(folder, resolve(dirname(file), specifier));
  const read = path === null ? null : readSource(path, 'tool', overlay, undefined, folder);
  return read && 'source' in read ? read.source : null;
}

const namesIn = (list: string) =>
  list.split(',').flatMap((entry) => {
    const [name, as] = entry.trim().split(/\s+as\s+/);
    return !name || name.startsWith('type ') ? [] : [{ name, as: as ?? name }];
  });

/** The text with its comments blanked, at the same offsets. */
export const blanked = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/[^\n]*/gm, (comment) => comment.replace(/[^\n]/g, ' '));
