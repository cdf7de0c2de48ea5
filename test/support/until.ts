import { setTimeout as pause } from 'node:timers/promises';

/**
 * Returns the first value of `observe` that is not false. The limit only ends a test that hangs, with the name of the
 * state that it waited for.
 */
export async function until<T>(what: string, observe: () => T, limitMs = 240_000): Promise<T> {
  for (const from = performance.now(); ; await pause(20)) {
    const state = observe();
    if (state) return state;
    if (performance.now() - from > limitMs) throw new Error(`Waited ${limitMs / 1000} s for ${what}`);
  }
}
