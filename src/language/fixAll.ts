import { edited, fixesTogether, fixRounds } from '../engine/shell/domain/fixes.ts';
import type { Diagnostic } from '../engine/shell/files/diagnostic.ts';

/** Texts of files by their paths. */
export type Texts = ReadonlyMap<string, string>;

/**
 * The texts of the files after every fix that needs no thought has been made, in as many rounds as that takes.
 * @param look what is found in the domain while these texts replace its files
 * @param read the text of a file as it is now
 * @param only a file to which the fixes are confined; a fix that reaches into another one is left
 */
export function fixedTexts(
  look: (texts: Texts) => readonly Diagnostic[],
  read: (file: string) => string,
  only?: string,
): Texts {
  const made = new Map<string, string>();
  for (let round = 0; round < fixRounds; round++) {
    const found = look(made).filter(({ fix }) => only === undefined || fix?.edits.every(({ file }) => file === only));
    const edits = fixesTogether(found).flatMap((fix) => fix.edits);
    if (edits.length === 0) break;
    for (const [file, own] of Map.groupBy(edits, (edit) => edit.file))
      made.set(file, edited(made.get(file) ?? read(file), own));
  }
  return made;
}
