/** An id that the text of a file seems to give to an item, and its line (from 1). */
export type WrittenId = { readonly id: string; readonly line: number };

/** Returns the ids in the text of a file of tasks or personas, also where the file or an item of it cannot be read. */
export function writtenIds(text: string): readonly WrittenId[] {
  return text.split('\n').flatMap((row, index) => {
    const id = /^[ \t]*(?:-[ \t]+)?(?:\{[ \t]*)?id[ \t]*:[ \t]*["']?([^\s"',}[\]{]+)/.exec(row)?.[1];
    return id === undefined ? [] : [{ id, line: index + 1 }];
  });
}
