import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const rootVariable = 'REHEARSAL_TEST_FOLDER';

/** Makes a folder that is removed when all tests of this run of vitest have ended. */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(process.env[rootVariable] ?? tmpdir(), `${name}-`));
}

/**
 * Before the tests: makes the folder in which `temporaryFolder` makes its own. The process of vitest removes it when it
 * exits, because a worker may be killed before it removes anything. The name is short, because sockets are in it.
 */
export default function setUp(): void {
  if (process.env[rootVariable] !== undefined) return;
  const root = mkdtempSync(join(tmpdir(), 't-'));
  process.env[rootVariable] = root;
  process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
}
