import { type Comparison, compareRuns, type Divergence, firstDivergence } from '../../engine/core/comparison.ts';
import { eventsOf, type FinishedRollout, type RunRecord } from '../../engine/shell/runRecord.ts';
import type { Command } from '../command.ts';
import { excerpt, headline, tableLines } from '../report/text.ts';
import { openRunRecord } from './report.ts';

/** Share of chance below which a difference is called more than noise. */
const significance = 0.05;

export const compare: Command = {
  name: 'compare',
  summary: 'compare two runs task by task, and say whether they differ by more than noise',
  help: `rehearsal compare RUN_A RUN_B [--json]

Aligns two runs by task, shows where rollouts of the same task and trial part, and tests whether the difference of
their rewards is more than noise: an exact paired permutation test over tasks, two-sided (with one trial a task it is
the exact McNemar test). Tasks that changed between the runs are left out.
`,
  options: {},
  run: async (given, io) => {
    const runs = [openRunRecord(io, given.positionals[0]), openRunRecord(io, given.positionals[1])] as const;
    const compared = comparisonOf(...runs);
    if (given.values['json'] === true) io.out(`${JSON.stringify(compared)}\n`);
    else io.out(comparisonText(runs, compared));
    return 0;
  },
};

type Parting = Divergence & {
  readonly task: string;
  readonly trial: number;
  readonly rewards: readonly [number | null, number | null];
};

type Compared = Comparison & {
  readonly verdict: 'more than noise' | 'no more than noise';
  /** How the runs differ besides what they did. */
  readonly settings: readonly string[];
  readonly changedTasks: readonly string[];
  readonly onlyInOne: readonly string[];
  readonly partings: readonly Parting[];
  /** Pairs of rollouts that are alike from the first word to the last. */
  readonly alike: number;
};

function comparisonOf(first: RunRecord, second: RunRecord): Compared {
  const hashes = new Map(first.rollouts.map(({ task, taskHash }) => [task, taskHash]));
  const changed = new Set(
    second.rollouts.filter(({ task, taskHash }) => (hashes.get(task) ?? taskHash) !== taskHash).map(({ task }) => task),
  );
  const isKept = ({ task }: FinishedRollout) => !changed.has(task);
  const [before, after] = [first.rollouts.filter(isKept), second.rollouts.filter(isKept)];
  const comparison = compareRuns(before, after);
  const pairs = pairsOf(before, after);
  const partings = pairs.flatMap(([one, other]): Parting[] => {
    const divergence = firstDivergence(eventsOf(one.recording), eventsOf(other.recording));
    const { task, trial } = one;
    return divergence ? [{ task, trial, rewards: [one.reward, other.reward], ...divergence }] : [];
  });
  return {
    ...comparison,
    verdict: comparison.p < significance ? 'more than noise' : 'no more than noise',
    settings: settingsThatDiffer(first, second),
    changedTasks: [...changed],
    onlyInOne: onlyInOne(before, after),
    partings,
    alike: pairs.length - partings.length,
  };
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

function onlyInOne(before: readonly FinishedRollout[], after: readonly FinishedRollout[]): readonly string[] {
  const [one, other] = [before, after].map((rollouts) => new Set(rollouts.map(({ task }) => task)));
  return [...(one ?? [])]
    .filter((task) => !other?.has(task))
    .concat([...(other ?? [])].filter((task) => !one?.has(task)));
}

function settingsThatDiffer({ file: one }: RunRecord, { file: other }: RunRecord): readonly string[] {
  return (['domain', 'basis', 'agent', 'user', 'judge', 'seed', 'policyHash'] as const).flatMap((name) =>
    one[name] === other[name] ? [] : [`${name}: ${one[name] ?? 'nobody'} and ${other[name] ?? 'nobody'}`],
  );
}

function comparisonText(runs: readonly [RunRecord, RunRecord], compared: Compared): string {
  const { tasks, difference, better, worse, p, verdict, partings } = compared;
  const rows = tasks
    .filter((task) => task.difference !== 0)
    .map(({ task, rewards, trials, difference: by }) => {
      const parting =
        partings.find((each) => each.task === task && each.rewards[0] !== each.rewards[1]) ??
        partings.find((each) => each.task === task);
      return [
        task,
        cell(rewards[0], trials[0]),
        cell(rewards[1], trials[1]),
        signed(by),
        parting ? partingText(parting) : '',
      ];
    });
  const lines = [
    `A  ${headline(runs[0])}`,
    `B  ${headline(runs[1])}`,
    ...compared.settings.map((setting) => `differs in ${setting}`),
    ...compared.changedTasks.map((task) => `left out: task ${task} has changed between the runs`),
    ...(compared.onlyInOne.length > 0 ? [`left out: ${compared.onlyInOne.length} tasks that only one run has`] : []),
    '',
    ...(rows.length > 0 ? [...tableLines({ columns: ['task', 'A', 'B', 'B - A', 'first divergence'], rows }), ''] : []),
    `${compared.alike} of ${compared.alike + partings.length} pairs of rollouts are alike from the first word to the last`,
    `${tasks.length} tasks: B is better on ${better}, worse on ${worse}; mean reward ${signed(difference)}`,
    `p = ${p.toFixed(4)} (exact paired permutation test over tasks, two-sided): ${verdict}`,
  ];
  return `${lines.join('\n')}\n`;
}

function partingText({ trial, steps, what, texts }: Parting): string {
  const at = steps.map((step) => step ?? 'end').join(' and ');
  return `trial ${trial}, step ${at}, ${what}: ${texts.map((text) => `"${excerpt(text, 50)}"`).join(' | ')}`;
}

const cell = (reward: number, trials: number) => `${reward.toFixed(2)} of ${trials}`;
const signed = (value: number) => `${value > 0 ? '+' : ''}${value.toFixed(3)}`;
