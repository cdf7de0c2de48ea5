import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';

/** Creates an empty run folder for a test, and removes it when the test ends. */
export function runFolder() {
  const path = temporaryFolder('rehearsal-run');
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return {
    path,
    append: (name: string, text: string) => appendFileSync(join(path, name), text),
    write: (name: string, text: string) => writeFileSync(join(path, name), text),
  };
}
