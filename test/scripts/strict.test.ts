import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { killIfRunning } from '../support/processes.ts';

/** Patterns of the remaining processes' command lines: a process, and a worker with its parent and sibling. */
const leftover = [/setTimeout/, /planted\/worker\.ts/, /node --max-old-space-size/, /^\/bin\/sh -c workers=/];

// One after the other: the runs write the same reports.
test.skipIf(process.platform !== 'linux').each([
  [
    'planted-slow,planted',
    ['--strict'],
    1,
    1,
    [/^FAILED: planted-slow: stopped at its time limit of 1\.0 s$/m, /^failed {3}planted-slow /m],
  ],
  ['planted', [], 0, 2, []],
] as const)(
  'npm test --only %s %j names an unsteady test, and a folder and processes that were left behind',
  async (steps, flags, code, passed, more) => {
    const args = [inRoot('scripts', 'test.ts'), '--only', steps, '--settle', '0', '--slowest', ...flags];
    const { code: exitCode, output } = await runCommand(process.execPath, args);
    const left = [...output.matchAll(/^LEFT BEHIND: process (\d+): (.*)$/gm)];
    for (const [, pid] of left) killIfRunning(Number(pid));
    const commands = left.map(([, , command = '']) => command).filter((command) => !command.includes('--unshare-all'));
    expect(commands.map((command) => leftover.findIndex((part) => command.match(part))).toSorted()).toEqual([
      0, 1, 2, 3,
    ]);
    expect(output).toMatch(/^UNSTEADY: .*: unsteady\.planted\.ts:10: passes at its second run: /m);
    expect(output.match(/again, alone: .*/g)).toEqual(['again, alone: test/scripts/planted/unsteady.planted.ts']);
    expect(output).toMatch(/^LEFT BEHIND: planted-folder in the temporary folder$/m);
    expect(output).toMatch(/^unsteady planted /m);
    const [, seconds] = /^ *([\d.]+) s {2}planted steady\.planted\.ts: 1 test$/m.exec(output) ?? [];
    // The test takes no time, and the hook before it a tenth of a second.
    expect(Number(seconds)).toBeGreaterThanOrEqual(0.1);
    for (const line of more) expect(output).toMatch(line);
    // With --strict: the unsteady test, the folder, the processes, and the step that does not end.
    const failed = code === 0 ? 0 : left.length + 3;
    expect([exitCode, output.trim().split('\n').at(-1)]).toEqual([code, `${passed} passed, ${failed} failed`]);
  },
);
