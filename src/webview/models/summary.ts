import type { Run, RunStatus } from '../protocol.ts';
import type { Dashboard } from './dashboard.ts';
import { duration } from './duration.ts';
import { type ChartedMetric, chartedMetrics, formatMetric, type Metric, measuredMetrics } from './metrics.ts';
import { type Series, smoothed, valuesOf } from './series.ts';

/** One chart, ready to draw: steps and values have one length. */
export type ChartSummary = {
  readonly metric: ChartedMetric;
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
  readonly smooth: readonly (number | null)[];
  /** The newest measured value as text. */
  readonly latest: string;
  /** What a screen reader says of the whole chart. */
  readonly description: string;
};

/**
 * The charts of a run: reward, loss, KL and turns for GRPO, and otherwise those that were measured.
 * @param window of the moving average, in steps; a run that is not longer than it is drawn as measured
 */
export function chartsOf(run: Run | null, series: Series, window: number): readonly ChartSummary[] {
  const names = metricNames(series);
  const isExpected = ({ name }: ChartedMetric): boolean =>
    names.has(name) ||
    run?.kind === 'grpo' ||
    (run?.kind === 'sft' && name === 'loss') ||
    (run?.kind !== 'sft' && names.size === 0);
  return chartedMetrics.filter(isExpected).map((metric) => chartOf(metric, series, window));
}

function chartOf(metric: ChartedMetric, series: Series, window: number): ChartSummary {
  const values = valuesOf(series, metric.name);
  const measured = values.filter((value) => value !== null);
  const latest = formatMetric(metric, measured.at(-1));
  return {
    metric,
    steps: series.map(({ step }) => step),
    values,
    smooth: series.length > window ? smoothed(values, window) : values,
    latest,
    description: describe(metric, measured, latest),
  };
}

function describe(metric: ChartedMetric, measured: readonly number[], latest: string): string {
  if (measured.length === 0) return `${metric.label}: nothing measured yet`;
  const points = measured.length === 1 ? '1 point' : `${measured.length} points`;
  const low = measured.reduce((a, b) => Math.min(a, b));
  const high = measured.reduce((a, b) => Math.max(a, b));
  return `${metric.label}: ${points}, from ${formatMetric(metric, low)} to ${formatMetric(metric, high)}, now ${latest}`;
}

function metricNames(series: Series): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { metrics } of series) for (const name in metrics) names.add(name);
  return names;
}

/** The table that stands beside the charts: the same points, newest first, one page of them. */
export type TableSummary = {
  readonly columns: readonly Metric[];
  readonly rows: readonly { readonly step: number; readonly cells: readonly string[] }[];
  readonly page: number;
  readonly pages: number;
};

export const rowsPerPage = 50;

/** One page of the table; a page that does not exist becomes the nearest one. */
export function tableOf(series: Series, page: number): TableSummary {
  const columns = measuredMetrics(metricNames(series));
  const pages = Math.max(1, Math.ceil(series.length / rowsPerPage));
  const shown = Math.min(Math.max(0, page), pages - 1);
  const end = series.length - shown * rowsPerPage;
  const rows = series.slice(Math.max(0, end - rowsPerPage), end).map(({ step, metrics }) => ({
    step,
    cells: columns.map((column) => formatMetric(column, metrics[column.name])),
  }));
  return { columns, rows: rows.reverse(), page: shown, pages };
}

/** The status of a run in words, with what tells it apart beside its colour. */
export type StatusSummary = {
  readonly label: string;
  readonly mark: string;
  readonly progress: string;
  /** 0 to 1; null where the configuration does not say how long the run is. */
  readonly done: number | null;
  readonly duration: string;
  readonly error: string | null;
};

const words: Readonly<Record<RunStatus['type'], readonly [label: string, mark: string]>> = {
  waiting: ['Starting', '○'],
  running: ['Running', '●'],
  stopping: ['Stopping after this optimizer step', '◐'],
  stopped: ['Stopped', '■'],
  finished: ['Finished', '✓'],
  failed: ['Failed', '✕'],
};

/** The status line of the run that is shown. */
export function statusOf({ status, run, series }: Dashboard): StatusSummary {
  const [label, mark] = words[status.type];
  const step = series.at(-1)?.step;
  const planned = run?.plannedSteps ?? null;
  return {
    label,
    mark,
    progress:
      step === undefined
        ? 'No optimizer step yet'
        : `Optimizer step ${step}${planned === null ? '' : ` of ${planned}`}`,
    done: step === undefined || planned === null || planned === 0 ? null : Math.min(1, step / planned),
    duration: durationOf(series),
    error: status.type === 'failed' ? status.message : null,
  };
}

function durationOf(series: Series): string {
  const first = series.find(({ time }) => time !== null)?.time ?? null;
  const last = series.at(-1)?.time ?? null;
  if (first === null || last === null || last <= first) return '';
  return duration(last - first);
}

/** A run's name in the picker. */
export function runLabel({ id, kind }: Run): string {
  return kind === null ? id : `${id} · ${kind === 'evaluate' ? 'evaluation' : kind.toUpperCase()}`;
}
