import type { PlayedStep, Run, RunStatus } from '../messages/protocol.ts';
import { metricNames, purposeOf } from './charts.ts';
import type { Dashboard } from './dashboard.ts';
import { duration } from './duration.ts';
import { formatMetric, type Metric, measuredMetrics } from './metrics.ts';
import { counted, type Series } from './series.ts';

/** The table that is next to the charts: the same points, newest first, one page of them. */
export type TableSummary = {
  readonly columns: readonly Metric[];
  readonly rows: readonly TableRow[];
  readonly page: number;
  readonly pages: number;
};

export type TableRow = {
  readonly step: number;
  /** The optimizer step in words. */
  readonly name: string;
  /** The purpose of the rollouts that it opens. */
  readonly purpose: PlayedStep['purpose'];
  readonly cells: readonly string[];
};

export const rowsPerPage = 50;

/** One page of the table; a page that does not exist becomes the nearest one. */
export function tableOf(series: Series, page: number): TableSummary {
  const columns = measuredMetrics(metricNames(series));
  const pages = Math.max(1, Math.ceil(series.length / rowsPerPage));
  const shown = Math.min(Math.max(0, page), pages - 1);
  const end = series.length - shown * rowsPerPage;
  const rows = series.slice(Math.max(0, end - rowsPerPage), end).map(({ step, metrics, superseded }) => ({
    step,
    name: superseded ? `${step}, superseded` : String(step),
    purpose: purposeOf(Object.keys(metrics)),
    cells: columns.map((column) => formatMetric(column, metrics[column.name])),
  }));
  return { columns, rows: rows.reverse(), page: shown, pages };
}

/** The status of a run in words, with a mark that distinguishes it without colour. */
export type StatusSummary = {
  readonly label: string;
  readonly mark: string;
  readonly progress: string;
  /** 0 to 1; null where the configuration does not say how long the run is. */
  readonly done: number | null;
  readonly duration: string;
  readonly error: string | null;
  /** Why an alarm paused it. */
  readonly pause: string | null;
};

const words: Readonly<Record<RunStatus['type'], readonly [label: string, mark: string]>> = {
  waiting: ['Starting', '○'],
  running: ['Running', '●'],
  stopping: ['Stopping after this optimizer step', '◐'],
  stopped: ['Stopped', '■'],
  paused: ['Paused by an alarm', '⚠'],
  finished: ['Finished', '✓'],
  failed: ['Failed', '✕'],
};

/** The status line of the run that is shown. */
export function statusOf({ status, run, series }: Dashboard): StatusSummary {
  const [label, mark] = words[status.type];
  const measured = counted(series);
  const step = measured.at(-1)?.step;
  const planned = run?.plannedSteps ?? null;
  return {
    label,
    mark,
    progress:
      step === undefined
        ? 'No optimizer step yet'
        : `Optimizer step ${step}${planned === null ? '' : ` of ${planned}`}`,
    done: step === undefined || planned === null || planned === 0 ? null : Math.min(1, step / planned),
    duration: durationOf(measured),
    error: status.type === 'failed' ? status.message : null,
    pause: status.type === 'paused' ? status.message : null,
  };
}

/** From the begin of the first optimizer step to the end of the last: a point's time is the end of its step. */
function durationOf(series: Series): string {
  const first = series.find(({ time }) => time !== null);
  const last = series.at(-1)?.time ?? null;
  if (!first || first.time === null || last === null) return '';
  const taken = last - first.time + 1000 * (first.metrics['step_seconds'] ?? 0);
  return taken > 0 ? duration(taken) : '';
}

/** A run's name in the picker. */
export function runLabel({ id, kind }: Run): string {
  return kind === null ? id : `${id} · ${kind === 'evaluate' ? 'evaluation' : kind.toUpperCase()}`;
}
