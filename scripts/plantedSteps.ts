import { spawn } from 'node:child_process';
import type { Counts } from './results.ts';
import type { Step } from './testSteps.ts';
import { runVitest } from './vitest.ts';

const config = 'test/scripts/planted/vitest.config.ts';

/** Steps with deliberate faults, which show that `npm test` reports them. They run only where they are named. */
export const plantedSteps: readonly Step[] = [
  {
    name: 'planted',
    title: 'an unsteady test, and a folder and a process that are left behind',
    limitMinutes: 5,
    isPlanted: true,
    run: leaveBehind,
    secondRun: { isFor: () => true, run: (file) => runVitest('planted-again', [file], config) },
  },
  {
    name: 'planted-slow',
    title: 'a step that does not end',
    limitMinutes: 1 / 60,
    isPlanted: true,
    run: () => new Promise(() => setInterval(() => {}, 60_000)),
  },
];

/** Runs a test that fails and leaves a folder behind, and leaves a process behind. */
async function leaveBehind(filters: readonly string[]): Promise<Counts> {
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached: true, stdio: 'ignore' }).unref();
  return runVitest('planted', filters, config);
}
