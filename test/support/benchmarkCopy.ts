import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryFolder } from './temporary.ts';
import { rehearsal } from './terminal.ts';

/** An empty folder that goes away with the test. */
export function scratch(): string {
  const folder = temporaryFolder('rehearsal-benchmark');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What is spoiled in a copy: text of a file, the whole of it where `from` is null, or that it is there at all. */
export type Spoiling = readonly [file: string, from: string | null, to: string];

/** A copy of a package that a test may spoil. */
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

/** An import that is refused in one line that says this, and prints nothing else. */
export async function expectRefused(benchmark: string, args: readonly string[], message: RegExp): Promise<void> {
  const printed = await rehearsal('import', benchmark, ...args, '--out', scratch());
  expect(printed).toMatchObject({ code: 2, out: '' });
  expect(printed.err.trim().split('\n')).toHaveLength(1);
  expect(printed.err).toMatch(message);
}
