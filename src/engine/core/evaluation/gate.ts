import { counted } from '../text/counted.ts';
import { missingRewards, type RunMetrics } from './metrics.ts';

/** One threshold that a run has to keep, for example `pass^4>=0.5`. */
export type Threshold = {
  readonly metric: string;
  readonly operator: '>=' | '<=' | '>' | '<';
  readonly bound: number;
};

/** Returns the number of answers whose endpoint did not report their tokens. */
const uncountedIn = ({ answers }: RunMetrics): number =>
  Object.values(answers).reduce((total, { uncounted }) => total + uncounted, 0);

const readers: Readonly<Record<string, (metrics: RunMetrics) => number | null>> = {
  reward: ({ meanReward }) => meanReward,
  completion: ({ completionRate }) => completionRate,
  flips: ({ flipRate }) => flipRate,
  'all-correct': ({ allCorrect }) => allCorrect,
  'all-wrong': ({ allWrong }) => allWrong,
  violations: ({ violationRate }) => violationRate,
  confirmations: ({ confirmationRate }) => confirmationRate,
  'hand-offs': ({ handOffRate }) => handOffRate,
  'tool-errors': ({ toolErrorRate }) => toolErrorRate,
  unnecessary: ({ unnecessaryRate }) => unnecessaryRate,
  turns: ({ turns }) => turns.mean,
  tokens: (metrics) => (uncountedIn(metrics) > 0 ? null : metrics.tokens.total),
  money: (metrics) => (uncountedIn(metrics) > 0 ? null : metrics.money),
  scored: ({ scored, planned }) => (planned === 0 ? null : scored / planned),
};

/** Metrics that are never above 1. */
const shares: readonly string[] = [
  'reward',
  'completion',
  'flips',
  'all-correct',
  'all-wrong',
  'violations',
  'confirmations',
  'hand-offs',
  'scored',
];

/** The metrics that a gate can use, for help and messages. */
export const gateMetrics: readonly string[] = [...Object.keys(readers), 'pass^K'];

/**
 * Reads `reward>=0.8,pass^4>=0.5`; a bare number is a bound of the reward. A text says what is wrong with it.
 * @param hint what to add about a name that is not a metric
 */
export function parseGate(
  text: string,
  trials: number,
  hint: (name: string, known: readonly string[]) => string = () => '',
): readonly Threshold[] | string {
  const thresholds: Threshold[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, metric = 'reward', operator = '>=', bound = ''] =
      /^(?:([a-z]+(?:-[a-z]+)?|pass\^\d+)\s*(>=|<=|>|<)\s*)?(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    if (bound === '') return `"${part}" is not a threshold; write for example reward>=0.8 or pass^4>=0.5`;
    const k = /^pass\^(\d+)$/.exec(metric)?.[1];
    if (k === undefined && !Object.hasOwn(readers, metric))
      return `there is no metric "${metric}"${hint(metric, gateMetrics) || `; there are ${gateMetrics.join(', ')}`}`;
    if (k !== undefined && Number(k) < 1) return `${metric} says nothing: the least is pass^1`;
    if (k !== undefined && Number(k) > trials)
      return `${metric} needs at least ${k} trials of each task; this run has ${trials}`;
    const isShare = k !== undefined || shares.includes(metric);
    if (isShare && operator.startsWith('>') && (Number(bound) > 1 || `${operator}${Number(bound)}` === '>1'))
      return `no run has ${metric}${operator}${bound}: ${metric} is a number from 0 to 1`;
    if (operator === '<' && Number(bound) === 0) return `no run has ${metric}<0: the least is 0`;
    thresholds.push({ metric, operator: operator as Threshold['operator'], bound: Number(bound) });
  }
  return thresholds;
}

/**
 * One line for each threshold that the run misses, in the order of the gate. A run with trials that have no reward does
 * not keep a gate, except one about `scored` alone: its other values would rest on the trials that happened to be scored.
 */
export function missedThresholds(thresholds: readonly Threshold[], metrics: RunMetrics): readonly string[] {
  // The report above says how many.
  const incomplete = isUndecided(thresholds, metrics) ? ['the run is incomplete: some trials have no reward'] : [];
  const missed = thresholds.flatMap(({ metric, operator, bound }) => {
    const value = readingOf(metric, metrics);
    if (value === null) return [`${metric} cannot be checked, because ${whyUnread(metric, metrics)}`];
    if (keeps(value, operator, bound)) return [];
    return [readingText({ metric, operator, bound }, value)];
  });
  return [...incomplete, ...missed];
}

/** Whether trials without a reward keep a gate from being decided. One about `scored` alone is about them. */
export function isUndecided(thresholds: readonly Threshold[], metrics: RunMetrics): boolean {
  return thresholds.some(({ metric }) => metric !== 'scored') && missingRewards(metrics.scoredTasks) !== null;
}

/** Returns one line for each threshold of a gate that the run does not miss. */
export function heldThresholds(thresholds: readonly Threshold[], metrics: RunMetrics): readonly string[] {
  return thresholds.flatMap((threshold) => {
    const value = readingOf(threshold.metric, metrics);
    return value === null ? [] : [readingText(threshold, value)];
  });
}

function whyUnread(metric: string, metrics: RunMetrics): string {
  const uncounted = metric === 'tokens' || metric === 'money' ? uncountedIn(metrics) : 0;
  return uncounted > 0
    ? `${counted(uncounted, 'answer')} reported no tokens`
    : 'no rollout of this run has a value for it';
}

const readingText = ({ metric, operator, bound }: Threshold, value: number) =>
  `${metric} is ${Number(value.toFixed(4))}, the gate wants ${operator} ${bound}`;

function readingOf(metric: string, metrics: RunMetrics): number | null {
  const k = /^pass\^(\d+)$/.exec(metric)?.[1];
  if (k === undefined) return readers[metric]?.(metrics) ?? null;
  return metrics.passHat.find((each) => each.k === Number(k))?.value ?? null;
}

function keeps(value: number, operator: Threshold['operator'], bound: number): boolean {
  switch (operator) {
    case '>=':
      return value >= bound;
    case '<=':
      return value <= bound;
    case '>':
      return value > bound;
    case '<':
      return value < bound;
  }
}
