import { sep } from 'node:path';

const beside = /\/(?:\.rehearsal|\.git|\.vscode|node_modules|__pycache__)\//;

/**
 * Reports whether a file is not part of a domain, wherever it is: output of runs, packages, and files of other tools.
 */
export function isBesideDomains(file: string): boolean {
  return beside.test(file.replaceAll(sep, '/'));
}
