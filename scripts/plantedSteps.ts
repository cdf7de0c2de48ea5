import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inRoot } from './repository.ts';
import type { Counts } from './results.ts';
import type { Step } from './step.ts';
import { runVitest } from './vitest.ts';

const config = 'test/scripts/planted/vitest.config.ts';

/** Steps with deliberate faults, which show that `npm test` reports them. They run only where they are named. */
export const plantedSteps: readonly Step[] = [
  {
    name: 'planted',
    title: 'an unsteady test, and a folder, a process and a worker of rollouts that are left behind',
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

/** Runs a test that fails and leaves a folder behind, and leaves a process and a worker of rollouts behind. */
async function leaveBehind(filters: readonly string[]): Promise<Counts> {
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached: true, stdio: 'ignore' }).unref();
  await leaveWorker();
  return runVitest('planted', filters, config);
}

/** Starts a worker of rollouts under a process whose environment does not name the temporary folder. */
async function leaveWorker(): Promise<void> {
  const { TMPDIR: _1, TEMP: _2, TMP: _3, ...env } = process.env;
  const script = fileURLToPath(new URL('../test/scripts/planted/worker.ts', import.meta.url));
  const child = fork(script, { env, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  child.send({ folder: inRoot('domains', 'order-desk'), temporary: tmpdir() });
  await once(child, 'message');
  child.disconnect();
  child.unref();
}
