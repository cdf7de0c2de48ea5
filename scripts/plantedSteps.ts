import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, gateCounts, noTests } from './results.ts';
import type { Step } from './testSteps.ts';

/** Steps with deliberate faults, which show that `npm test` reports them. They run only where they are named. */
export const plantedSteps: readonly Step[] = [
  {
    name: 'planted',
    title: 'an unsteady test, and a folder and a process that are left behind',
    limitMinutes: 5,
    isPlanted: true,
    run: leaveBehind,
    secondRun: { isFor: () => true, run: async () => gateCounts(true) },
  },
  {
    name: 'planted-slow',
    title: 'a step that does not end',
    limitMinutes: 1 / 60,
    isPlanted: true,
    run: () => new Promise(() => setInterval(() => {}, 60_000)),
  },
];

async function leaveBehind(): Promise<Counts> {
  mkdtempSync(join(tmpdir(), 'planted-'));
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached: true, stdio: 'ignore' }).unref();
  return { ...noTests, failed: 1, failures: [{ file: 'planted', text: 'passes at its second run' }] };
}
