import { type LayerName, layerNames } from '../events/reportCard.ts';
import { counted } from '../text/counted.ts';
import { type BrokenEnd, brokenEnds } from '../values/answerEnd.ts';
import { type Estimate, mean, passHat, quantile, sum, wilson } from '../values/statistics.ts';
import {
  type AnswerCounts,
  byRole,
  type CallCount,
  type Measure,
  type ModelRole,
  modelRoles,
  type Tokens,
} from './measure.ts';

export type Distribution = {
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
};

/** The price of a million tokens, in the currency of the person who states it. */
export type Price = { readonly input: number; readonly output: number };
export type Prices = { readonly [Role in ModelRole]?: Price | undefined };

/** The metrics of a run. A rate is null where there is nothing to take it of. */
export type RunMetrics = {
  /** Trials that the run should have. */
  readonly planned: number;
  readonly rollouts: number;
  /** Rollouts with a reward; an infrastructure failure has none, and is never a 0. */
  readonly scored: number;
  readonly tasks: number;
  /** The numbers of tasks that have a reward for all of their planned trials, for some of them, and for none. */
  readonly scoredTasks: ScoredTasks;
  /** Mean over scored rollouts; null without one, and so is its estimate by task. */
  readonly meanReward: number | null;
  readonly reward: Estimate | null;
  /** Share of the declared checks that held, mean over rollouts. */
  readonly completionRate: number | null;
  /** pass^k with the tasks that have at least k scored trials. */
  readonly passHat: readonly (Estimate & { readonly k: number; readonly tasks: number })[];
  /** Of the tasks with at least two scored trials: those that succeed sometimes and fail sometimes. */
  readonly flipRate: number | null;
  /** Of the planned tasks: those of which every planned trial has the reward 1, or another reward. Null without a reward. */
  readonly allCorrect: number | null;
  readonly allWrong: number | null;
  /**
   * Layers of the report card: how many rollouts held, violated, or leave each unknown, by the mark that the view of a
   * recording shows. A rollout in which nothing of a layer was checked counts in none of them.
   */
  readonly card: readonly {
    readonly layer: LayerName;
    readonly held: number;
    readonly violated: number;
    readonly unknown: number;
  }[];
  readonly turns: Distribution;
  /** Characters of one text said to the user. */
  readonly responseLength: Distribution;
  readonly calls: readonly (CallCount & { readonly share: number })[];
  readonly callsPerRollout: number;
  readonly genericShare: number | null;
  readonly toolErrorRate: number | null;
  /** Share of all calls that repeat an earlier one for nothing. */
  readonly unnecessaryRate: number | null;
  readonly handOffRate: number | null;
  readonly handOffSummary: number | null;
  readonly confirmationRate: number | null;
  /** Share of rollouts with a violated rule. */
  readonly violationRate: number | null;
  readonly violations: readonly {
    readonly rule: string;
    readonly gate: boolean;
    readonly count: number;
    readonly rollouts: number;
  }[];
  /** Milliseconds: whole rollouts, and single answers. */
  readonly latency: {
    readonly rollout: Distribution;
    readonly agent: Distribution;
    readonly user: Distribution;
    readonly tools: Distribution;
  };
  readonly tokens: Readonly<Record<ModelRole, Tokens>> & { readonly total: number };
  readonly answers: Readonly<Record<ModelRole, AnswerCounts>>;
  /** The fields that requests left out or renamed because their endpoint refuses them. */
  readonly adapted: Readonly<Record<ModelRole, readonly string[]>>;
  /** Answers by the provider that a router names. */
  readonly providers: Readonly<Record<string, number>>;
  /** Null where no price is known for a model that used tokens. */
  readonly money: number | null;
  readonly failedBy: {
    readonly agent: number;
    readonly simulator: number;
    readonly environment: number;
    readonly infrastructure: number;
  };
  readonly endReasons: Readonly<Record<string, number>>;
  /** Of a model that plays the user: what its guard refused, and what the engine took from it. */
  readonly simulator: {
    readonly flaws: Readonly<Record<string, number>>;
    /** Share of rollouts in which the guard refused something. */
    readonly flawedShare: number | null;
    readonly broken: number;
    readonly withheld: number;
  };
};

