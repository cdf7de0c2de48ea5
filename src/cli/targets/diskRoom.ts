import { environmentFault } from './targetFaults.ts';

/** Throws a `Fault` where a disk has less room than a run needs. */
export function throwUnlessRoomFor(needed: number, free: number, where: string, advice: string): void {
  if (free >= needed) return;
  throw environmentFault(
    'disk/full',
    `there are ${gigabytes(free)} GB free ${where}, and the run needs ${gigabytes(needed)} GB: make room, or ${advice}`,
  );
}

const gigabytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
