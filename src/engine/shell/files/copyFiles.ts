import { type Dirent, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileLimits, isWithin, RefusedFile, readBounded } from './boundedFile.ts';

/** More files than a start state usually has. */
const mostFiles = 10_000;

/**
 * Copies the files of a folder, with its folders, into another one. Nothing there is overwritten. Throws a `RefusedFile`
 * for a link, a device, too many files or too large ones, and for a folder that contains the copy.
 * @param within the folder that `from` must be in when all links are followed
 * @returns the number of files
 */
export function copyFiles(from: string, to: string, within: string = from): number {
  mkdirSync(to, { recursive: true });
  const [root, copies, bounds] = [from, to, within].map((folder) => realpathSync(folder)) as [string, string, string];
  if (root !== bounds && !isWithin(bounds, root))
    throw new RefusedFile(`${from} is a link to ${root}, outside of ${within}`, 'Copy the files into the folder.');
  if (copies === root || isWithin(root, copies))
    throw new RefusedFile(`${from} contains ${to}, where its copy goes`, 'Use a folder that does not contain it.');
  let files = 0;
  let left: number = fileLimits.data;
  for (const { path, name, isFolder } of copiedEntries(from)) {
    const copied = join(to, name);
    if (isFolder) mkdirSync(copied, { recursive: true });
    else {
      const bytes = readFrom(path, left, from);
      left -= bytes.length;
      writeFileSync(copied, bytes, { flag: 'wx' });
      files += 1;
    }
  }
  return files;
}

type CopiedEntry = { readonly path: string; readonly name: string; readonly isFolder: boolean };

/** Yields what a copy of a folder has, each folder before what is in it. Throws a `RefusedFile` as `copyFiles` does. */
export function* copiedEntries(from: string): Generator<CopiedEntry> {
  let files = 0;
  function* within(name: string): Generator<CopiedEntry> {
    for (const entry of readdirSync(join(from, name), { withFileTypes: true })) {
      const own = join(name, entry.name);
      const isFolder = entry.isDirectory();
      if (!isFolder) throwUnlessCopied(entry, join(from, own), ++files);
      yield { path: join(from, own), name: own, isFolder };
      if (isFolder) yield* within(own);
    }
  }
  yield* within('');
}

/** Reads a file like `readBounded`, and names it in what is refused. */
function readFrom(path: string, limit: number, within: string): Buffer {
  try {
    return readBounded(path, { limit, within });
  } catch (error) {
    if (error instanceof RefusedFile) throw new RefusedFile(`${path} ${error.message}`, error.hint);
    throw error;
  }
}

function throwUnlessCopied(entry: Dirent, path: string, files: number): void {
  if (!entry.isFile())
    throw new RefusedFile(`${path} is a link or a device`, 'Use a folder that has files and folders only.');
  if (files > mostFiles)
    throw new RefusedFile(`there are more than ${mostFiles} files`, 'Use a folder with fewer files.');
}
