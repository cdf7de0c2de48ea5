import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { withoutKeys } from './childEnvironment.ts';
import { isAlive } from './isAlive.ts';

/** A living process's start, in the words of the platform; two processes with the same pid differ in it. */
export type ProcessStart = string;

/**
 * Returns when a process started. The value is exact and does not change with the clock, so it can be compared for
 * equality: on Linux the boot's id and the clock ticks since then, elsewhere what the system's process list shows.
 * @returns null where no such process is alive, undefined where the platform does not tell
 */
export function processStart(pid: number): ProcessStart | null | undefined {
  if (!isAlive(pid)) return null;
  try {
    if (process.platform === 'linux') return startOnLinux(pid);
    const [command, args] = question(pid);
    const answer = execFileSync(command, args, { encoding: 'utf8', env: { ...withoutKeys(), LC_ALL: 'C', TZ: 'UTC' } });
    return answer.trim() || null;
  } catch {
    return isAlive(pid) ? undefined : null;
  }
}

function question(pid: number): readonly [command: string, args: readonly string[]] {
  if (process.platform !== 'win32') return ['ps', ['-o', 'lstart=', '-p', String(pid)]];
  return ['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]];
}

function startOnLinux(pid: number): ProcessStart | null {
  const ticks = startTicks(pid);
  return ticks === null ? null : `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${ticks}`;
}

/**
 * Returns when a process started, in hundredths of a second since boot; null where it has ended and its parent has not
 * taken note yet. Fields 3 and 22 of `/proc/PID/stat` (proc_pid_stat(5)) are its state and its start.
 */
export function startTicks(pid: number): number | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19]);
}
