import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Path } from '../../engine/core/values/json.ts';
import { type FilePart, partsOf } from '../../engine/shell/source/fileParts.ts';
import { remembered, type Source } from '../../engine/shell/source/source.ts';
import { documentOf } from '../../engine/shell/source/yaml.ts';
import { isMergeKey, mergedPair, ownPair } from '../../engine/shell/source/yamlMerge.ts';
import type { Span } from './text.ts';

/** A key or a value of a YAML file: where its words are, without quotes and without the header of a block. */
export type YamlScalar = Span & {
  /** From the root of the file; of a key the path of its value. */
  readonly path: Path;
  readonly isKey: boolean;
  readonly value: unknown;
  readonly style: 'plain' | 'single' | 'double' | 'block';
};

const scalars = new WeakMap<Source, readonly YamlScalar[]>();

/** Every key and scalar value in the order of the text; as much as can be read where the file has faults. */
export function scalarsOf(source: Source): readonly YamlScalar[] {
  return remembered(scalars, source, () => {
    const parts = partsOf(source);
    if (parts.length > 1)
      return parts.flatMap((part, index) => scalarsOf(part.source).map((scalar) => scalarInFile(scalar, part, index)));
    const found: YamlScalar[] = [];
    try {
      collect(documentOf(source).document.contents, [], source, found);
    } catch (error) {
      // A file that is nested too deep is not searched for names.
      if (!(error instanceof RangeError)) throw error;
    }
    return found;
  });
}

function scalarInFile(scalar: YamlScalar, { from }: FilePart, index: number): YamlScalar {
  const path = [index, ...scalar.path.slice(1)];
  return { ...scalar, path, from: scalar.from + from, to: scalar.to + from };
}

function collect(node: unknown, path: Path, source: Source, found: YamlScalar[]): void {
  if (isMap(node)) for (const pair of node.items) collectPair(pair, path, source, found);
  else if (isSeq(node))
    for (const [index, item] of node.items.entries()) collect(item, [...path, index], source, found);
  else if (isScalar(node)) add(node, path, false, source, found);
}

function collectPair({ key, value }: Pair, path: Path, source: Source, found: YamlScalar[]): void {
  if (!isScalar(key)) return;
  // What is merged is read as if it were in the map itself.
  if (isMergeKey(key)) {
    collect(value, path, source, found);
    return;
  }
  const own = [...path, String(key.value)];
  add(key, own, true, source, found);
  collect(value, own, source, found);
}

function add(
  node: Node & { value: unknown; type?: string },
  path: Path,
  isKey: boolean,
  source: Source,
  found: YamlScalar[],
) {
  if (!node.range) return;
  const [from, to] = node.range;
  const { value } = node;
  switch (node.type) {
    case 'QUOTE_DOUBLE':
    case 'QUOTE_SINGLE': {
      const style = node.type === 'QUOTE_DOUBLE' ? 'double' : 'single';
      const isClosed = to - from > 1 && source.text[to - 1] === source.text[from];
      found.push({ path, isKey, value, style, from: from + 1, to: isClosed ? to - 1 : to });
      return;
    }
    case 'BLOCK_FOLDED':
    case 'BLOCK_LITERAL': {
      const header = source.text.indexOf('\n', from);
      found.push({ path, isKey, value, style: 'block', from: header < 0 || header >= to ? to : header + 1, to });
      return;
    }
    default:
      found.push({ path, isKey, value, style: 'plain', from, to });
  }
}

/** Returns what the file holds at a path, as plain data; undefined where there is nothing. */
export function valueAt(source: Source, path: Path): unknown {
  const parts = partsOf(source);
  if (parts.length > 1) {
    const [index, ...rest] = path;
    if (index === undefined) return parts.map((part) => valueAt(part.source, [0]));
    const part = parts[Number(index)];
    return part && valueAt(part.source, [0, ...rest]);
  }
  try {
    const { document } = documentOf(source);
    let node: unknown = document.contents;
    for (const part of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isSeq(node)) node = node.get(part, true);
      else if (isMap(node)) node = (ownPair(node, part) ?? mergedPair(document, node, part))?.value;
      else return undefined;
    }
    return isMap(node) || isSeq(node) || isScalar(node) ? node.toJS(document) : undefined;
  } catch {
    // An alias without an anchor; the loader says so.
    return undefined;
  }
}

/** The words of a scalar as they are in the file, at the same offsets: escapes are blanked, so that quotes count. */
export function scalarContent({ text }: Source, { from, to, style }: YamlScalar): string {
  const own = text.slice(from, to);
  if (style === 'double') return own.replaceAll('\\"', ' "');
  return style === 'single' ? own.replaceAll("''", " '") : own;
}
