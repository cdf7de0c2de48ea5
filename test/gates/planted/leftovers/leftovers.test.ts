import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';

/** Deliberate faults: a test that fails at its first run only, and leaves a folder and a process behind. */
test('passes at its second run', () => {
  const mark = join(process.env['REHEARSAL_PLANTED'] ?? '', 'has-run');
  if (existsSync(mark)) return;
  writeFileSync(mark, '');
  mkdtempSync(join(tmpdir(), 'planted-'));
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached: true, stdio: 'ignore' }).unref();
  throw new Error('this is the first run');
});