type ScoredTasks = { readonly all: number; readonly some: number; readonly none: number };

/** The number of trials that a run plans for each task. */
export type PlannedTrials = ReadonlyMap<string, number>;

/** Counts tasks by how many of their planned trials have a reward. */
export function scoredTasksOf(rollouts: readonly Scored[], planned: PlannedTrials): ScoredTasks {
  const scored = new Map(successByTask(rollouts).map(({ task, trials }) => [task, trials]));
  const missing = [...planned].filter(([task, trials]) => (scored.get(task) ?? 0) < trials);
  const none = missing.filter(([task]) => (scored.get(task) ?? 0) === 0).length;
  return { all: planned.size - missing.length, some: missing.length - none, none };
}

/** Returns which tasks lack rewards, in words; null where every planned trial has one. */
export function missingRewards({ all, some, none }: ScoredTasks): string | null {
  if (some + none === 0) return null;
  const have = (count: number) => `${count} ${count === 1 ? 'has' : 'have'}`;
  const lacking = some + none;
  return `${lacking} of ${counted(all + lacking, 'task')} ${lacking === 1 ? 'has' : 'have'} trials without a reward (${have(none)} no reward at all)`;
}

/** The trials of each task that were run. */
function trialsSeen(measures: readonly Measure[]): PlannedTrials {
  return new Map([...Map.groupBy(measures, ({ task }) => task)].map(([task, rows]) => [task, rows.length]));
}

/**
 * The metrics of a run from the measures of its finished rollouts.
 * @param planned the trials that the run should have; without it, those that it has
 */
export function metricsOf(
  measures: readonly Measure[],
  prices: Prices = {},
  planned: PlannedTrials = trialsSeen(measures),
): RunMetrics {
  const scored = measures.filter(({ reward }) => reward !== null);
  const calls = sum(measures.flatMap((each) => each.calls.map((count) => count.calls)));
  const of = (part: number) => (calls === 0 ? null : part / calls);
  const due = sum(measures.map(({ confirmations }) => confirmations.due));
  const tokens = byRole((role) => tokensOf(measures, role));
  return {
    planned: Math.max(measures.length, sum([...planned.values()])),
    rollouts: measures.length,
    scored: scored.length,
    tasks: new Set(measures.map(({ task }) => task)).size,
    scoredTasks: scoredTasksOf(measures, planned),
    meanReward: meanOrNull(scored.map(({ reward }) => reward ?? 0)),
    ...successOf(scored, planned),
    card: cardOf(measures),
    turns: distribution(measures.map(({ turns }) => turns)),
    responseLength: distribution(measures.flatMap(({ said }) => said)),
    calls: callMix(measures, calls),
    callsPerRollout: measures.length === 0 ? 0 : calls / measures.length,
    genericShare: of(countCalls(measures, ({ isGeneric, calls: made }) => (isGeneric ? made : 0))),
    toolErrorRate: of(countCalls(measures, ({ errors }) => errors)),
    unnecessaryRate: of(sum(measures.map(({ unnecessary }) => unnecessary))),
    handOffRate: share(measures, ({ isHandedOff }) => isHandedOff),
    handOffSummary: meanOrNull(measures.flatMap(({ handOffSummary }) => handOffSummary ?? [])),
    confirmationRate: due === 0 ? null : sum(measures.map(({ confirmations }) => confirmations.held)) / due,
    violationRate: share(measures, ({ violations }) => violations.length > 0),
    violations: violationsOf(measures),
    latency: {
      rollout: distribution(measures.map(({ latency }) => sum([...latency.agent, ...latency.user, ...latency.tools]))),
      agent: distribution(measures.flatMap(({ latency }) => latency.agent)),
      user: distribution(measures.flatMap(({ latency }) => latency.user)),
      tools: distribution(measures.flatMap(({ latency }) => latency.tools)),
    },
    tokens: { ...tokens, total: sum(Object.values(tokens).flatMap(({ input, output }) => [input, output])) },
    answers: byRole((role) => answersOf(measures, role)),
    adapted: byRole((role) => [...new Set(measures.flatMap(({ adapted }) => adapted[role]))]),
    providers: addedUp(measures.map(({ providers }) => providers)),
    money: moneyOf(tokens, prices),
    failedBy: failedByOf(measures),
    endReasons: Object.fromEntries(
      [...Map.groupBy(measures, ({ endReason }) => endReason)].map(([reason, rows]) => [reason, rows.length]),
    ),
    simulator: simulatorOf(measures),
  };
}

