import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { killIfRunning } from '../support/processes.ts';
import { sampled } from '../support/suite.ts';

// One after the other: the runs write the same reports.
test.skipIf(process.platform !== 'linux').each(
  sampled(
    [
      [
        'planted-slow,planted',
        ['--strict'],
        1,
        '1 passed, 4 failed',
        [/^FAILED: planted-slow: stopped at its time limit of 1\.0 s$/m, /^failed {3}planted-slow /m],
      ],
      ['planted', [], 0, '2 passed, 0 failed', []],
    ] as const,
    2,
  ),
)(
  'npm test --only %s %j names an unsteady test, and a folder and a process that were left behind',
  async (steps, flags, code, last, more) => {
    const args = [inRoot('scripts', 'test.ts'), '--only', steps, '--settle', '0', ...flags];
    const { code: exitCode, output } = await runCommand(process.execPath, args);
    const [, pid] = /LEFT BEHIND: process (\d+): .*setTimeout/.exec(output) ?? [];
    if (pid !== undefined) killIfRunning(Number(pid));
    expect(pid).toBeDefined();
    expect(output).toMatch(/^UNSTEADY: .*: unsteady\.planted\.ts:10: passes at its second run: /m);
    expect(output.match(/again, alone: .*/g)).toEqual(['again, alone: test/scripts/planted/unsteady.planted.ts']);
    expect(output).toMatch(/^LEFT BEHIND: planted-folder in the temporary folder$/m);
    expect(output).toMatch(/^unsteady planted /m);
    for (const line of more) expect(output).toMatch(line);
    expect([exitCode, output.trim().split('\n').at(-1)]).toEqual([code, last]);
  },
);
