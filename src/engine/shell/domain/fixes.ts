import { fileLimits, readBoundedText } from '../files/boundedFile.ts';
import type { Diagnostic, Edit, Fix } from '../files/diagnostic.ts';
import { replaceFile } from '../files/disk.ts';

/** The most rounds of fixes. A fix can uncover another finding, but never many in a row. */
export const fixRounds = 10;

/** Returns the text with all edits that do not overlap. Of two that overlap, the first is made. */
export function edited(text: string, edits: readonly Edit[]): string {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offset = (line: number, column: number) =>
    Math.min((starts[line - 1] ?? text.length) + column - 1, text.length);
  const ranges = edits
    .map((edit) => ({
      from: offset(edit.line, edit.column),
      to: offset(edit.endLine, edit.endColumn),
      text: edit.text,
    }))
    .toSorted((a, b) => a.from - b.from || a.to - b.to);
  let made = '';
  let at = 0;
  for (const { from, to, text: replacement } of ranges) {
    if (from < at) continue;
    made += text.slice(at, from) + replacement;
    at = to;
  }
  return made + text.slice(at);
}

export type Mended = { readonly mended: readonly Diagnostic[]; readonly files: readonly string[] };

/**
 * Makes the fixes of the findings in their files, each file whole or not at all. Fixes that touch the same place are
 * left for the next round, so that each is made on what it was found in.
 */
export function applyFixes(found: readonly Diagnostic[]): Mended {
  const chosen = new Set(fixesTogether(found));
  const byFile = Map.groupBy(
    [...chosen].flatMap(({ edits }) => edits),
    ({ file }) => file,
  );
  for (const [file, edits] of byFile) {
    const text = readBoundedText(file, fileLimits.data);
    const hasReturns = text.includes('\r\n');
    const mended = edited(hasReturns ? text.replaceAll('\r\n', '\n') : text, edits);
    replaceFile(file, hasReturns ? mended.replaceAll('\n', '\r\n') : mended);
  }
  return { mended: found.filter(({ fix }) => fix && chosen.has(fix)), files: [...byFile.keys()] };
}

/** The fixes that can be made at once: of two that touch the same place the first. */
export function fixesTogether(found: readonly Diagnostic[]): readonly Fix[] {
  const taken: Edit[] = [];
  return found.flatMap(({ fix }) => {
    if (!fix || fix.edits.some((edit) => taken.some((other) => overlaps(edit, other)))) return [];
    taken.push(...fix.edits);
    return [fix];
  });
}

/** Whether two edits are in one place; two insertions at one point are. */
function overlaps(a: Edit, b: Edit): boolean {
  if (a.file !== b.file) return false;
  const isBefore = (one: Edit, other: Edit) =>
    one.endLine < other.line || (one.endLine === other.line && one.endColumn < other.column);
  return !isBefore(a, b) && !isBefore(b, a);
}
