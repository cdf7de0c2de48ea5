import type { SeriesColor } from '../theme.ts';

/** How a metric is named and written. */
export type Metric = {
  readonly name: string;
  readonly label: string;
  /** What it says, for people who see it for the first time. */
  readonly meaning: string;
  /** Decimal places; without it, four significant digits. */
  readonly decimals?: number;
};

/** A chart of one metric or of several that are read together. `range` is what the y axis shows at least. */
export type ChartKind = {
  readonly label: string;
  readonly meaning: string;
  readonly metrics: readonly Metric[];
  /** Takes in further metrics, whose names only the run knows. */
  readonly more?: (name: string) => Metric | null;
  readonly color: SeriesColor;
  readonly range: readonly [number | null, number | null];
  /** Drawn from a GRPO run's beginning, before anything is measured. */
  readonly isLead?: boolean;
};

const share = { decimals: 3 } as const;
const toShare: readonly [number, number] = [0, 1];
const upwards: readonly [number, null] = [0, null];
const anywhere: readonly [null, null] = [null, null];

const reward = { name: 'reward', label: 'Reward', meaning: 'Mean reward of the optimizer step’s rollouts', ...share };
const loss = { name: 'loss', label: 'Loss', meaning: 'Training loss' };
const validation = {
  name: 'validation_loss',
  label: 'Validation loss',
  meaning: 'Loss on recordings that SFT does not learn from',
};
const kl = { name: 'kl', label: 'KL', meaning: 'Distance from the reference model' };
const turns = { name: 'turns', label: 'Turns', meaning: 'Mean number of turns of a rollout', decimals: 1 };

/** The dashboard's charts, in their order. */
export const chartKinds: readonly ChartKind[] = [
  { ...reward, metrics: [reward], color: 'green', range: toShare, isLead: true },
  { ...loss, metrics: [loss, validation], color: 'red', range: anywhere, isLead: true },
  { ...kl, metrics: [kl], color: 'purple', range: upwards, isLead: true },
  { ...turns, metrics: [turns], color: 'blue', range: upwards, isLead: true },
  {
    label: 'All correct and all wrong',
    meaning: 'Share of groups whose rollouts all have reward 1, or all reward 0',
    metrics: [
      {
        name: 'all_correct',
        label: 'All correct',
        meaning: 'Share of groups whose rollouts all have reward 1',
        ...share,
      },
      { name: 'all_wrong', label: 'All wrong', meaning: 'Share of groups whose rollouts all have reward 0', ...share },
    ],
    color: 'green',
    range: toShare,
  },
  {
    label: 'Test split',
    meaning: 'Evaluations while training: mean reward, and share of the tasks’ declared checks that were met',
    metrics: [],
    more: evaluated,
    color: 'green',
    range: toShare,
  },
  single('completion', 'Completion', 'Share of a task’s declared checks that were met', 'green', toShare, 3),
  single('entropy', 'Entropy', 'Mean entropy of the sampled tokens', 'purple', upwards),
  single('response_length', 'Response length', 'Mean number of sampled tokens of a rollout', 'blue', upwards, 1),
  single('grad_norm', 'Gradient norm', 'Norm of the gradient', 'red', upwards),
  {
    label: 'Tool calls',
    meaning: 'Mean number of calls of a rollout, by tool',
    metrics: [],
    more: (name) =>
      name.startsWith('calls/')
        ? { name, label: name.slice('calls/'.length), meaning: `Calls of ${name.slice(6)} in a rollout`, decimals: 2 }
        : null,
    color: 'blue',
    range: upwards,
  },
  single('generic_calls', 'Generic tools', 'Calls of think, calculate and the like in a rollout', 'blue', upwards, 2),
  single('handoff', 'Human handoff', 'Share of rollouts that were handed to a human', 'purple', toShare, 3),
  {
    label: 'Lost to learning',
    meaning: 'What teaches nothing, or little: groups with one reward, answers cut off, and broken simulated users',
    metrics: [
      {
        name: 'dead_groups',
        label: 'Dead groups',
        meaning: 'Share of groups without a difference in reward',
        ...share,
      },
      { name: 'truncated', label: 'Truncated', meaning: 'Share of rollouts in which an answer was cut off', ...share },
      {
        name: 'simulator_failed',
        label: 'Broken users',
        meaning: 'Share of rollouts that the simulated user broke',
        ...share,
      },
      { name: 'looping', label: 'Looping', meaning: 'Share of rollouts with a call made again and again', ...share },
    ],
    color: 'red',
    range: toShare,
  },
  single('drift', 'Token drift', 'Mean difference of sampled and recomputed log-probabilities', 'purple', upwards),
  {
    label: 'Seconds by phase',
    meaning: 'Wall time of an optimizer step: its rollouts, and the update of the weights',
    metrics: [
      { name: 'rollout_seconds', label: 'Rollouts', meaning: 'Wall time of the rollouts', decimals: 1 },
      { name: 'update_seconds', label: 'Update', meaning: 'Wall time of everything else', decimals: 1 },
    ],
    color: 'blue',
    range: upwards,
  },
  single('tokens_per_second', 'Tokens per second', 'Sampled tokens in a second of rollouts', 'blue', upwards, 1),
  single('cost', 'Cost', 'What the model in the user’s seat cost, in the currency of its prices', 'red', upwards),
];

function single(
  name: string,
  label: string,
  meaning: string,
  color: SeriesColor,
  range: ChartKind['range'],
  decimals?: number,
): ChartKind {
  const metric: Metric = { name, label, meaning, ...(decimals === undefined ? {} : { decimals }) };
  return { label, meaning, metrics: [metric], color, range };
}

/** Reward and completion of an evaluation, over all domains or of one. */
function evaluated(name: string): Metric | null {
  const [, domain, what] = /^evaluate\/(?:(.+)\/)?(reward|completion)$/.exec(name) ?? [];
  if (what === undefined) return null;
  const label = `${what === 'reward' ? 'Reward' : 'Completion'}${domain === undefined ? '' : `, ${domain}`}`;
  return { name, label, meaning: `${label} on the test split`, ...share };
}

/** Metrics that stand in the table only, in the table's order. */
const tabled: readonly Metric[] = [
  {
    name: 'reward_std',
    label: 'Reward std',
    meaning: 'Standard deviation of the rewards within an optimizer step',
    decimals: 3,
  },
  { name: 'learning_rate', label: 'Learning rate', meaning: 'Learning rate of the optimizer step' },
  { name: 'failed', label: 'Failed', meaning: 'Rollouts that say nothing about the model' },
  { name: 'step_seconds', label: 'Seconds', meaning: 'Wall time of the optimizer step', decimals: 1 },
];

const known: readonly Metric[] = [...chartKinds.flatMap(({ metrics }) => metrics), ...tabled];

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
