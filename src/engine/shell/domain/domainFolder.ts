import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

const unrelated = /\/(?:\.rehearsal|\.git|\.vscode|node_modules|__pycache__)\//;

/** Returns whether a file cannot be part of a domain: recordings of runs, packages, and files of other tools. */
export const isOutsideDomains = (file: string): boolean => unrelated.test(file.replaceAll(sep, '/'));

/** Returns the domain that a file belongs to: the nearest folder above it with a domain.yaml. */
export function domainFolderOf(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'domain.yaml'))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}
