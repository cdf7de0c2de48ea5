import { readFileSync } from 'node:fs';
import { descendantsOf } from '../../scripts/processTree.ts';

/** Returns the pid of the descendant of this process with a `process.title`: inside a sandbox it knows itself by another. */
export function pidTitled(title: string): number {
  const named = descendantsOf(process.pid).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(title),
  );
  if (named.length !== 1) throw new Error(`${named.length} descendants have the title ${title}`);
  return named[0] as number;
}

/** Kills a process. A process that has ended, or that ended with the one killed before it, is left alone. */
export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether a process runs. One that has ended and that nobody has waited for does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
