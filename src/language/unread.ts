import type { Diagnostic, FileLine } from '../engine/shell/files/diagnostic.ts';
import { fitnessOf } from '../engine/shell/load/fitness.ts';
import type { LoadedDomain } from '../engine/shell/load/loadedDomain.ts';
import { unreadIds, writtenIds } from '../engine/shell/load/writtenIds.ts';

/** A task or a persona that cannot be read, by the id in its text, with the first error that concerns it. */
export type Unread = FileLine & { readonly id: string; readonly error: Diagnostic };

/** Returns the items of the files that cannot be read. */
export function unreadItems(
  loaded: Pick<LoadedDomain, 'locations' | 'parts' | 'domain' | 'diagnostics'>,
  kind: 'task' | 'persona',
): readonly Unread[] {
  const { locations, parts } = loaded;
  const { unread, unreadPersonas } = fitnessOf(loaded);
  const [errors, known] = kind === 'task' ? [unread, locations.tasks] : [unreadPersonas, locations.personas];
  return [...Map.groupBy(errors, ({ file }) => file)].flatMap(([file, found]) => {
    const [first] = found;
    if (!first) return [];
    const text = parts.texts.get(file)?.source.text ?? '';
    const all = writtenIds(text);
    return unreadIds(text, first, (id) => !known.has(id)).map(({ id, line }) => {
      const end = all.find((other) => other.line > line)?.line ?? Number.POSITIVE_INFINITY;
      const own = found.find((error) => error.line >= line && error.line < end);
      return { id, file, line, error: own ?? first };
    });
  });
}
