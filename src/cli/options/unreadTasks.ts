import { basename, resolve } from 'node:path';
import { nameMatches } from '../../engine/core/text/literal.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { fitnessOf } from '../../engine/shell/load/fitness.ts';
import { writtenIds } from '../../engine/shell/load/writtenIds.ts';

/**
 * Returns the errors of files of tasks that cannot be read and have a task that a person named.
 * @param named an id, in which * matches any characters, or the path of a file from the working folder or the domain
 */
export function unreadTasks(domain: LoadedDomain, named: string, cwd: string): readonly Diagnostic[] {
  const paths = [resolve(cwd, named), resolve(domain.folder, named)];
  const isNamed = (file: string) => paths.includes(file) || idsIn(domain, file).some((id) => nameMatches(id, named));
  return fitnessOf(domain).unread.filter(({ file }) => isNamed(file));
}

/** Returns the ids that the text of a file seems to have. A file without a text may have the task that it is named after. */
function idsIn({ parts }: LoadedDomain, file: string): readonly string[] {
  const text = parts.texts.get(file)?.source.text ?? '';
  const ids = writtenIds(text).map(({ id }) => id);
  return ids.length > 0 ? ids : [basename(file, '.task.yaml')];
}
