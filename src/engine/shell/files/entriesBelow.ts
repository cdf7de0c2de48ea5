import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin, RefusedFile } from './boundedFile.ts';

/** The most levels of folders, and the most files and folders, that are listed below a folder. */
export const listingLimits = { levels: 32, entries: 200_000 } as const;

export type EntriesBelow = {
  /** The paths of its files and folders from that folder, in no order. */
  readonly names: readonly string[];
  /** The names of the links to folders outside, which are not followed. */
  readonly outside: readonly string[];
};

/**
 * Lists a folder with all folders in it. Each folder is listed once, so that links that lead in a circle end; a folder
 * has the name of a link only where it has no other one. Throws a `RefusedFile` for a folder that lies outside, and for
 * more levels or entries than the limits.
 * @param within the folder that everything must be in when all links are followed
 */
export function entriesBelow(
  folder: string,
  within: string = folder,
  most: number = listingLimits.entries,
): EntriesBelow {
  const bounds = realpathSync(within);
  const isInside = (real: string) => real === bounds || isWithin(bounds, real);
  const start = realpathSync(folder);
  if (!isInside(start))
    throw new RefusedFile(`is a link to ${start}, outside of ${within}`, 'Copy the folder to its place.');
  const names: string[] = [];
  const outside: string[] = [];
  const seen = new Set<string>();
  const folders = [{ name: '', real: start, level: 0 }];
  const links: { readonly name: string; readonly level: number }[] = [];
  for (;;) {
    const next = folders.pop();
    if (!next) {
      const link = links.shift();
      if (!link) return { names, outside };
      const real = realpathSync(join(folder, link.name));
      if (isInside(real)) folders.push({ ...link, real });
      else outside.push(link.name);
      continue;
    }
    const { name, real, level } = next;
    if (seen.has(real)) continue;
    seen.add(real);
    if (level > listingLimits.levels)
      throw new RefusedFile(`has more than ${listingLimits.levels} levels of folders: ${name}`, fewer);
    for (const entry of readdirSync(real, { withFileTypes: true })) {
      const own = { name: join(name, entry.name), level: level + 1 };
      names.push(own.name);
      if (entry.isDirectory()) folders.push({ ...own, real: join(real, entry.name) });
      else if (isLinkToFolder(entry, join(real, entry.name))) links.push(own);
    }
    if (names.length > most)
      throw new RefusedFile(`has more than ${most.toLocaleString('en')} files and folders`, fewer);
  }
}

const fewer = 'Move what does not belong there elsewhere.';

function isLinkToFolder(entry: Dirent, path: string): boolean {
  try {
    return entry.isSymbolicLink() && statSync(path).isDirectory();
  } catch {
    // What reads a link to nothing or to itself reports it.
    return false;
  }
}
