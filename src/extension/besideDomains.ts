import { sep } from 'node:path';

const beside = /\/(?:\.rehearsal|\.git|\.vscode|node_modules|__pycache__)\//;

/**
 * Whether a file is not part of a domain, wherever it lies: what runs write, packages, and the files of other tools.
 */
export function isBesideDomains(file: string): boolean {
  return beside.test(file.replaceAll(sep, '/'));
}
