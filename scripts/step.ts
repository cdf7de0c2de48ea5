import type { Obstacle } from './obstacle.ts';
import type { Counts } from './results.ts';
import type { Download } from './vscode/cacheFolder.ts';

/** One step of `npm test` or `npm run test:full`. */
export type Step = {
  name: string;
  title: string;
  /** Runs beside the steps that follow it. */
  isBackground?: boolean;
  /** Belongs to the full suite only. It runs when every step before it has ended. */
  isFull?: boolean;
  /** Has deliberate faults, for the tests of this script. It runs only where it is named. */
  isPlanted?: boolean;
  /**
   * After this time the step counts as hung and is stopped. It is several times what the step takes on two cores. All
   * limits of the full suite together fit into the time limit of the nightly workflow.
   */
  limitMinutes: number;
  /** The limit in the full suite, where it is another one. */
  fullLimitMinutes?: number;
  /** Returns what this machine lacks and the step downloads. */
  downloads?: (filters: readonly string[]) => Download[] | Promise<Download[]>;
  /** Returns why the step cannot run on this machine, if it cannot. It is then reported as skipped. */
  obstacle?: () => Obstacle | undefined;
  /** Variables of the step and of its second run. A variable that is already set keeps its value. */
  environment?: (filters: readonly string[]) => Readonly<Record<string, string>>;
  /**
   * Runs the step. The filters are parts of test file names; steps without test files ignore them. A step without a
   * match counts no test.
   */
  run: (filters: readonly string[]) => Promise<Counts>;
  /** Runs each test file that failed once more, alone. */
  secondRun?: SecondRun;
};

type SecondRun = {
  /** Whether a file may run again. Unit tests get one attempt, except those that kill or watch other processes. */
  isFor: (file: string) => boolean;
  run: (file: string) => Promise<Counts>;
};