function answersOf(measures: readonly Measure[], role: ModelRole): AnswerCounts {
  const all = measures.map(({ answers }) => answers[role]);
  const total = (of: 'all' | BrokenEnd) => sum(all.map((counts) => counts[of]));
  const broken = Object.fromEntries(brokenEnds.map((end) => [end, total(end)])) as Record<BrokenEnd, number>;
  const unknownEnds = addedUp(all.map(({ unknownEnds }) => unknownEnds));
  return { all: total('all'), ...broken, unknownEnds, uncounted: sum(all.map(({ uncounted }) => uncounted)) };
}

function addedUp(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const counts = Map.groupBy(all.flatMap(Object.entries<number>), ([name]) => name);
  return Object.fromEntries([...counts].map(([name, each]) => [name, sum(each.map(([, count]) => count))]));
}

function simulatorOf(measures: readonly Measure[]): RunMetrics['simulator'] {
  const flaws = measures.flatMap(({ simulator }) => simulator.flaws);
  return {
    flaws: Object.fromEntries([...Map.groupBy(flaws, (code) => code)].map(([code, same]) => [code, same.length])),
    flawedShare: share(measures, ({ simulator }) => simulator.flaws.length > 0),
    broken: measures.filter(({ failure }) => failure?.code.startsWith('simulator/')).length,
    withheld: sum(measures.map(({ simulator }) => simulator.withheld)),
  };
}

/** Returns what the tokens of the models cost, or null where a price that is needed is not known. */
export function moneyOf(tokens: Readonly<Record<ModelRole, Tokens>>, prices: Prices): number | null {
  const costs = modelRoles.map((role) => {
    const { input, output } = tokens[role];
    const price = prices[role];
    if (price) return (input * price.input + output * price.output) / 1_000_000;
    return input + output === 0 ? 0 : null;
  });
  return costs.some((each) => each === null) || Object.keys(prices).length === 0
    ? null
    : sum(costs.map((each) => each ?? 0));
}

/** All that success is measured by: a measure has it, and so has a receipt. */
export type Scored = Pick<Measure, 'task' | 'reward'>;

/** Scored rollouts by task: how many succeeded. */
export type TaskSuccess = { readonly task: string; readonly successes: number; readonly trials: number };

/** Counts the rollouts of each task that have a reward, and those of them whose reward is 1. */
export function successByTask(measures: readonly Scored[]): readonly TaskSuccess[] {
  return [...Map.groupBy(measures, ({ task }) => task)].map(([task, rows]) => {
    const scored = rows.filter(({ reward }) => reward !== null);
    return { task, successes: scored.filter(({ reward }) => reward === 1).length, trials: scored.length };
  });
}

/** The mean reward of each task over those of its rollouts that have one. */
export function rewardsByTask(rollouts: readonly Scored[]): readonly number[] {
  const scored = rollouts.filter(({ reward }) => reward !== null);
  return [...Map.groupBy(scored, ({ task }) => task).values()].map((rows) =>
    mean(rows.map(({ reward }) => reward ?? 0)),
  );
}

function successOf(scored: readonly Measure[], planned: PlannedTrials) {
  const tasks = successByTask(scored);
  const isWhole = ({ task, trials }: TaskSuccess) => trials >= (planned.get(task) ?? 0);
  const repeated = tasks.filter(({ trials }) => trials > 1);
  const shareOf = (from: readonly TaskSuccess[], is: (task: TaskSuccess) => boolean, all = from.length) =>
    from.length === 0 ? null : from.filter(is).length / all;
  const shareOfPlanned = (is: (task: TaskSuccess) => boolean) =>
    shareOf(tasks, (task) => isWhole(task) && is(task), Math.max(planned.size, tasks.length));
  const rewards = rewardsByTask(scored);
  return {
    reward: rewards.length === 0 ? null : wilson(rewards),
    completionRate: meanOrNull(
      scored.flatMap(({ checks }) => (checks.declared === 0 ? [] : [checks.met / checks.declared])),
    ),
    passHat: passHats(tasks),
    flipRate: shareOf(repeated, ({ successes, trials }) => successes > 0 && successes < trials),
    allCorrect: shareOfPlanned(({ successes, trials }) => successes === trials),
    allWrong: shareOfPlanned(({ successes }) => successes === 0),
  };
}

