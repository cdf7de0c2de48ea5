import type { Alarm, PlayedStep, Run } from '../messages/protocol.ts';
import { type ChartKind, chartKinds, drawnMetrics, formatMetric, type Metric, metricNamed } from './metrics.ts';
import { type Series, smoothed, valuesOf } from './series.ts';

/** One line of a chart: a metric of a run. Its values have the length of the chart's steps. */
export type Curve = {
  readonly label: string;
  readonly metric: Metric;
  /** The run that it is of, and what the rollouts behind it were played for. */
  readonly run: string;
  readonly purpose: PlayedStep['purpose'];
  readonly values: readonly (number | null)[];
  readonly smooth: readonly (number | null)[];
  /** Measured values that do not count, because the run continued from an earlier optimizer step. */
  readonly superseded: readonly (number | null)[];
  /** The newest measured value as text. */
  readonly latest: string;
};

/** One chart, ready to draw. */
export type ChartSummary = {
  readonly kind: ChartKind;
  /** The steps of all runs that are drawn, ascending. */
  readonly steps: readonly number[];
  readonly curves: readonly Curve[];
  /** The indexes of the steps at which something was measured. */
  readonly measured: readonly number[];
  /** The title alone does not say which curve is which. */
  readonly hasLegend: boolean;
  /** Steps at which an alarm was raised that this chart's numbers raised. */
  readonly alarms: readonly number[];
  /** The description of the whole chart for screen readers. */
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
      .map((metric) => {
        const label = drawn.length === 1 ? metric.label : metrics.length === 1 ? run : `${metric.label}, ${run}`;
        return curveOf(metric, run, label, series, steps, window);
      }),
  );
  const isMetric = (name: string): boolean => metrics.some((metric) => metric.name === name);
  const raised = alarms.filter(({ evidence }) => Object.keys(evidence).some(isMetric)).map(({ step }) => step);
  const hasLegend = curves.length > 1 || drawn.length > 1;
  const measured = [...steps.keys()].filter((index) => curves.some((curve) => isMeasured(curve, index)));
  return { kind, steps, curves, measured, hasLegend, alarms: raised, description: describe(kind, curves, raised) };
}

function curveOf(
  metric: Metric,
  run: string,
  label: string,
  series: Series,
  steps: readonly number[],
  window: number,
): Curve {
  const all = valuesOf(series, metric.name);
  const own = all.map((value, index) => (series[index]?.superseded ? null : value));
  const smooth = series.length > window ? smoothed(own, window) : own;
  return {
    label,
    metric,
    run,
    purpose: purposeOf([metric.name]),
    values: aligned(series, own, steps),
    smooth: aligned(series, smooth, steps),
    superseded: aligned(
      series,
      all.map((value, index) => (series[index]?.superseded ? value : null)),
      steps,
    ),
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

function describeCurve({ label, metric, values, superseded, latest }: Curve): string {
  const measured = values.filter((value) => value !== null);
  const points = measured.length === 1 ? '1 point' : `${measured.length} points`;
  const low = measured.reduce((a, b) => Math.min(a, b));
  const high = measured.reduce((a, b) => Math.max(a, b));
  const gone = superseded.filter((value) => value !== null).length;
  const more = gone === 0 ? '' : `, ${gone} more superseded`;
  return `${label}: ${points}, from ${formatMetric(metric, low)} to ${formatMetric(metric, high)}, now ${latest}${more}`;
}

/** The rollouts behind metrics that were measured together: of the evaluation where there is nothing else. */
export function purposeOf(metrics: readonly string[]): PlayedStep['purpose'] {
  return metrics.length > 0 && metrics.every((name) => name.startsWith('evaluate/')) ? 'evaluation' : 'training';
}

/** The rollouts behind a point of a curve; without a curve, of the first that has one there. */
export function playedAt({ steps, curves }: ChartSummary, index: number, curve?: number): PlayedStep | null {
  const of = curve === undefined ? curves.find((each) => isMeasured(each, index)) : curves[curve];
  const step = steps[index];
  return of === undefined || step === undefined ? null : { run: of.run, step, purpose: of.purpose };
}

function isMeasured({ values, superseded }: Curve, index: number): boolean {
  return (values[index] ?? superseded[index] ?? null) !== null;
}

/** Returns what a curve shows at one of its chart's steps, in words. */
export function readoutOf({ metric, values, superseded }: Curve, index: number): string {
  const gone = superseded[index] ?? null;
  return gone === null ? formatMetric(metric, values[index]) : `${formatMetric(metric, gone)}, superseded`;
}

/** The names of all metrics that a run has measured. */
export function metricNames(series: Series): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { metrics } of series) for (const name in metrics) names.add(name);
  return names;
}
