import {
  type Comparison,
  compareRuns,
  type Divergence,
  firstDivergence,
} from '../../engine/core/evaluation/comparison.ts';
import { adviceOn, type ComparisonVerdict, verdictOn } from '../../engine/core/evaluation/decision.ts';
import { metricsOf, type RunMetrics } from '../../engine/core/evaluation/metrics.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { lineExcerpt } from '../../engine/core/text/excerpt.ts';
import { agentNames, plannedTrials, type RunFile } from '../../engine/shell/records/runFile.ts';
import {
  eventsOf,
  type FinishedRollout,
  hasAgentChanged,
  type RunRecord,
  settingsThatDiffer,
  settingText,
  withTurnCap,
} from '../../engine/shell/records/runRecord.ts';
import { domainDifferences } from './domainDifferences.ts';

/** Most characters of a text that is shown of a difference; the recordings have the whole. */
const longestText = 300;

/** The point at which two rollouts of one task and trial diverge. */
export type Parting = Divergence & {
  readonly task: string;
  readonly trial: number;
  readonly rewards: readonly [number | null, number | null];
};

/** A task of both runs with trials that have no reward in one of them. */
export type UnscoredTask = {
  readonly task: string;
  /** The number of trials without a reward, of all finished ones, in each run. */
  readonly trials: readonly [UnscoredTrials, UnscoredTrials];
  /** Whether the test leaves the task out, because one of the runs has no reward of it. */
  readonly isLeftOut: boolean;
};

type UnscoredTrials = { readonly unscored: number; readonly of: number; readonly reasons: readonly string[] };

/** A run set against the first one. */
export type ComparedPair = Comparison & {
  readonly verdict: ComparisonVerdict;
  /** Advice on what the test can and cannot show, and how much more data would decide. */
  readonly advice: readonly string[];
  /** The differences in settings, apart from what the runs did. */
  readonly settings: readonly string[];
  readonly changedTasks: readonly string[];
  readonly onlyInOne: readonly string[];
  /** Tasks with trials without a reward, of which the comparison knows less, or nothing. */
  readonly unscored: readonly UnscoredTask[];
  readonly partings: readonly Parting[];
  /** The number of pairs of rollouts that do not differ. */
  readonly alike: number;
};

/** The facts shown about each run in a comparison. */
export type ComparedRun = {
  readonly folder: string;
  readonly run: Pick<RunFile, 'domain' | 'seed' | 'basis' | 'agent' | 'user' | 'policyHash'>;
  readonly metrics: RunMetrics;
  readonly unfinished: number;
  readonly problems: readonly string[];
};

/** A finished rollout of a task, as far as a row of a comparison shows it. */
export type ComparedTrial = Pick<FinishedRollout, 'trial' | 'reward' | 'failedBy' | 'recording'>;

/** Called with the number of pairs of rollouts read so far, and their total. */
type OnPair = (done: number, of: number) => Promise<void>;

/** Runs aligned by task. */
export type RunsCompared = {
  readonly type: 'runs';
  readonly runs: readonly ComparedRun[];
  /** Every task that some run has finished, with the trials of each run in the order of the runs. */
  readonly tasks: readonly { readonly task: string; readonly trials: readonly (readonly ComparedTrial[])[] }[];
  /** The first run with each of the others. */
  readonly pairs: readonly ComparedPair[];
};

/**
 * Aligns two or more runs by task, and compares each with the first.
 * @param onPair called and awaited after each pair of rollouts
 */
export async function runsCompared(records: readonly RunRecord[], onPair: OnPair): Promise<RunsCompared> {
  const [first, ...others] = records;
  if (!first) return { type: 'runs', runs: [], tasks: [], pairs: [] };
  return {
    type: 'runs',
    runs: records.map(({ folder, file, rollouts, unfinished, problems }) => ({
      folder,
      run: {
        domain: file.domain,
        seed: file.seed,
        basis: file.basis,
        agent: agentNames(file),
        user: file.user,
        policyHash: file.policyHash,
      },
      metrics: metricsOf(rollouts, file.prices, plannedTrials(file)),
      unfinished: unfinished.length,
      problems,
    })),
    tasks: alignedTasks(records),
    pairs: await Array.fromAsync(others, (other) => comparedPair(first, other, onPair)),
  };
}

const settingsOf = ({ folder, file }: RunRecord): RunFile => ({
  ...withTurnCap(folder, file),
  agent: agentNames(file),
});

/** Returns a line where the turn cap of one of two runs is not known: neither `run.json` nor a recording has it. */
function unknownTurnCap(caps: readonly (number | undefined)[]): readonly string[] {
  const isOneKnown = caps.some((cap) => cap !== undefined) && caps.includes(undefined);
  return isOneKnown ? [`turn cap: ${caps.map((cap) => cap ?? 'not known').join(' → ')}`] : [];
}

