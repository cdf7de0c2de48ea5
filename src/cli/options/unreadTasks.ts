import { resolve } from 'node:path';
import { nameMatches } from '../../engine/core/text/literal.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { fitnessOf } from '../../engine/shell/load/fitness.ts';
import { unreadIds } from '../../engine/shell/load/writtenIds.ts';

/**
 * Returns the errors of files of tasks that cannot be read and have a task that a person named.
 * @param named an id, in which * matches any characters, or the path of a file from the working folder or the domain
 */
export function unreadTasks(domain: LoadedDomain, named: string, cwd: string): readonly Diagnostic[] {
  const paths = [resolve(cwd, named), resolve(domain.folder, named)];
  return fitnessOf(domain).unread.filter((error) => {
    if (paths.includes(error.file)) return true;
    const text = domain.parts.texts.get(error.file)?.source.text ?? '';
    return unreadIds(text, error).some(({ id }) => nameMatches(id, named));
  });
}
