import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fromDisk } from '../../engine/shell/files/disk.ts';

/** File name extensions of files that can contain conversations. */
export const logEndings = ['.json', '.jsonl', '.ndjson', '.csv', '.tsv', '.log'] as const;

const endingPattern = new RegExp(`(?:${logEndings.join('|').replaceAll('.', '\\.')})(?:\\.gz)?$`, 'i');

/** Returns a path without the ending of a log, or without that of another file. */
export const withoutLogEnding = (path: string): string =>
  endingPattern.test(path) ? path.replace(endingPattern, '') : path.replace(/\.[A-Za-z0-9]+$/, '');

type LogFolder = {
  /** The paths of its files of conversations, and of those in the folders inside of it. */
  readonly files: readonly string[];
  /** The number of other files, including links. */
  readonly others: number;
};

/** Finds the files of conversations in a folder. Hidden ones are passed over, and links are not followed. */
export function logsInFolder(folder: string): LogFolder {
  const entries = fromDisk(folder, () => readdirSync(folder, { withFileTypes: true }))
    .filter(({ name }) => !name.startsWith('.'))
    .toSorted(byName);
  const inner = entries.filter((each) => each.isDirectory()).map(({ name }) => logsInFolder(join(folder, name)));
  const [logs, others] = [[] as string[], [] as string[]];
  for (const each of entries)
    if (!each.isDirectory())
      (each.isFile() && endingPattern.test(each.name) ? logs : others).push(join(folder, each.name));
  return {
    files: [...logs, ...inner.flatMap(({ files }) => files)],
    others: others.length + inner.reduce((sum, each) => sum + each.others, 0),
  };
}

const byName = (one: Dirent, other: Dirent) => (one.name < other.name ? -1 : 1);
