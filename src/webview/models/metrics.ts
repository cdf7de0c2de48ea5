import * as z from 'zod/mini';
import { charts, metrics } from '../../../trainer/rehearsal_trainer/keys.json';

/** The name and number format of a metric. */
const metricSchema = z.object({
  name: z.string(),
  label: z.string(),
  /** An explanation of the metric, for people who see it for the first time. */
  about: z.string(),
  /** Decimal places; without it, four significant digits. */
  decimals: z.nullable(z.int()),
  /** The kinds of run that measure it. */
  runs: z.array(z.string()),
});
export type Metric = Readonly<z.infer<typeof metricSchema>>;

const chartSchema = z.object({
  label: z.string(),
  about: z.string(),
  metrics: z.array(z.string()),
  color: z.enum(['green', 'red', 'purple', 'blue']),
  /** The smallest range that the y axis shows. */
  least: z.nullable(z.number()),
  most: z.nullable(z.number()),
  /** Drawn from a run's beginning, before anything is measured. */
  isLead: z.boolean(),
});

/** A chart of one metric or of several that are read together. A name may mean several metrics: `calls/<tool>`. */
export type ChartKind = Readonly<z.infer<typeof chartSchema>>;

const told = z.array(metricSchema).parse(metrics).map(plain);
const byName = new Map(told.map((metric) => [metric.name, metric]));
const patterns = told
  .filter(({ name }) => name.includes('<'))
  .map((metric) => ({ metric, pattern: patternOf(metric.name) }));

/** The dashboard's charts, in their order. */
export const chartKinds: readonly ChartKind[] = z.array(chartSchema).parse(charts).map(plain);

/** The trainer marks the names of keys and metrics in its sentences. */
function plain<Told extends { readonly about: string }>(each: Told): Told {
  return { ...each, about: each.about.replaceAll('`', '') };
}

/** Returns what a name of the trainer's table matches; its `<tool>` is any word. */
function patternOf(name: string): RegExp {
  return new RegExp(`^${name.replaceAll(/<(\w+)>/g, '(?<$1>.+)')}$`);
}

/** The metrics of a chart among those that a run has measured. */
export function drawnMetrics({ metrics: own }: ChartKind, names: ReadonlySet<string>): readonly Metric[] {
  const sorted = [...names].sort();
  const drawn = own.flatMap((name) => {
    if (names.has(name)) return [name];
    const pattern = patternOf(name);
    return sorted.filter((each) => pattern.test(each));
  });
  return drawn.map(metricNamed);
}

/** The metrics that a run has measured: those of the trainer's table first and in its order, then the rest by name. */
export function measuredMetrics(names: ReadonlySet<string>): readonly Metric[] {
  const others = [...names].filter((name) => !byName.has(name)).sort();
  return [...told.filter(({ name }) => names.has(name)), ...others.map(metricNamed)];
}

/** A metric by its name, also one that the trainer's table does not know. */
export function metricNamed(name: string): Metric {
  return knownMetric(name) ?? { name, label: name.replaceAll('_', ' '), about: name, decimals: null, runs: [] };
}

function knownMetric(name: string): Metric | null {
  const known = byName.get(name);
  if (known) return known;
  for (const { metric, pattern } of patterns) {
    const parts = pattern.exec(name)?.groups;
    if (!parts) continue;
    const inner = parts['metric'] === undefined ? metric : knownMetric(parts['metric']);
    if (!inner) continue;
    const words: Readonly<Record<string, string>> = { ...parts, metric: inner.label };
    const label = metric.label.replaceAll(/<(\w+)>/g, (placeholder, part: string) => words[part] ?? placeholder);
    return { ...metric, name, label, decimals: inner.decimals };
  }
  return null;
}

/** Returns a value of a metric as text; a dash if it was not measured. */
export function formatMetric({ decimals }: Pick<Metric, 'decimals'>, value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (decimals !== null) return value.toFixed(decimals);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(2);
  return size >= 1e4 ? value.toFixed(0) : value.toPrecision(4);
}
