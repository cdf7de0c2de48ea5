import type { SeriesColor } from '../theme.ts';

/** How a metric is named, drawn and written. */
export type Metric = {
  readonly name: string;
  readonly label: string;
  /** What it says, for people who see it for the first time. */
  readonly meaning: string;
  /** Decimal places; without it, four significant digits. */
  readonly decimals?: number;
};

/** A metric with a chart of its own. `range` is what the y axis shows at least. */
export type ChartedMetric = Metric & {
  readonly color: SeriesColor;
  readonly range: readonly [number | null, number | null];
};

export const chartedMetrics: readonly ChartedMetric[] = [
  {
    name: 'reward',
    label: 'Reward',
    meaning: 'Mean reward of the optimizer step’s rollouts',
    decimals: 3,
    color: 'green',
    range: [0, 1],
  },
  { name: 'loss', label: 'Loss', meaning: 'Training loss', color: 'red', range: [null, null] },
  { name: 'kl', label: 'KL', meaning: 'Distance from the reference model', color: 'purple', range: [0, null] },
  {
    name: 'turns',
    label: 'Turns',
    meaning: 'Mean number of turns of a rollout',
    decimals: 1,
    color: 'blue',
    range: [0, null],
  },
];

/** Metrics that stand in the table only, in the table's order. */
const tabled: readonly Metric[] = [
  {
    name: 'reward_std',
    label: 'Reward std',
    meaning: 'Standard deviation of the rewards within an optimizer step',
    decimals: 3,
  },
  {
    name: 'all_correct',
    label: 'All correct',
    meaning: 'Share of groups whose rollouts all have reward 1',
    decimals: 3,
  },
  { name: 'all_wrong', label: 'All wrong', meaning: 'Share of groups whose rollouts all have reward 0', decimals: 3 },
  { name: 'entropy', label: 'Entropy', meaning: 'Mean entropy of the sampled tokens' },
  { name: 'grad_norm', label: 'Grad norm', meaning: 'Norm of the gradient' },
  { name: 'learning_rate', label: 'Learning rate', meaning: 'Learning rate of the optimizer step' },
  { name: 'response_length', label: 'Length', meaning: 'Mean number of sampled tokens of a rollout', decimals: 1 },
  { name: 'failed', label: 'Failed', meaning: 'Rollouts that say nothing about the model' },
  { name: 'step_seconds', label: 'Seconds', meaning: 'Wall time of the optimizer step', decimals: 1 },
];

const known: readonly Metric[] = [...chartedMetrics, ...tabled];

/** The metrics that a run has measured: known ones first and in their order, then the rest by name. */
export function measuredMetrics(names: ReadonlySet<string>): readonly Metric[] {
  const others = [...names].filter((name) => !known.some((metric) => metric.name === name)).sort();
  return [...known.filter(({ name }) => names.has(name)), ...others.map(unknownMetric)];
}

function unknownMetric(name: string): Metric {
  return { name, label: name.replaceAll('_', ' '), meaning: name };
}

/** A value of a metric as text; a dash where it was not measured. */
export function formatMetric(metric: Metric, value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (metric.decimals !== undefined) return value.toFixed(metric.decimals);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(2);
  return size >= 1e4 ? value.toFixed(0) : value.toPrecision(4);
}
