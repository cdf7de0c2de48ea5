/** Puts a text in the place of another one. Offsets are those of a JavaScript string. */
export type TextEdit = { readonly offset: number; readonly length: number; readonly text: string };

/**
 * The edits that make a change, none where it changes nothing; or a sentence that says why it can't be made. The warning
 * names what else the edits change.
 */
export type TextEdits =
  | { readonly edits: readonly TextEdit[]; readonly warning?: string }
  | { readonly problem: string };

/** The text after edits that do not overlap. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((one, other) => other.offset - one.offset)
    .reduce((result, edit) => result.slice(0, edit.offset) + edit.text + result.slice(edit.offset + edit.length), text);
}
