import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { killIfRunning } from '../support/processes.ts';

test.skipIf(process.platform !== 'linux').concurrent.each([
  ['planted', [], 0, '1 passed, 0 failed', []],
  [
    'planted-slow,planted',
    ['--strict'],
    1,
    '0 passed, 4 failed',
    [/^FAILED: planted-slow: stopped at its time limit of 1\.0 s$/m, /^failed {3}planted-slow /m],
  ],
])(
  'npm test --only %s %j names an unsteady test, and a folder and a process that were left behind',
  async (steps, flags, code, last, more) => {
    const args = [inRoot('scripts', 'test.ts'), '--only', steps, '--settle', '0', ...flags];
    const { code: exitCode, output } = await runCommand(process.execPath, args);
    const [, pid] = /LEFT BEHIND: process (\d+): .*setTimeout/.exec(output) ?? [];
    if (pid !== undefined) killIfRunning(Number(pid));
    expect(pid).toBeDefined();
    expect(output).toMatch(/^UNSTEADY: .*: planted: passes at its second run$/m);
    expect(output).toMatch(/^LEFT BEHIND: planted-\w+ in the temporary folder$/m);
    expect(output).toMatch(/^unsteady planted /m);
    for (const line of more) expect(output).toMatch(line);
    expect([exitCode, output.trim().split('\n').at(-1)]).toEqual([code, last]);
  },
);
