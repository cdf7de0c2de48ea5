import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryFolder } from './temporary.ts';
import { rehearsal } from './terminal.ts';

/** Returns an empty folder that is removed after the test. */
export function scratch(): string {
  const folder = temporaryFolder('rehearsal-benchmark');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Replaces `from` in a file, or the whole file if `from` is null, with `to`. With null and '', removes the file. */
export type Spoiling = readonly [file: string, from: string | null, to: string];

/** Returns a copy of a package with some changes that damage it. */
export function spoiledCopy(fixture: string, changes: readonly Spoiling[]): string {
  const folder = join(scratch(), 'copy');
  cpSync(fixture, folder, { recursive: true });
  for (const [file, from, to] of changes) {
    const path = join(folder, file);
    if (to === '' && from === null) rmSync(path, { recursive: true });
    else writeFileSync(path, from === null ? to : readFileSync(path, 'utf8').replace(from, to));
  }
  return folder;
}

/** Expects that an import is refused with one line that matches the message, and prints nothing else. */
export async function expectRefused(benchmark: string, args: readonly string[], message: RegExp): Promise<void> {
  const printed = await rehearsal('import', benchmark, ...args, '--out', scratch());
  expect(printed).toMatchObject({ code: 2, out: '' });
  expect(printed.err.trim().split('\n')).toHaveLength(1);
  expect(printed.err).toMatch(message);
}
