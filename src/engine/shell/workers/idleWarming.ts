import { warmDialogue } from '../../core/dialogue/warm.ts';

/** A process that was just started has better to do, and what is asked of it in its first moment is not kept waiting. */
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
