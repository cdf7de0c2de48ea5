import { setImmediate } from 'node:timers/promises';

/**
 * Returns what a long loop awaits after each step: now and then it lets signals, and others that share this thread, have
 * their turn.
 * @param ms how long the loop has the thread before that
 */
export function breaks(ms: number): () => Promise<void> {
  let from = performance.now();
  return async () => {
    if (performance.now() - from < ms) return;
    await setImmediate();
    from = performance.now();
  };
}
