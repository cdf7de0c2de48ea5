import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { contentHash } from '../core/hash.ts';
import { fileLimits, readBounded } from './boundedFile.ts';

/** Files that cannot run; what else a folder holds counts as code. */
const data = new Set(['.yaml', '.yml', '.json', '.jsonl', '.md', '.txt', '.csv', '.html', '.log']);

/** More files of code than a domain or an agent usually has. */
const mostFiles = 100;

/**
 * Returns the hash of the code in a folder; null where there is a link, a file that cannot be read, or very much of it.
 * Hidden folders are left out: they hold runs and settings.
 */
export function codeHashOf(folder: string): string | null {
  try {
    const code = codeIn(folder)?.map((file) => [relative(folder, file).split(sep).join('/'), digestOf(file)]);
    return code ? contentHash(code.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))) : null;
  } catch {
    return null;
  }
}

const digestOf = (file: string) =>
  createHash('sha256')
    .update(readBounded(file, { limit: fileLimits.text }))
    .digest('hex');

function codeIn(folder: string): readonly string[] | null {
  const found: string[] = [];
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.isSymbolicLink()) return null;
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) folders.push(join(at, entry.name));
      else if (!data.has(extname(entry.name).toLowerCase())) found.push(join(at, entry.name));
      if (found.length + folders.length > mostFiles) return null;
    }
  }
  return found;
}
