import { basename, join } from 'node:path';
import { type MeasuredRun, mostRuns } from '../../webview/protocol.ts';
import { trainingRoot } from '../training/runsOfWorkspace.ts';
import { type WatchedRun, watchRun } from '../training/watchedRuns.ts';

/** The runs that the dashboard draws over the one it shows. Each is watched for as long as it is drawn. */
export type RunOverlay = {
  /** Draws these, by the names of their folders, in the place of those before. */
  readonly show: (runs: readonly string[]) => Promise<void>;
  readonly dispose: () => void;
};

/** @param onChange told of all drawn runs whenever one of them has something new */
export function overlayOf(onChange: (runs: readonly MeasuredRun[]) => void): RunOverlay {
  const watched = new Map<string, WatchedRun>();
  const tell = (): void => onChange([...watched].map(([run, { metrics }]) => ({ run, points: [...metrics.points()] })));
  const drop = (run: string): void => {
    watched.get(run)?.dispose();
    watched.delete(run);
  };
  return {
    show: async (runs) => {
      const root = trainingRoot();
      if (root === undefined) return;
      const wanted = new Set(runs.map((run) => basename(run)).slice(0, mostRuns));
      for (const run of watched.keys()) if (!wanted.has(run)) drop(run);
      for (const run of wanted) {
        if (!watched.has(run))
          watched.set(run, watchRun(join(root, run), { onChange: tell, onProblem: () => undefined }));
      }
      await Promise.all([...watched.values()].map(({ read }) => read));
      tell();
    },
    dispose: () => {
      for (const run of [...watched.keys()]) drop(run);
    },
  };
}
