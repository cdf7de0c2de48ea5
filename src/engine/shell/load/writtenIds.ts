import { basename } from 'node:path';
import type { FileLine } from '../files/diagnostic.ts';

/** An id that the text of a file seems to give to an item, and its line (from 1). */
export type WrittenId = { readonly id: string; readonly line: number };

/** Returns the pattern of a row in which a key names an item, also by a text that is not a valid id. */
const patternOf = (key: string) =>
  new RegExp(`^([ \\t]*(?:-[ \\t]+)?)(?:\\{[ \\t]*)?${key}[ \\t]*:[ \\t]*["']?([^\\s"',}[\\]{][^"',}[\\]{]*)`);

const patterns = { id: patternOf('id'), name: patternOf('name') } as const;

/** A key that names an item: a task and a persona have an id, a simulated tool a name. */
export type NamingKey = keyof typeof patterns;

/**
 * Returns the ids in the text of a file of tasks or personas, also where the file or an item of it cannot be read. An id
 * that is indented more than others belongs to a value inside an item.
 * @param key the key that names an item
 */
export function writtenIds(text: string, key: NamingKey = 'id'): readonly WrittenId[] {
  const found = text.split('\n').flatMap((row, index) => {
    const [, before, written] = patterns[key].exec(row) ?? [];
    const [id] = written?.split(/\s#/) ?? [];
    return before === undefined || id === undefined
      ? []
      : [{ id: id.trimEnd(), line: index + 1, indent: before.length }];
  });
  const outermost = Math.min(...found.map(({ indent }) => indent));
  return found.flatMap(({ id, line, indent }) => (indent === outermost ? [{ id, line }] : []));
}

/**
 * Returns the ids of the items of a file that cannot be read: those in its text, or else the one that the file is named
 * after.
 * @param at the file, and the line of an item that its text does not name
 * @param isWanted whether an id in the text belongs to an item that cannot be read
 */
export function unreadIds(
  text: string,
  { file, line }: FileLine,
  isWanted: (id: string) => boolean = () => true,
): readonly WrittenId[] {
  const found = writtenIds(text).filter(({ id }) => isWanted(id));
  return found.length > 0 ? found : [{ id: basename(file).replace(/\.\w+\.yaml$/, ''), line }];
}
