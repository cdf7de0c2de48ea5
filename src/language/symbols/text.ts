import type { Location } from '../../engine/shell/files/diagnostic.ts';
import { remembered, type Source } from '../../engine/shell/source/source.ts';

/** A part of a text: offsets, the end exclusive. */
export type Span = { readonly from: number; readonly to: number };

type Text = Pick<Source, 'text'>;

const starts = new WeakMap<Text, readonly number[]>();

/** The offset at which each line begins. */
export function lineStarts(source: Text): readonly number[] {
  return remembered(starts, source, () => {
    const found = [0];
    for (let at = source.text.indexOf('\n'); at >= 0; at = source.text.indexOf('\n', at + 1)) found.push(at + 1);
    return found;
  });
}

/** The offset of a line and a column, both from 1; the nearest one that there is. */
export function offsetOf(source: Text, line: number, column: number): number {
  const all = lineStarts(source);
  const start = all[Math.max(0, line - 1)] ?? source.text.length;
  const end = (all[line] ?? source.text.length + 1) - 1;
  return Math.min(start + Math.max(0, column - 1), Math.max(start, end));
}

/** The place of a part of a text. */
export function placeOfSpan(source: Source, { from, to }: Span): Location {
  const [line, column] = lineAndColumn(source, from);
  const [endLine, endColumn] = lineAndColumn(source, to);
  return { file: source.file, line, column, endLine, endColumn };
}

function lineAndColumn(source: Source, offset: number): readonly [line: number, column: number] {
  const all = lineStarts(source);
  let low = 0;
  let high = all.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((all[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return [low + 1, offset - (all[low] ?? 0) + 1];
}

/** Whether an offset is in a part of a text, or at its end. */
export function touches({ from, to }: Span, offset: number): boolean {
  return from <= offset && offset <= to;
}
