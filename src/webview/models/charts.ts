import type { Alarm, Run } from '../protocol.ts';
import { type ChartKind, chartKinds, drawnMetrics, formatMetric, type Metric, metricNamed } from './metrics.ts';
import { type Series, smoothed, valuesOf } from './series.ts';

/** One line of a chart: a metric of a run. Its values have the length of the chart's steps. */
export type Curve = {
  readonly label: string;
  readonly metric: Metric;
  /** The run that it is of; null where only one run is drawn. */
  readonly run: string | null;
  readonly values: readonly (number | null)[];
  readonly smooth: readonly (number | null)[];
  /** The newest measured value as text. */
  readonly latest: string;
};

/** One chart, ready to draw. */
export type ChartSummary = {
  readonly kind: ChartKind;
  /** The steps of all runs that are drawn, ascending. */
  readonly steps: readonly number[];
  readonly curves: readonly Curve[];
  /** Steps at which an alarm was raised that this chart's numbers raised. */
  readonly alarms: readonly number[];
  /** What a screen reader says of the whole chart. */
  readonly description: string;
};

/** A run that is drawn over the one that is shown. */
export type DrawnRun = { readonly run: string; readonly series: Series };

/**
 * The charts of a run: reward, loss, KL and turns for GRPO, and otherwise those that were measured.
 * @param window of the moving average, in steps; a run that is not longer than it is drawn as measured
 */
export function chartsOf(
  run: Run | null,
  series: Series,
  window: number,
  overlays: readonly DrawnRun[] = [],
  alarms: readonly Alarm[] = [],
): readonly ChartSummary[] {
  const drawn: readonly DrawnRun[] = [{ run: run?.id ?? '', series }, ...overlays];
  const names = new Set(drawn.flatMap((each) => [...metricNames(each.series)]));
  return chartKinds
    .map((kind) => ({ kind, metrics: drawnMetrics(kind, names) }))
    .filter(({ kind, metrics }) => metrics.length > 0 || isExpected(kind, run, names))
    .map(({ kind, metrics }) =>
      chartOf(kind, metrics.length > 0 ? metrics : kind.metrics.map(metricNamed), drawn, window, alarms),
    );
}

function isExpected({ isLead, metrics }: ChartKind, run: Run | null, names: ReadonlySet<string>): boolean {
  if (!isLead) return false;
  const kind = run?.kind;
  if (kind !== 'grpo' && kind !== 'sft') return names.size === 0;
  return metrics.some((name) => metricNamed(name).runs.includes(kind));
}

function chartOf(
  kind: ChartKind,
  metrics: readonly Metric[],
  drawn: readonly DrawnRun[],
  window: number,
  alarms: readonly Alarm[],
): ChartSummary {
  const steps = [...new Set(drawn.flatMap(({ series }) => series.map(({ step }) => step)))].sort((a, b) => a - b);
  const curves = drawn.flatMap(({ run, series }) =>
    metrics
      .filter(({ name }) => drawn.length === 1 || series.some((point) => name in point.metrics))
      .map((metric) => curveOf(metric, drawn.length === 1 ? null : run, metrics.length === 1, series, steps, window)),
  );
  const isMetric = (name: string): boolean => metrics.some((metric) => metric.name === name);
  const raised = alarms.filter(({ evidence }) => Object.keys(evidence).some(isMetric)).map(({ step }) => step);
  return { kind, steps, curves, alarms: raised, description: describe(kind, curves, raised) };
}

/** @param isAlone the chart has no other metric, so that the run is name enough */
function curveOf(
  metric: Metric,
  run: string | null,
  isAlone: boolean,
  series: Series,
  steps: readonly number[],
  window: number,
): Curve {
  const own = valuesOf(series, metric.name);
  const smooth = series.length > window ? smoothed(own, window) : own;
  return {
    label: run === null ? metric.label : isAlone ? run : `${metric.label}, ${run}`,
    metric,
    run,
    values: aligned(series, own, steps),
    smooth: aligned(series, smooth, steps),
    latest: formatMetric(
      metric,
      own.findLast((value) => value !== null),
    ),
  };
}

/** Values of a run at the steps of all runs; null where the run has no such step. */
function aligned(
  series: Series,
  values: readonly (number | null)[],
  steps: readonly number[],
): readonly (number | null)[] {
  if (series.length === steps.length) return values;
  const byStep = new Map(series.map(({ step }, index) => [step, values[index] ?? null]));
  return steps.map((step) => byStep.get(step) ?? null);
}

function describe({ label }: ChartKind, curves: readonly Curve[], alarms: readonly number[]): string {
  const told = curves.filter(({ values }) => values.some((value) => value !== null)).map(describeCurve);
  if (told.length === 0) return `${label}: nothing measured yet`;
  const raised = alarms.length === 0 ? '' : `; alarms at optimizer step ${alarms.join(', ')}`;
  const [only] = told;
  return `${told.length === 1 && only?.startsWith(`${label}:`) ? only : `${label}. ${told.join('; ')}`}${raised}`;
}

function describeCurve({ label, metric, values, latest }: Curve): string {
  const measured = values.filter((value) => value !== null);
  const points = measured.length === 1 ? '1 point' : `${measured.length} points`;
  const low = measured.reduce((a, b) => Math.min(a, b));
  const high = measured.reduce((a, b) => Math.max(a, b));
  return `${label}: ${points}, from ${formatMetric(metric, low)} to ${formatMetric(metric, high)}, now ${latest}`;
}

/** The names of all metrics that a run has measured. */
export function metricNames(series: Series): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { metrics } of series) for (const name in metrics) names.add(name);
  return names;
}
