import { type MeasuredRun, mostRuns } from '../../webview/messages/protocol.ts';
import type { TrainingRun } from '../runs/runsOfWorkspace.ts';
import { type WatchedRun, watchRun } from '../training/watchedRuns.ts';

/** The runs that the dashboard draws over the one it shows. Each is watched while it is drawn. */
export type RunOverlay = {
  /** Draws these in place of those before. */
  readonly show: (runs: readonly TrainingRun[]) => Promise<void>;
  readonly dispose: () => void;
};

/** @param onChange receives all drawn runs whenever one of them has something new */
export function overlayOf(onChange: (runs: readonly MeasuredRun[]) => void): RunOverlay {
  const watched = new Map<string, WatchedRun>();
  const tell = (): void => onChange([...watched].map(([run, { metrics }]) => ({ run, points: [...metrics.points()] })));
  const drop = (run: string): void => {
    watched.get(run)?.dispose();
    watched.delete(run);
  };
  return {
    show: async (runs) => {
      const wanted = new Map(runs.slice(0, mostRuns).map(({ id, folder }) => [id, folder]));
      for (const run of watched.keys()) if (!wanted.has(run)) drop(run);
      for (const [run, folder] of wanted) {
        if (!watched.has(run)) watched.set(run, watchRun(folder, { onChange: tell, onProblem: () => undefined }));
      }
      await Promise.all([...watched.values()].map(({ read }) => read));
      tell();
    },
    dispose: () => {
      for (const run of [...watched.keys()]) drop(run);
    },
  };
}
