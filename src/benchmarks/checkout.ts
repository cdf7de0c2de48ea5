import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileLimits, readBoundedText } from '../engine/shell/files/boundedFile.ts';

/**
 * Returns the commit that a folder is checked out at, read from its git files (gitrepository-layout); null if there are
 * none.
 */
export function commitOf(folder: string): string | null {
  const git = gitFolder(join(folder, '.git'));
  if (git === null) return null;
  const head = read(join(git, 'HEAD'));
  const name = /^ref: (.+)$/.exec(head)?.[1];
  // A linked worktree has its own HEAD, and the branches of the repository that it belongs to.
  const shared = resolve(git, read(join(git, 'commondir')));
  const commit = name === undefined ? head : read(join(shared, name)) || packed(shared, name);
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}

/** The folder itself, or where a file in its place says that it is. */
function gitFolder(path: string): string | null {
  if (!existsSync(path)) return null;
  if (statSync(path).isDirectory()) return path;
  const named = /^gitdir: (.+)$/.exec(read(path))?.[1];
  return named === undefined ? null : resolve(path, '..', named);
}

/** The commit of a branch that git has packed away with others. */
function packed(git: string, name: string): string {
  const lines = read(join(git, 'packed-refs')).split('\n');
  return lines.find((line) => line.endsWith(` ${name}`))?.split(' ')[0] ?? '';
}

const read = (file: string) => (existsSync(file) ? readBoundedText(file, fileLimits.text).trim() : '');
