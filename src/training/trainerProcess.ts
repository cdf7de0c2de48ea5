import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileLimits, readBoundedText } from '../engine/shell/files/boundedFile.ts';
import { withoutKeys } from '../engine/shell/processes/childEnvironment.ts';
import { isAlive } from '../engine/shell/processes/isAlive.ts';
import { startTicks } from '../engine/shell/processes/processStart.ts';
import { runFiles } from '../engine/shell/records/runFiles.ts';

/**
 * The tolerance by which a process may start after its `pid` file, in milliseconds: clocks and `ps` count in whole
 * seconds.
 */
const slackMs = 2000;

/**
 * The process that a run's `pid` file names, or null where there is no such file. A trainer that was killed leaves
 * its file behind, and the system gives its number away again: a process that began after the file was written is
 * another program.
 */
export function trainerOf(folder: string): { readonly pid: number; readonly isRunning: boolean } | null {
  const file = join(folder, runFiles.pid);
  try {
    const pid = Number.parseInt(readBoundedText(file, fileLimits.text), 10);
    if (!(pid > 0)) return null;
    const began = isAlive(pid) ? beginning(pid) : null;
    return { pid, isRunning: began !== null && began <= statSync(file).mtimeMs + slackMs };
  } catch {
    return null;
  }
}

/**
 * Returns when a running process started, in milliseconds since the epoch; 0 if that is not known, null if it has
 * ended.
 */
function beginning(pid: number): number | null {
  if (process.platform === 'linux') return beginningOnLinux(pid);
  if (process.platform === 'win32') return 0;
  const options = { encoding: 'utf8', env: { ...withoutKeys(), LC_ALL: 'C' } } as const;
  return Date.parse(execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim()) || 0;
}

function beginningOnLinux(pid: number): number | null {
  const ticks = startTicks(pid);
  if (ticks === null) return null;
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  return Date.now() - uptimeMs + ticks * 10;
}