function alignedTasks(records: readonly RunRecord[]): RunsCompared['tasks'] {
  const byTask = records.map(({ rollouts }) => Map.groupBy(rollouts, ({ task }) => task));
  const names = new Set(byTask.flatMap((tasks) => [...tasks.keys()]));
  return [...names].map((task) => ({
    task,
    trials: byTask.map((tasks) =>
      (tasks.get(task) ?? []).map(({ trial, reward, failedBy, recording }) => ({ trial, reward, failedBy, recording })),
    ),
  }));
}

async function comparedPair(first: RunRecord, second: RunRecord, onPair: OnPair): Promise<ComparedPair> {
  const hashes = new Map(first.rollouts.map(({ task, taskHash }) => [task, taskHash]));
  const changed = new Set(
    second.rollouts.filter(({ task, taskHash }) => (hashes.get(task) ?? taskHash) !== taskHash).map(({ task }) => task),
  );
  const isKept = ({ task }: FinishedRollout) => !changed.has(task);
  const [before, after] = [first.rollouts.filter(isKept), second.rollouts.filter(isKept)];
  const comparison = compareRuns(before, after);
  const pairs = pairsOf(before, after);
  const settings = [settingsOf(first), settingsOf(second)] as const;
  const partings: Parting[] = [];
  const domains = new Set<string>();
  for (const [at, [one, other]] of pairs.entries()) {
    const events = [eventsOf(one.recording), eventsOf(other.recording)] as const;
    for (const difference of domainsThatDiffer(...events)) domains.add(difference);
    partings.push(...partingOf(one, other, ...events));
    await onPair(at + 1, pairs.length);
  }
  return {
    ...comparison,
    verdict: verdictOn(comparison),
    advice: adviceOn(comparison),
    settings: [
      ...settingsThatDiffer(...settings).map(settingText),
      ...unknownTurnCap(settings.map(({ turnCap }) => turnCap)),
      ...(hasAgentChanged(first.file, second.file)
        ? [`the file of ${first.file.agent}, or a program file that it names`]
        : []),
      ...domains,
    ],
    changedTasks: [...changed],
    onlyInOne: onlyInOne(before, after),
    unscored: unscoredTasks(before, after),
    partings,
    alike: pairs.length - partings.length,
  };
}

function domainsThatDiffer([one]: readonly RolloutEvent[], [other]: readonly RolloutEvent[]): readonly string[] {
  return one?.type === 'rolloutStarted' && other?.type === 'rolloutStarted' ? domainDifferences(one, other) : [];
}

function partingOf(
  one: FinishedRollout,
  other: FinishedRollout,
  first: readonly RolloutEvent[],
  second: readonly RolloutEvent[],
): readonly Parting[] {
  const divergence = firstDivergence(first, second);
  if (!divergence) return [];
  const [left, right] = divergence.texts;
  const texts = [lineExcerpt(left, longestText), lineExcerpt(right, longestText)] as const;
  return [{ task: one.task, trial: one.trial, rewards: [one.reward, other.reward], ...divergence, texts }];
}

function pairsOf(
  before: readonly FinishedRollout[],
  after: readonly FinishedRollout[],
): readonly (readonly [FinishedRollout, FinishedRollout])[] {
  const others = new Map(after.map((rollout) => [`${rollout.task} ${rollout.trial}`, rollout]));
  return before.flatMap((one) => {
    const other = others.get(`${one.task} ${one.trial}`);
    return other ? [[one, other] as const] : [];
  });
}

function unscoredTasks(before: readonly FinishedRollout[], after: readonly FinishedRollout[]): readonly UnscoredTask[] {
  const [first, second] = [before, after].map((rollouts) => Map.groupBy(rollouts, ({ task }) => task));
  return [...(first ?? [])].flatMap(([task, rollouts]) => {
    const others = second?.get(task);
    if (!others) return [];
    const [one, other] = [unscoredTrials(rollouts), unscoredTrials(others)];
    if (one.unscored + other.unscored === 0) return [];
    return [{ task, trials: [one, other], isLeftOut: [one, other].some(({ unscored, of }) => unscored === of) }];
  });
}

function unscoredTrials(rollouts: readonly FinishedRollout[]): UnscoredTrials {
  const unscored = rollouts.filter(({ reward }) => reward === null);
  const reasons = new Set(unscored.map(({ failure, reason }) => failure?.message || reason));
  return { unscored: unscored.length, of: rollouts.length, reasons: [...reasons] };
}

function onlyInOne(before: readonly FinishedRollout[], after: readonly FinishedRollout[]): readonly string[] {
  const [one, other] = [before, after].map((rollouts) => new Set(rollouts.map(({ task }) => task)));
  return [...(one ?? [])]
    .filter((task) => !other?.has(task))
    .concat([...(other ?? [])].filter((task) => !one?.has(task)));
}
