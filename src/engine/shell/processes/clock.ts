import { unlessAborted } from './unlessAborted.ts';

/** Tells the time and waits; tests replace it. */
export type Clock = {
  /** Milliseconds since any fixed moment. */
  readonly now: () => number;
  /** Rejects with the signal's reason as soon as that aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await unlessAborted(over, signal).finally(() => clearTimeout(timer));
  },
};

/** The pauses between attempts, in milliseconds. */
type Pauses = { readonly first: number; readonly longest: number };

/** Returns how long to pause after failures in a row: the first pause, doubled with each further failure. */
export function pauseAfter(failures: number, { first, longest }: Pauses): number {
  return Math.min(longest, first * 2 ** (failures - 1));
}
