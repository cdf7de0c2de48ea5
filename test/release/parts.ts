import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary.ts';

/** Returns the packed file with an extension, such as `.vsix`. Throws unless there is exactly one. */
export function partOf(ending: string): string {
  const folder = process.env['REHEARSAL_RELEASE'] ?? '';
  const found = readdirSync(folder).filter((name) => name.endsWith(ending));
  if (found.length !== 1) throw new Error(`${folder} has ${found.length} files that end with ${ending}`);
  return join(folder, found[0] ?? '');
}

/** Returns a new empty folder, outside of the repository. It is removed after the tests. */
export const emptyFolder = (): string => temporaryFolder('release');

/** Returns the targets of links and pictures that a page shows wherever it is read, and the others. */
export function targetsIn(page: string): {
  readonly absolute: readonly string[];
  readonly relative: readonly string[];
} {
  const targets = [...page.matchAll(/\]\(([^)\s]+)/g)].map(([, target = '']) => target);
  const [absolute, relative] = [true, false].map((wanted) =>
    targets.filter((target) => /^(?:https:\/\/|#)/.test(target) === wanted),
  );
  return { absolute: absolute ?? [], relative: relative ?? [] };
}

export type Outcome = { readonly code: number | null; readonly output: string };

/** Runs a program in a folder with its output and errors in one text. */
export function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (error) throw error;
  return { code: status, output: stdout + stderr };
}
