import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isWithin, RefusedFile } from './boundedFile.ts';
import { Fault } from './fault.ts';
import { workFolder } from './workFolders.ts';

/** Does something to a file. A disk that is full or refuses is a `Fault` that names the file. */
export function onDisk<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw writeFault(path, error);
  }
}

/** Returns an error of writing to a file as a `Fault` that names the file. */
export function writeFault(path: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return deletedMeanwhile(path);
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new Fault({
    who: 'infrastructure',
    code: full ? 'disk/full' : 'disk/write',
    message: full
      ? `${path}: the disk is full; what was recorded before is kept. Free space and run again`
      : error instanceof RefusedFile
        ? `${path}: ${message}. ${error.hint.replace(/\.$/, '')}`
        : `${path}: can't be written (${message.split(', ')[0]})${refusals.has(code ?? '') ? chooseAnother(path) : '; what was recorded before is kept'}`,
    file: path,
  });
}

/** Codes of a place that is not to be written to, so that nothing was recorded there. */
const refusals: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']);
const chooseAnother = (path: string) =>
  `. Choose a folder that you can write to${workFolderAround(path) ? ', for example with --out' : ''}`;

/** Reads from a file or a folder. One that can't be read is a `Fault` that names it. */
export function fromDisk<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw readFault(path, error);
  }
}

/** Returns an error of the file system as a `Fault` that names the file or folder, and any other error as it is. */
export function readFault(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new Fault({
    who: 'infrastructure',
    code: 'disk/read',
    message:
      error instanceof RefusedFile
        ? `${path}: ${message}. ${error.hint.replace(/\.$/, '')}`
        : `${path}: can't be read (${message.split(', ')[0]}). Check that it is there and that you may read it`,
    file: path,
  });
}

/**
 * Throws a `Fault` where a link or a pipe has the name of a file that is about to be written: anyone who made the
 * folder would choose what is overwritten.
 * @param within the folder that a link on the way to the file may not lead out of
 */
export function requireWritable(path: string, within?: string): void {
  if (within !== undefined) requireInside(dirname(path), within);
  const stat = onDisk(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (!stat?.isSymbolicLink() && !stat?.isFIFO()) return;
  const kind = stat.isFIFO() ? 'a pipe' : 'a symbolic link';
  const message = `${path}: is ${kind}, and nothing is written through it. Move it elsewhere`;
  throw new Fault({ who: 'infrastructure', code: 'disk/write', message, file: path });
}

/** Throws a `Fault` where a folder, or one on the way to it, is a link that leads out of `within` or to nothing. */
function requireInside(folder: string, within: string): void {
  if (!existsSync(within)) return;
  const root = realpathSync(within);
  let at = within;
  for (const part of relative(within, folder).split(sep).filter(Boolean)) {
    at = join(at, part);
    const stat = onDisk(at, () => lstatSync(at, { throwIfNoEntry: false }));
    if (!stat) return;
    const real = stat.isSymbolicLink() ? targetOf(at) : root;
    if (real === root || (real !== null && isWithin(root, real))) continue;
    const target = real === null ? 'a symbolic link to nothing' : `a symbolic link to ${real}, outside of ${within}`;
    const advice = workFolderAround(at)
      ? 'Remove the link, or name the folder to write to with --out'
      : 'Put a folder in its place';
    const message = `${at}: is ${target}, and nothing is written through it. ${advice}`;
    throw new Fault({ who: 'infrastructure', code: 'disk/write', message, file: at });
  }
}

function targetOf(link: string): string | null {
  try {
    return realpathSync(link);
  } catch {
    return null;
  }
}

/** Returns the innermost `.rehearsal` folder that a path is or lies in; null without one. */
function workFolderAround(path: string): string | null {
  for (let folder = resolve(path); folder !== dirname(folder); folder = dirname(folder))
    if (basename(folder) === workFolder) return folder;
  return null;
}

/** Writes a file whole or not at all, in place of the one that is there. */
export function replaceFile(path: string, text: string): void {
  writeAnew(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Writes a new file. A link that has its name is removed and not followed. */
function writeAnew(path: string, content: string | Buffer, mode = 0o666): void {
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode, flag: 'wx' });
}

/** Makes a file whole or not at all; false where there is one, also one that another process makes meanwhile. */
export function makeOnce(path: string, content: string | Buffer, mode = 0o666): boolean {
  const own = `${path}.${process.pid}`;
  writeAnew(own, content, mode);
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Somebody took a file or its folder away while a run was writing it. */
export function deletedMeanwhile(path: string): Fault {
  const message = `${path}: was deleted while the run was written, and what was recorded there is lost. Run again`;
  return new Fault({ who: 'infrastructure', code: 'disk/deleted', message, file: path });
}

/**
 * Makes a folder and those above it that are missing. Throws a `Fault` where a link leads out of the folder that it
 * belongs to. Node's own way to make folders never ends where the file system says about a new folder that there is no
 * such thing, as /proc does.
 * @param within the folder that it belongs to; by default the one with the `.rehearsal` folder that it is in, if any
 */
export function makeFolder(
  path: string,
  { mode = 0o777, within }: { readonly mode?: number; readonly within?: string } = {},
): void {
  const work = workFolderAround(path);
  const root = within ?? (work === null ? undefined : dirname(work));
  if (root !== undefined) requireInside(resolve(path), root);
  const missing: string[] = [];
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  for (const folder of missing)
    onDisk(folder, () => {
      try {
        mkdirSync(folder, { mode });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EEXIST') return;
        if (code !== 'ENOENT' || !existsSync(dirname(folder))) throw error;
        const message = `${folder}: cannot be created, because ${dirname(folder)} accepts no new folders. Choose another place`;
        throw new Fault({ who: 'infrastructure', code: 'disk/write', message, file: folder });
      }
    });
}

/**
 * Makes the folder of a run. A `.rehearsal` folder that it lies in says in its own `.gitignore` that git is to leave it
 * alone; one that is there already, for instance an empty one, is kept.
 */
export function makeRunFolder(path: string): void {
  makeFolder(path);
  const work = workFolderAround(path);
  if (work === null) return;
  const ignore = join(work, '.gitignore');
  onDisk(path, () => {
    if (!existsSync(ignore)) makeOnce(ignore, '*\n');
  });
}

/** Returns how many bytes a file has; 0 for none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns the names in a folder, in order; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
