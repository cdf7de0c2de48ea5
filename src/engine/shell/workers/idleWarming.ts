import { warmDialogue } from '../../core/dialogue/warm.ts';

/** The delay before the first step, in ms: a process that was just started answers its first requests without delay. */
const restMs = 1000;

/**
 * Compiles the patterns of dialogue acts while a process has nothing to do, a little at a time.
 * @param isWanted asked before each step; false ends it
 */
export function warmWhileIdle(isWanted: () => boolean): void {
  const steps = warmDialogue();
  const step = (): void => {
    if (isWanted() && steps.next().done !== true) setTimeout(step, 10).unref();
  };
  setTimeout(step, restMs).unref();
}
