import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { partsOf } from '../engine/shell/source/fileParts.ts';
import type { Source } from '../engine/shell/source/source.ts';
import { contentsOf, trimmed } from './outline.ts';
import { placeOfSpan } from './symbols/text.ts';

/** Lines that fold into the first of them, from 1. */
export type Fold = { readonly line: number; readonly endLine: number; readonly isComment: boolean };

/** Returns what folds in a YAML file: items of lists, values with more than one line, and blocks of comments. */
export function foldsOf(source: Source): readonly Fold[] {
  const found = new Map<number, Fold>();
  const add = (from: number, to: number) => {
    const { line, endLine } = placeOfSpan(source, { from, to: trimmed(source, to) });
    const known = found.get(line);
    if (endLine > line && endLine > (known?.endLine ?? 0)) found.set(line, { line, endLine, isComment: false });
  };
  for (const part of partsOf(source))
    collect(contentsOf(part.source), (from, to) => add(part.from + from, part.from + to));
  for (const fold of comments(source)) if (!found.has(fold.line)) found.set(fold.line, fold);
  return [...found.values()].toSorted((a, b) => a.line - b.line);
}

function collect(node: Node | null, add: (from: number, to: number) => void): void {
  if (isSeq(node)) {
    for (const item of node.items as readonly Node[]) {
      if (item?.range) add(item.range[0], item.range[1]);
      collect(item, add);
    }
  } else if (isMap(node)) {
    for (const { key, value } of node.items) {
      const from = isScalar(key) ? key.range?.[0] : undefined;
      const to = (value as Node | null)?.range?.[1];
      if (from !== undefined && to !== undefined) add(from, to);
      collect(value as Node | null, add);
    }
  }
}

function comments({ text }: Source): readonly Fold[] {
  const found: Fold[] = [];
  let first = 0;
  for (const [index, line] of [...text.split('\n'), ''].entries()) {
    const isComment = /^\s*#/.test(line);
    if (isComment && first === 0) first = index + 1;
    if (isComment || first === 0) continue;
    if (index > first) found.push({ line: first, endLine: index, isComment: true });
    first = 0;
  }
  return found;
}
