import { basisText, rewardText, signed } from '../../engine/core/events/displayText.ts';
import { counted } from '../../engine/core/text/counted.ts';
import type {
  ComparedMetrics,
  ComparedRun,
  ComparedTrial,
  Estimate,
  Flip,
  RunsCompared,
} from '../messages/compared.ts';
import type { ComparedWhat, ToWebview } from '../messages/protocol.ts';
import { duration } from './duration.ts';

export type { RunsCompared } from '../messages/compared.ts';

type RecordingsCompared = Extract<ToWebview, { type: 'recordingsCompared' }>['comparison'];

/** Everything that the comparison page knows. */
export type Comparison = {
  /** The compared paths; they survive a reload of the window. */
  readonly sources: readonly string[];
  readonly busy: { readonly what: ComparedWhat; readonly note: string } | null;
  readonly runs: RunsCompared | null;
  readonly recordings: RecordingsCompared | null;
  readonly problem: { readonly what: ComparedWhat; readonly text: string } | null;
};

export const emptyComparison: Comparison = { sources: [], busy: null, runs: null, recordings: null, problem: null };

/** The comparison after a message of the extension. */
export function comparisonAfter(before: Comparison, message: ToWebview): Comparison {
  switch (message.type) {
    case 'comparing': {
      const { what, note, sources } = message;
      return { ...before, sources, busy: { what, note }, problem: null };
    }
    case 'runsCompared':
      return { ...before, runs: message.comparison, busy: null, problem: null };
    case 'recordingsCompared':
      return { ...before, recordings: message.comparison, busy: null, problem: null };
    case 'comparisonFailed':
      return { ...before, busy: null, problem: { what: message.what, text: message.problem } };
    default:
      return before;
  }
}

/** The letter of a run or a recording: A, B, C. */
export function letterOf(index: number): string {
  return index < 26
    ? String.fromCharCode(65 + index)
    : `${letterOf(Math.floor(index / 26) - 1)}${letterOf(index % 26)}`;
}

