import { readFileSync } from 'node:fs';
import { descendantsOf } from '../../scripts/processTree.ts';

/** Returns the pid, outside of any sandbox, of the descendant of this process with a `process.title`. */
export function pidTitled(title: string): number {
  const named = descendantsOf(process.pid).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(title),
  );
  if (named.length !== 1) throw new Error(`${named.length} descendants have the title ${title}`);
  return named[0] as number;
}

/** Kills a process. Does nothing if it has already ended. */
export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Reports whether a process runs. A zombie process does not count as running. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
