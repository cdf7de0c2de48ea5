import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';

/** A deliberately flaky test: in each project, it fails when it is run for the first time and passes from then on. */
test('passes at its second run', ({ task }) => {
  const file = join(process.env['REHEARSAL_FLAKY_RUNS'] ?? '', `runs of ${task.file.projectName ?? ''}`);
  const run = existsSync(file) ? Number(readFileSync(file, 'utf8')) + 1 : 1;
  writeFileSync(file, String(run));
  if (run === 1) throw new Error('this is the first run');
});
