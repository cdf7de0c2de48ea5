import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';

/** Expects the script of a domain, run in a copy of it, to write the committed files. */
function check(domain: string, script: string, written: readonly string[]) {
  const folder = join(import.meta.dirname, '../../domains', domain);
  const copy = temporaryFolder(domain);
  try {
    cpSync(folder, copy, { recursive: true });
    for (const file of written) rmSync(join(copy, file));
    execFileSync(process.execPath, ['--no-warnings', join(copy, script)]);
    for (const file of written)
      expect(readFileSync(join(copy, file), 'utf8')).toBe(readFileSync(join(folder, file), 'utf8'));
  } finally {
    rmSync(copy, { recursive: true });
  }
}

test.each([
  ['parcel-desk', 'generate.ts', ['database.json', 'tasks/train.task.yaml', 'tasks/test.task.yaml']],
  ['help-line', 'generate.ts', ['database.json', 'user.json', 'tasks/train.task.yaml', 'tasks/test.task.yaml']],
  ['order-desk', 'generate.ts', ['database.json']],
  ['order-desk', 'generateTasks.ts', ['tasks/train.task.yaml', 'tasks/test.task.yaml']],
])('%s: %s is seeded', (domain, script, written) => check(domain, script, written));
