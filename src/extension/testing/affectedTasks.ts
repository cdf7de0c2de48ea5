import { sep } from 'node:path';
import { isOutsideDomains } from '../../engine/shell/domain/domainFolder.ts';

/** A task under continuous run, and the file that it is in. */
export type WatchedTask = { readonly folder: string; readonly task: string; readonly file: string | undefined };

/**
 * The tasks that changes of files call for running again: those of a task file that changed; all of a domain when
 * anything else of it changed.
 * @param changed absolute paths
 */
export function affectedTasks<T extends WatchedTask>(changed: readonly string[], tasks: readonly T[]): readonly T[] {
  const files = changed.filter((file) => !isOutsideDomains(file));
  const others = files.filter((file) => !file.endsWith('.task.yaml'));
  return tasks.filter(
    ({ folder, file }) =>
      (file !== undefined && files.includes(file)) || others.some((other) => other.startsWith(folder + sep)),
  );
}
