import { readFileSync } from 'node:fs';

/** Of the clock in which Linux tells them, whatever the kernel's own is (`USER_HZ`). */
const ticksPerSecond = 100;

/** The processor time that a process has used so far, in milliseconds; null where the machine does not tell it. */
export function cpuMsOf(pid: number): number | null {
  if (process.platform !== 'linux') return null;
  try {
    // proc(5): the name, in brackets, may have blanks in it; user and system time are the 14th and 15th field.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? (ticks * 1000) / ticksPerSecond : null;
  } catch {
    return null;
  }
}
