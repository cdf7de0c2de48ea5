/**
 * V8's flags for a process that folds rollouts. The memory that a rollout allocates soon becomes garbage: more room for
 * young objects costs memory (a third of the supervisor's, in a batch) and saves no time. Optimising the bytecode of
 * regular expressions doubles the cost of compiling them before the first turn of a rollout, and does not make later
 * turns faster.
 */
export const rolloutFlags: readonly string[] = ['--max-semi-space-size=4', '--no-regexp-peephole-optimization'];

/**
 * V8's flag for a process that holds large logs. Without it V8 collects what is old only when there is as much garbage as
 * there are values: an import of 200 MB then needs 1.3 GB in place of 0.9 GB.
 */
export const logFlags: readonly string[] = ['--heap-growing-percent=30'];

/** Whether this runtime has an option. */
export const knowsFlag = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);

/**
 * Returns the options for a process of this runtime, so that it opens no inspector on SIGUSR1: also not before its own
 * code runs, which could ignore the signal.
 */
export const withoutInspector = (): readonly string[] => (knowsFlag('--disable-sigusr1') ? ['--disable-sigusr1'] : []);