/** The last part of a path, whatever separates its parts. */
export function nameOf(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** Returns the facts shown below a run's name. */
export function runFacts({ run, metrics, unfinished }: ComparedRun): readonly string[] {
  return [
    run.domain,
    `agent: ${run.agent}`,
    `user: ${run.user}`,
    `seed ${run.seed}`,
    basisText(run.basis),
    `${counted(metrics.rollouts, 'rollout')} of ${counted(metrics.tasks, 'task')}`,
    ...(unfinished > 0 ? [`${unfinished} unfinished`] : []),
  ];
}

/** One row of a table over runs: its name, what it means, and a cell for each run. */
export type MetricRow = { readonly label: string; readonly meaning: string; readonly cells: readonly string[] };

const interval = ({ value, low, high }: Estimate): string =>
  `${value.toFixed(3)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
const percent = (value: number | null): string => (value === null ? 'none' : `${(100 * value).toFixed(1)} %`);
const time = (ms: number): string => (ms === 0 ? 'none' : duration(ms));

type MetricOf = readonly [label: string, meaning: string, text: (metrics: ComparedMetrics) => string];

const metricsShown: readonly MetricOf[] = [
  ['Reward', 'Mean by task, with its 95 % interval', ({ reward }) => (reward ? interval(reward) : 'none')],
  [
    'Rollouts scored',
    'Infrastructure failures have no reward and are counted separately',
    (m) => `${m.scored} of ${m.rollouts}`,
  ],
  ['Checks met', 'Share of the tasks’ declared checks that held', (m) => percent(m.completionRate)],
  ['Tasks always passed', 'Every planned trial has reward 1', (m) => percent(m.allCorrect)],
  ['Tasks always failed', 'Every planned trial has a reward, and none is 1', (m) => percent(m.allWrong)],
  [
    'Tasks with mixed results',
    'Of those with two trials or more: sometimes right, sometimes wrong',
    (m) => percent(m.flipRate),
  ],
  ['Rollouts with a violation', 'A rule of the policy was violated', (m) => percent(m.violationRate)],
  ['Writes confirmed', 'Calls under a confirmed rule that the user had agreed to', (m) => percent(m.confirmationRate)],
  ['Handed over', 'Rollouts that the agent handed over to a person', (m) => percent(m.handOffRate)],
  ['Turns', 'Responses of the agent, mean', (m) => m.turns.mean.toFixed(1)],
  ['Calls per rollout', 'Calls of tools by the agent, mean', (m) => m.callsPerRollout.toFixed(1)],
  ['Calls that failed', 'Share of all calls', (m) => percent(m.toolErrorRate)],
  ['Redundant calls', 'Repeat an earlier call, with nothing written in between', (m) => percent(m.unnecessaryRate)],
  ['Time per rollout', 'Median waiting time', (m) => time(m.latency.rollout.median)],
  ['Time per agent turn', 'Median', (m) => time(m.latency.agent.median)],
  ['Tokens', 'All models together', ({ tokens }) => (tokens.total === 0 ? 'none' : tokens.total.toLocaleString('en'))],
  ['Cost', 'At the given prices', ({ money }) => (money === null ? 'no price' : money.toFixed(4))],
  [
    'Tasks with every trial scored',
    'Of all tasks; the others have trials without a reward',
    ({ scoredTasks: { all, some, none } }) => `${all} of ${all + some + none}`,
  ],
  ['Who failed', 'Of the rollouts without their reward', ({ failedBy }) => failures(failedBy)],
];

function failures(failedBy: ComparedMetrics['failedBy']): string {
  const some = Object.entries(failedBy).filter(([, count]) => count > 0);
  return some.length === 0 ? 'none' : some.map(([who, count]) => `${who} ${count}`).join(', ');
}

/** The metrics of the runs: a row each, pass^k among them. Rows that say nothing of any run are left out. */
export function metricRows({ runs }: RunsCompared): readonly MetricRow[] {
  const rows = metricsShown.map(([label, meaning, text]) => ({
    label,
    meaning,
    cells: runs.map(({ metrics }) => text(metrics)),
  }));
  const most = Math.max(0, ...runs.map(({ metrics }) => metrics.passHat.length));
  const passes = Array.from({ length: most }, (_, index) => ({
    label: `pass^${index + 1}`,
    meaning: `Chance that ${index + 1} trials of a task all succeed, with its 95 % interval`,
    cells: runs.map(({ metrics }) => {
      const pass = metrics.passHat[index];
      return pass ? interval(pass) : 'too few trials';
    }),
  })).filter(
    ({ label }, index) => label !== '' && (index < 4 || Number.isInteger(Math.log2(index + 1)) || index === most - 1),
  );
  const [first, ...rest] = rows;
  const all = first ? [first, ...passes, ...rest] : passes;
  return all.filter(({ cells }) => cells.some((cell) => cell !== 'none' && cell !== 'no price'));
}

/** pass^k of every run over k, with the bounds of its interval; null where a run has too few trials. */
export type PassCurve = {
  readonly ks: readonly number[];
  readonly curves: readonly {
    readonly name: string;
    readonly values: readonly (number | null)[];
    readonly low: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  }[];
  /** The description of the whole chart for screen readers. */
  readonly description: string;
};

/** The curves of pass^k. */
export function passCurveOf({ runs }: RunsCompared): PassCurve {
  const most = Math.max(0, ...runs.map(({ metrics }) => metrics.passHat.length));
  const ks = Array.from({ length: most }, (_, index) => index + 1);
  const curves = runs.map(({ metrics: { passHat } }, at) => ({
    name: letterOf(at),
    values: ks.map((_, index) => passHat[index]?.value ?? null),
    low: ks.map((_, index) => passHat[index]?.low ?? null),
    high: ks.map((_, index) => passHat[index]?.high ?? null),
  }));
  const spoken = curves.map(({ name, values }) => {
    const known = values.flatMap((value, index) => (value === null ? [] : [`pass^${index + 1} ${value.toFixed(2)}`]));
    return `${name}: ${known.join(', ') || 'no scored rollout'}`;
  });
  return { ks, curves, description: `pass^k of the runs. ${spoken.join('. ')}` };
}

/** The tools that the agents called: a row each, with calls, share and failures in each run. */
export function callRows({ runs }: RunsCompared): readonly MetricRow[] {
  const total = new Map<string, number>();
  for (const { metrics } of runs)
    for (const { tool, calls } of metrics.calls) total.set(tool, (total.get(tool) ?? 0) + calls);
  return [...total]
    .sort(([one, left], [other, right]) => right - left || one.localeCompare(other))
    .map(([tool]) => ({
      label: tool,
      meaning: `Calls of ${tool}: how many, their share of all calls of the run, and how many failed`,
      cells: runs.map(({ metrics }) => {
        const found = metrics.calls.find((each) => each.tool === tool);
        if (!found) return '–';
        return `${found.calls} · ${percent(found.share)}${found.errors > 0 ? ` · ${found.errors} failed` : ''}`;
      }),
    }));
}

/** The change of a task between two runs; the last three values say why it cannot be determined. */
export type TaskKind = Flip | 'changed' | 'onlyOne' | 'notScored';

/** Flips first: what passed and fails now, then the other way round. */
const kindOrder: readonly TaskKind[] = ['broke', 'fixed', 'worse', 'better', 'same', 'changed', 'notScored', 'onlyOne'];

/** Kinds in words, with a mark that does not need its colour. */
export const kindWords: Readonly<Record<TaskKind, readonly [mark: string, label: string]>> = {
  broke: ['✓→✕', 'passed → failed'],
  fixed: ['✕→✓', 'failed → passed'],
  worse: ['↓', 'worse'],
  better: ['↑', 'better'],
  same: ['=', 'same reward'],
  changed: ['≠', 'the task has changed'],
  notScored: ['?', 'not scored'],
  onlyOne: ['–', 'only in one run'],
};

/** A task in the runs that are compared. */
export type TaskRow = {
  readonly task: string;
  readonly kind: TaskKind;
  /** For each run: how many scored trials were right, of how many. */
  readonly cells: readonly string[];
  /**
   * A description of the first point at which the rollouts of the two runs diverge; empty if they don't, or a run has
   * none.
   */
  readonly parting: string;
};

/** The tasks, what changed first. `other` is the place (from 1) of the run that the first one is compared with. */
export function taskRows(comparison: RunsCompared, other: number): readonly TaskRow[] {
  const pair = comparison.pairs[other - 1];
  const compared = new Map(pair?.tasks.map((each) => [each.task, each]));
  const changed = new Set(pair?.changedTasks);
  const partings = new Map<string, string>();
  for (const { task, trial, steps, what } of pair?.partings ?? [])
    if (!partings.has(task))
      partings.set(task, `trial ${trial}, step ${steps.map((n) => n ?? 'end').join(' / ')}, ${what}`);
  const rows = comparison.tasks.map(({ task, trials }): TaskRow => {
    const [one, two] = [trials[0] ?? [], trials[other] ?? []];
    const kind = changed.has(task)
      ? 'changed'
      : (compared.get(task)?.flip ?? (one.length > 0 && two.length > 0 ? 'notScored' : 'onlyOne'));
    return { task, kind, cells: trials.map(trialsText), parting: partings.get(task) ?? '' };
  });
  return rows.sort(
    (a, b) =>
      kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind) || a.task.localeCompare(b.task, 'en', { numeric: true }),
  );
}

function trialsText(trials: readonly ComparedTrial[]): string {
  if (trials.length === 0) return '–';
  const scored = trials.flatMap(({ reward }) => reward ?? []);
  if (scored.length === 0) return 'not scored';
  const right = scored.filter((reward) => reward === 1).length;
  const partial = scored.some((reward) => reward !== 0 && reward !== 1);
  const mean = scored.reduce((all, reward) => all + reward, 0) / scored.length;
  return `${right} of ${scored.length}${partial ? ` (mean ${mean.toFixed(2)})` : ''}`;
}

export const taskFilters = [
  { value: 'all', label: 'All tasks' },
  { value: 'flips', label: 'Flips' },
  { value: 'differ', label: 'Reward differs' },
  { value: 'same', label: 'Same reward' },
  { value: 'left', label: 'Left out' },
] as const;
export type TaskFilter = (typeof taskFilters)[number]['value'];

const filterKinds: Readonly<Record<TaskFilter, readonly TaskKind[]>> = {
  all: kindOrder,
  flips: ['broke', 'fixed'],
  differ: ['broke', 'fixed', 'worse', 'better'],
  same: ['same'],
  left: ['changed', 'notScored', 'onlyOne'],
};

export const rowsPerPage = 50;

/** One page of the tasks of a kind; a page that does not exist becomes the nearest one. */
export function taskPage(
  rows: readonly TaskRow[],
  filter: TaskFilter,
  page: number,
): { readonly rows: readonly TaskRow[]; readonly page: number; readonly pages: number; readonly total: number } {
  const kept = rows.filter(({ kind }) => filterKinds[filter].includes(kind));
  const pages = Math.max(1, Math.ceil(kept.length / rowsPerPage));
  const shown = Math.min(Math.max(0, page), pages - 1);
  return { rows: kept.slice(shown * rowsPerPage, (shown + 1) * rowsPerPage), page: shown, pages, total: kept.length };
}

/** Returns the trials of a task that both runs have, those with different rewards first. */
export function trialPairs(
  comparison: RunsCompared,
  task: string,
  other: number,
): readonly { readonly trial: number; readonly label: string; readonly recordings: readonly [string, string] }[] {
  const found = comparison.tasks.find((each) => each.task === task);
  const ours = new Map(found?.trials[other]?.map((each) => [each.trial, each]));
  return (found?.trials[0] ?? [])
    .flatMap((one) => {
      const two = ours.get(one.trial);
      return two ? [{ one, two }] : [];
    })
    .sort(
      (a, b) =>
        Number(b.one.reward !== b.two.reward) - Number(a.one.reward !== a.two.reward) || a.one.trial - b.one.trial,
    )
    .map(({ one, two }) => ({
      trial: one.trial,
      label: `Trial ${one.trial}: ${rewardText(one.reward)} and ${rewardText(two.reward)}`,
      recordings: [one.recording, two.recording] as const,
    }));
}

/** The result of the comparison, in a sentence: the engine's own verdict. */
export function verdictText(comparison: RunsCompared, other: number): string {
  const pair = comparison.pairs[other - 1];
  if (!pair) return '';
  if (pair.verdict === 'nothing in common')
    return `${letterOf(0)} and ${letterOf(other)} have no scored task in common, so their difference is unknown.`;
  const { value, low, high } = pair.difference;
  const interval = pair.tasks.length > 1 ? ` (95 % ${signed(low)} to ${signed(high)})` : '';
  const tasks = counted(pair.tasks.length, 'task');
  return `${letterOf(other)} against ${letterOf(0)}: difference in mean reward ${signed(value)}${interval} over ${tasks}, better on ${pair.better}, worse on ${pair.worse}. p = ${pair.p.toFixed(4)}: ${pair.verdict}.`;
}
