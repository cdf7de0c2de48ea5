import { type FSWatcher, watch } from 'node:fs';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { MetricsChange, RunMetrics } from './metricsFile.ts';

/** Ten times a second at most reaches a view; what comes in between is one change. */
const shortestPause = 100;
/** File watching misses changes on network mounts, and never reports a process that died. */
const longestPause = 2000;

/**
 * Refreshes the metrics of a run folder whenever it changes, and calls back with what is new. Reports each problem with
 * reading once until a read succeeds again. Ends with `dispose`.
 */
export function watchMetrics(
  folder: string,
  metrics: RunMetrics,
  onChange: (change: MetricsChange) => void,
  onProblem: (problem: string) => void,
): { readonly dispose: () => void } {
  let disposed = false;
  let reading = false;
  let timer: NodeJS.Timeout | undefined;
  let due = Number.POSITIVE_INFINITY;
  let lastProblem = '';

  const refresh = async (): Promise<void> => {
    if (reading) return schedule(shortestPause);
    reading = true;
    try {
      const change = await metrics.refresh();
      lastProblem = '';
      if (!disposed && (change.points.length > 0 || change.reset || change.statusChanged || change.alarmsChanged))
        onChange(change);
    } catch (error) {
      const problem = `${folder}: can't be read (${messageOf(error)})`;
      if (!disposed && problem !== lastProblem) onProblem(problem);
      lastProblem = problem;
    } finally {
      reading = false;
    }
    schedule(longestPause);
  };
  const schedule = (pause: number): void => {
    const at = Date.now() + pause;
    if (disposed || at >= due) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(() => {
      due = Number.POSITIVE_INFINITY;
      void refresh();
    }, pause);
  };

  const watcher = watchFolder(folder, () => schedule(shortestPause));
  schedule(shortestPause);
  return {
    dispose: () => {
      disposed = true;
      clearTimeout(timer);
      watcher?.close();
    },
  };
}

function watchFolder(folder: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    // The regular look every two seconds finds the changes as well.
    return null;
  }
}
