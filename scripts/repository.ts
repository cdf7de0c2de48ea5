import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Joins a path below the repository's root. */
export function inRoot(...parts: string[]): string {
  return join(root, ...parts);
}

/** Returns all files below a folder, sorted, without node_modules and dot folders. A file gives itself. */
export function listFiles(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  const found: string[] = [];
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === '__pycache__' || entry.name.startsWith('.')) continue;
    const child = join(path, entry.name);
    if (entry.isDirectory()) found.push(...listFiles(child));
    else found.push(child);
  }
  return found.sort();
}

/** Returns a hash of the names and contents of files and folders (paths relative to the root), and of other words. */
export function contentStamp(paths: readonly string[], ...extra: string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => listFiles(inRoot(path)))) {
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  for (const word of extra) hash.update(word).update('\0');
  return hash.digest('hex');
}

/** Returns whether the stamp file (path relative to the root) has this stamp. */
export function isStamped(file: string, stamp: string): boolean {
  return existsSync(inRoot(file)) && readFileSync(inRoot(file), 'utf8') === stamp;
}

/** Writes a stamp file. Call it last, so that an interrupted step runs again. */
export function writeStamp(file: string, stamp: string): void {
  mkdirSync(dirname(inRoot(file)), { recursive: true });
  writeFileSync(inRoot(file), stamp);
}
