import { setTimeout } from 'node:timers/promises';
import { Fault } from '../src/engine/shell/files/fault.ts';
import { lockRun } from '../src/engine/shell/records/runLock.ts';

/** Actions of this process that have a lock or wait for one, by folder. */
const underWay = new Map<string, Promise<void>>();

/**
 * Runs an action while no other process, and no other caller in this one, runs an action with the same lock. Waits for
 * them first. The lock of a process that has ended does not count.
 * @param folder where the lock file is; it is created
 */
export async function withLock(folder: string, action: () => Promise<void>): Promise<void> {
  const before = underWay.get(folder) ?? Promise.resolve();
  const own = before.catch(() => undefined).then(() => lockAndRun(folder, action));
  underWay.set(folder, own);
  await own;
}

async function lockAndRun(folder: string, action: () => Promise<void>): Promise<void> {
  const release = await waitForLock(folder);
  try {
    await action();
  } finally {
    release();
  }
}

async function waitForLock(folder: string): Promise<() => void> {
  for (;;) {
    try {
      return lockRun(folder);
    } catch (error) {
      if (!(error instanceof Fault && error.failure.code === 'run/in-use')) throw error;
      await setTimeout(200);
    }
  }
}