/** pass^k for every k that some task has the trials for, over the tasks that have them. */
export function passHats(tasks: readonly TaskSuccess[]): RunMetrics['passHat'] {
  const most = tasks.reduce((found, { trials }) => Math.max(found, trials), 0);
  return Array.from({ length: most }, (_, index) => {
    const able = tasks.filter(({ trials }) => trials > index);
    const values = able.map(({ successes, trials }) => passHat(successes, trials, index + 1));
    return { k: index + 1, tasks: able.length, ...wilson(values) };
  });
}

/** Returns the words for the tasks that pass^k is over, after its value; nothing where it is over all of them. */
export function passHatTasks({ tasks }: { readonly tasks: number }, all: number): string {
  return tasks < all ? ` (${tasks} of ${counted(all, 'task')})` : '';
}

/** Returns the values of pass^k that a table or a plot shows: for k up to 8, powers of two, and the most trials. */
export function shownPassHats(passHat: RunMetrics['passHat']): RunMetrics['passHat'] {
  return passHat.filter(({ k }) => k <= 8 || Number.isInteger(Math.log2(k)) || k === passHat.length);
}

function callMix(measures: readonly Measure[], total: number): RunMetrics['calls'] {
  const counts = measures.flatMap(({ calls }) => calls);
  return [...Map.groupBy(counts, ({ tool }) => tool)]
    .map(([tool, rows]) => {
      const calls = sum(rows.map((row) => row.calls));
      return {
        tool,
        calls,
        errors: sum(rows.map(({ errors }) => errors)),
        isGeneric: rows.some(({ isGeneric }) => isGeneric),
        share: calls / total,
      };
    })
    .sort((one, other) => other.calls - one.calls || (one.tool < other.tool ? -1 : 1));
}

function violationsOf(measures: readonly Measure[]): RunMetrics['violations'] {
  const all = measures.flatMap(({ violations }, rollout) => violations.map((each) => ({ ...each, rollout })));
  return [...Map.groupBy(all, ({ rule }) => rule)]
    .map(([rule, rows]) => ({
      rule,
      gate: rows.some(({ gate }) => gate),
      count: rows.length,
      rollouts: new Set(rows.map(({ rollout }) => rollout)).size,
    }))
    .sort((one, other) => other.count - one.count);
}

function cardOf(measures: readonly Measure[]): RunMetrics['card'] {
  const count = (layer: LayerName, verdict: 'held' | 'violated' | 'unknown') =>
    measures.filter(({ card }) => card[layer] === verdict).length;
  return layerNames.map((layer) => ({
    layer,
    held: count(layer, 'held'),
    violated: count(layer, 'violated'),
    unknown: count(layer, 'unknown'),
  }));
}

function failedByOf(measures: readonly Measure[]): RunMetrics['failedBy'] {
  const count = (who: Measure['failedBy']) => measures.filter(({ failedBy }) => failedBy === who).length;
  return {
    agent: count('agent'),
    simulator: count('simulator'),
    environment: count('environment'),
    infrastructure: count('infrastructure'),
  };
}

function tokensOf(measures: readonly Measure[], role: ModelRole): Tokens {
  return {
    input: sum(measures.map(({ tokens }) => tokens[role].input)),
    output: sum(measures.map(({ tokens }) => tokens[role].output)),
  };
}

function countCalls(measures: readonly Measure[], count: (row: CallCount) => number): number {
  return sum(measures.flatMap(({ calls }) => calls.map(count)));
}

function share(measures: readonly Measure[], is: (measure: Measure) => boolean): number | null {
  return measures.length === 0 ? null : measures.filter(is).length / measures.length;
}

function meanOrNull(values: readonly number[]): number | null {
  return values.length === 0 ? null : mean(values);
}

function distribution(values: readonly number[]): Distribution {
  return {
    mean: mean(values),
    median: quantile(values, 0.5),
    p95: quantile(values, 0.95),
    max: values.reduce((most, value) => Math.max(most, value), 0),
  };
}
