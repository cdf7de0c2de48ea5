import { pathFrom } from '../../engine/shell/files/diagnostic.ts';
import { type Placed, placeOf } from '../../engine/shell/source/items.ts';
import type { Shown } from '../../webview/messages/protocol.ts';

type Named = { readonly id: string };
type Entry = { readonly path: readonly PropertyKey[]; readonly value: Named };

/** Returns the errors of an entry with those of its id in place of what a check says about the id. */
export function withTakenId(errors: Shown['errors'], taken: Shown['errors']): Shown['errors'] {
  return taken.length === 0 ? errors : [...errors.filter(({ path }) => path[0] !== 'id'), ...taken];
}

/**
 * Returns an error for an id that another entry of the domain has. The finding of the language server is at the later of
 * the two, which may be in another file than the form shows.
 */
export function takenIdErrors(
  kind: 'persona' | 'task',
  { path, value: { id } }: Entry,
  file: string,
  entries: readonly Placed<Named>[],
): Shown['errors'] {
  const other = entries.find(
    (each) => each.value.id === id && (each.file !== file || each.path.join() !== path.join()),
  );
  if (!other) return [];
  const taken = `${pathFrom({ file }, other.file)}:${placeOf(other).line}`;
  return [{ path: ['id'], message: `The ${kind} id ${id} is taken by ${taken}. Give one of the two another id.` }];
}
