import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty run folder of its own for a test, gone when the test ends. */
export function runFolder() {
  const path = mkdtempSync(join(tmpdir(), 'rehearsal-run-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return {
    path,
    append: (name: string, text: string) => appendFileSync(join(path, name), text),
    write: (name: string, text: string) => writeFileSync(join(path, name), text),
  };
}
