import { Fault } from '../../engine/shell/fault.ts';

/** Throws a `Fault` where a disk has less room than a run needs. */
export function throwUnlessRoomFor(needed: number, free: number, where: string, advice: string): void {
  if (free >= needed) return;
  throw new Fault({
    who: 'environment',
    code: 'disk/full',
    message: `there are ${gigabytes(free)} GB free ${where}, and the run needs ${gigabytes(needed)} GB: make room, or ${advice}`,
  });
}

const gigabytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
