/** Longest wait for a state, in milliseconds. It is generous: a test may share its machine with a dozen other processes. */
export const limit = 120_000;

/**
 * Repeats an attempt until it does not throw. After the time limit, the failure names the awaited state and the reason
 * of the last attempt.
 */
export async function until<T>(what: string, attempt: () => Promise<T>, timeout = limit): Promise<T> {
  const end = performance.now() + timeout;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) {
        throw new Error(`Waited ${timeout / 1000} s for ${what}: ${(error as Error).message}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
