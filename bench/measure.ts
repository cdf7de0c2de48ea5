import { readFileSync } from 'node:fs';
import { tau2Python } from '../scripts/benchmarks/tau2Python.ts';
import type { Obstacle } from '../scripts/obstacle.ts';
import { statOf } from '../scripts/processTree.ts';

/** One number of the bench, as docs/performance.md quotes it. */
export type Measured = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note: string;
  /** The limit that docs/performance.md promises, in the same unit. */
  readonly promise?: { readonly at: 'least' | 'most'; readonly value: number };
};

/** Prints a row of the bench, as soon as it is measured. */
export type Show = (row: Measured) => void;

/** Thrown by a part that needs something this machine does not have. */
export class Skipped extends Error {
  /** The command that installs what is missing. */
  readonly install: string | undefined;

  constructor(obstacle: Obstacle | string) {
    const { reason, install } = typeof obstacle === 'string' ? { reason: obstacle } : obstacle;
    super(reason);
    this.install = install;
  }
}

/** Whether the bench only checks that every part works. Its numbers then come from too few rounds to quote. */
export const isOnce = process.argv.includes('--once');

/** Returns the number of measurements: the usual number, or less with `--once`. */
export function rounds(usual: number, once = 1): number {
  return isOnce ? once : usual;
}

/** Returns a Python that has tau2. Throws `Skipped` if no Python has it. */
export function tau2Interpreter(): string {
  if (tau2Python.isReady()) return tau2Python.path();
  throw new Skipped({
    reason: 'tau2 is not installed, and REHEARSAL_BENCH_TAU2 does not name a Python that has it',
    install: 'npm run test:benchmarks -- mock',
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const ticksPerSecond = 100;

/** Returns the user and system CPU seconds of processes so far. */
export function cpuSeconds(processes: readonly number[]): number {
  const ticks = processes
    .map((pid) => statOf(pid))
    .map((fields) => (fields ? Number(fields[11]) + Number(fields[12]) : 0));
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}

/** Returns the user and system CPU seconds of the ended processes below this one. */
export function cpuOfEnded(): number {
  const fields = statOf(process.pid) ?? [];
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

/** Returns the proportional set size of processes in bytes, in which shared pages count once. */
export function pssOf(processes: readonly number[]): number {
  const kilobytes = processes.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
  );
  return 1024 * kilobytes.reduce((sum, each) => sum + each, 0);
}
