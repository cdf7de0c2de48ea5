import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { killIfRunning } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary.ts';

test.skipIf(process.platform !== 'linux').concurrent.each([
  [[], 0, '1 passed, 0 failed'],
  [['--strict'], 1, '0 passed, 3 failed'],
])(
  'npm test %j names an unsteady test, and a folder and a process that were left behind',
  async (flags, code, last) => {
    const planted = temporaryFolder('planted-runs');
    const args = [inRoot('scripts', 'test.ts'), '--only', 'planted', ...flags];
    const env = { ...process.env, REHEARSAL_PLANTED: planted };
    const finished = await runCommand(process.execPath, args, { env });
    rmSync(planted, { recursive: true });
    const [, pid] = /LEFT BEHIND: process (\d+): .*setTimeout/.exec(finished.output) ?? [];
    if (pid !== undefined) killIfRunning(Number(pid));
    expect(finished.output).toMatch(/UNSTEADY: .*leftovers\.test\.ts: passes at its second run/);
    expect(finished.output).toMatch(/LEFT BEHIND: planted-\w+ in the temporary folder/);
    expect(pid).toBeDefined();
    expect([finished.code, finished.output.trim().split('\n').at(-1)]).toEqual([code, last]);
  },
);
