import type { RunStatus } from '../../webview/protocol.ts';
import { type MetricsChange, type RunMetrics, readMetrics } from './metricsFile.ts';
import { watchMetrics } from './metricsWatch.ts';

/** Who follows a run: told of each change, and of a folder that can't be read. */
export type Follower = {
  readonly onChange: (change: MetricsChange) => void;
  readonly onProblem: (problem: string) => void;
};

export type FollowedRun = {
  readonly metrics: RunMetrics;
  /** Resolves when what stood on the disk was read. */
  readonly read: Promise<void>;
  readonly dispose: () => void;
};

type Shared = {
  readonly metrics: RunMetrics;
  readonly followers: Set<Follower>;
  readonly read: Promise<void>;
  watch: { readonly dispose: () => void } | null;
};

const shared = new Map<string, Shared>();

/**
 * Follows a run's folder until it is disposed. All who follow the same run have one reader and one watcher, so no two
 * views of a window can say different things of it.
 */
export function followRun(folder: string, follower: Follower): FollowedRun {
  const run = shared.get(folder) ?? begin(folder);
  run.followers.add(follower);
  return {
    metrics: run.metrics,
    read: run.read,
    dispose: () => {
      run.followers.delete(follower);
      if (run.followers.size > 0) return;
      run.watch?.dispose();
      run.watch = null;
      if (shared.get(folder) === run) shared.delete(folder);
    },
  };
}

function begin(folder: string): Shared {
  const metrics = readMetrics(folder);
  const followers = new Set<Follower>();
  const tell = (say: (follower: Follower) => void) => [...followers].forEach(say);
  const onProblem = (problem: string) => tell((each) => each.onProblem(problem));
  const read = metrics.refresh().then(
    (change) => {
      if (shared.get(folder) !== run) return;
      tell((each) => each.onChange(change));
      run.watch = watchMetrics(folder, metrics, (later) => tell((each) => each.onChange(later)), onProblem);
    },
    (error: unknown) => onProblem(`${folder}: ${String(error)}`),
  );
  const run: Shared = { metrics, followers, read, watch: null };
  shared.set(folder, run);
  return run;
}

/** Whether a run has said its last word. */
export function isOver({ type }: RunStatus): boolean {
  return type === 'finished' || type === 'stopped' || type === 'paused' || type === 'failed';
}
