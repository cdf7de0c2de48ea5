/** An id that the text of a file seems to give to an item, and its line (from 1). */
export type WrittenId = { readonly id: string; readonly line: number };

/**
 * Returns the ids in the text of a file of tasks or personas, also where the file or an item of it cannot be read. An id
 * that is indented more than others belongs to a value inside an item.
 */
export function writtenIds(text: string): readonly WrittenId[] {
  const found = text.split('\n').flatMap((row, index) => {
    const [, before, id] = /^([ \t]*(?:-[ \t]+)?)(?:\{[ \t]*)?id[ \t]*:[ \t]*["']?([^\s"',}[\]{]+)/.exec(row) ?? [];
    return before === undefined || id === undefined ? [] : [{ id, line: index + 1, indent: before.length }];
  });
  const outermost = Math.min(...found.map(({ indent }) => indent));
  return found.flatMap(({ id, line, indent }) => (indent === outermost ? [{ id, line }] : []));
}
