import type { RunStatus } from '../../webview/messages/protocol.ts';
import { type MetricsChange, type RunMetrics, readMetrics } from './metricsFile.ts';
import { watchMetrics } from './metricsWatch.ts';

/** Watches a run: receives each change, and the error if a folder can't be read. */
export type RunWatcher = {
  readonly onChange: (change: MetricsChange) => void;
  readonly onProblem: (problem: string) => void;
};

export type WatchedRun = {
  readonly metrics: RunMetrics;
  /** Resolves when the contents of the disk were read. */
  readonly read: Promise<void>;
  readonly dispose: () => void;
};

type Shared = {
  readonly metrics: RunMetrics;
  readonly watchers: Set<RunWatcher>;
  readonly read: Promise<void>;
  watch: { readonly dispose: () => void } | null;
};

const shared = new Map<string, Shared>();

/**
 * Watches a run's folder until it is disposed. All who watch the same run share one reader and one look at the disk, so
 * no two views of a window can say different things of it.
 */
export function watchRun(folder: string, watcher: RunWatcher): WatchedRun {
  const run = shared.get(folder) ?? begin(folder);
  run.watchers.add(watcher);
  return {
    metrics: run.metrics,
    read: run.read,
    dispose: () => {
      run.watchers.delete(watcher);
      if (run.watchers.size > 0) return;
      run.watch?.dispose();
      run.watch = null;
      if (shared.get(folder) === run) shared.delete(folder);
    },
  };
}

function begin(folder: string): Shared {
  const metrics = readMetrics(folder);
  const watchers = new Set<RunWatcher>();
  const tell = (say: (watcher: RunWatcher) => void) => [...watchers].forEach(say);
  const onProblem = (problem: string) => tell((each) => each.onProblem(problem));
  const read = metrics.refresh().then(
    (change) => {
      if (shared.get(folder) !== run) return;
      tell((each) => each.onChange(change));
      run.watch = watchMetrics(folder, metrics, (later) => tell((each) => each.onChange(later)), onProblem);
    },
    (error: unknown) => onProblem(`${folder}: ${String(error)}`),
  );
  const run: Shared = { metrics, watchers, read, watch: null };
  shared.set(folder, run);
  return run;
}

/** Whether a run has said its last word. */
export function isOver({ type }: RunStatus): boolean {
  return type === 'finished' || type === 'stopped' || type === 'paused' || type === 'failed';
}
