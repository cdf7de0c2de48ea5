import type { Diagnostic, Edit, Location } from '../files/diagnostic.ts';
import { remembered, type Source } from './source.ts';

/** An item of the list that a file is, read by itself: typing in one of thousands leaves the others as they were read. */
export type FilePart = {
  readonly source: Source;
  /** Its start in the file: an offset, and the number of lines before it. */
  readonly from: number;
  readonly line: number;
};

const parts = new WeakMap<Source, readonly FilePart[]>();
/** The parts of each file as it was read last, by their texts. */
const last = new Map<string, ReadonlyMap<string, Source>>();

/**
 * The items of a YAML file that is a list with more than one, as it is at the left margin; else the file as one part. A
 * file with anchors or several documents is one part: what is in one item can be used in another.
 */
export function partsOf(source: Source): readonly FilePart[] {
  return remembered(parts, source, () => split(source));
}

function split(source: Source): readonly FilePart[] {
  const { file, text } = source;
  const starts = isSplittable(text) ? [...text.matchAll(/^- /gm)].map(({ index }) => index) : [];
  if (starts.length < 2) return [{ source, from: 0, line: 0 }];
  const before = last.get(file);
  const own = new Map<string, Source>();
  let line = 0;
  const found = starts.map((start, index): FilePart => {
    const from = index === 0 ? 0 : start;
    const part = text.slice(from, starts[index + 1] ?? text.length);
    const known = own.get(part) ?? before?.get(part) ?? { file, text: part };
    own.set(part, known);
    const made = { source: known, from, line };
    line += part.split('\n').length - 1;
    return made;
  });
  last.set(file, own);
  return found;
}

/** Whether nothing but items and comments begins at the left margin and the items are independent. */
function isSplittable(text: string): boolean {
  return !/^(?![-# \n]|$)/m.test(text) && !/^-(?! )/m.test(text) && !hasAnchors(text);
}

/** Whether a text may have anchors or aliases; one between quotes counts, too. */
export function hasAnchors(text: string): boolean {
  return /(?:^|[\s,[{:])[&*][A-Za-z0-9_]/.test(text);
}

/** A place in a part as one in its file. */
export function placeInFile<T extends Location>(at: T, { line }: FilePart): T {
  return line === 0 ? at : { ...at, line: at.line + line, endLine: at.endLine + line };
}

/** A finding in a part as one in its file, its fix included. */
export function findingInFile(found: Diagnostic, part: FilePart): Diagnostic {
  const moved = placeInFile(found, part);
  if (!moved.fix) return moved;
  return { ...moved, fix: { ...moved.fix, edits: moved.fix.edits.map((edit: Edit) => placeInFile(edit, part)) } };
}
