import { basename, dirname, join } from 'node:path';
import { missingRewards, scoredTasksOf } from '../../engine/core/evaluation/metrics.ts';
import { endReasonText, forkText, rewardText, signed } from '../../engine/core/events/displayText.ts';
import { counted, firstNames, trialsText } from '../../engine/core/text/counted.ts';
import { lineExcerpt } from '../../engine/core/text/excerpt.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import type { Estimate } from '../../engine/core/values/statistics.ts';
import { plannedTrials } from '../../engine/shell/records/runFile.ts';
import type { RunRecord } from '../../engine/shell/records/runRecord.ts';
import { headline } from '../report/text.ts';
import type { ComparedRecording, RecordingsCompared } from './recordings.ts';
import type { ComparedPair, Parting, UnscoredTask } from './runs.ts';

/** Whether lines fit into a terminal; into a file every line fits. */
const fits = (lines: readonly string[], columns = Number.POSITIVE_INFINITY) =>
  lines.every(({ length }) => length <= columns);

/** Rows of a conversation that are printed from where two recordings part. */
const shownRows = 8;
const shownDifferences = 20;

/**
 * Returns the comparison of two runs for a terminal: how they differ, the tasks whose reward differs, and what the test
 * shows.
 * @param columns the width of the terminal
 */
export function pairText(runs: readonly [RunRecord, RunRecord], compared: ComparedPair, columns?: number): string {
  const { tasks, difference, better, worse, p, verdict, partings, unscored } = compared;
  const leftOut = unscored.filter(({ isLeftOut }) => isLeftOut);
  const of =
    leftOut.length === 0
      ? ''
      : ` in ${tasks.length === 1 ? 'this task' : 'these tasks'}; ${counted(leftOut.length, 'task')} without a reward ${leftOut.length === 1 ? 'is' : 'are'} left out`;
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
    ...runs.flatMap(({ file, rollouts }, at) => {
      const missing = missingRewards(scoredTasksOf(rollouts, plannedTrials(file)));
      return missing === null ? [] : [`${at === 0 ? 'A' : 'B'}: ${missing}`];
    }),
    ...compared.settings.map((setting) => `differs in ${setting}`),
    ...compared.changedTasks.map((task) => `left out: task ${task} has changed between the runs`),
    ...(compared.onlyInOne.length > 0
      ? [
          `left out: ${counted(compared.onlyInOne.length, 'task')} that only one run has: ${firstNames(compared.onlyInOne)}`,
        ]
      : []),
    ...unscored.flatMap(unscoredLines),
    '',
    ...(rows.length > 0 ? [...taskLines(rows, columns), ''] : []),
    `${compared.alike} of ${compared.alike + partings.length} pairs of rollouts (same task and trial) are identical${differingText(partings)}`,
    `${counted(tasks.length, 'task')}${leftOut.length === 0 ? '' : ' with a reward in both runs'}: B is better on ${better}, worse on ${worse}; difference in mean reward ${estimateText(difference, tasks.length)}`,
    verdict === 'nothing in common'
      ? 'no task was finished in both runs, so their difference is unknown'
      : `p = ${p.toFixed(4)} (exact paired permutation test over tasks, two-sided): ${verdict}${of}`,
    ...compared.advice,
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns a line for each run in which trials of a task have no reward, with the reasons. */
function unscoredLines({ task, trials, isLeftOut }: UnscoredTask): readonly string[] {
  return trials.flatMap(({ unscored, of, reasons }, at) => {
    if (unscored === 0) return [];
    const label = isLeftOut && unscored === of ? 'left out' : 'not scored';
    const missing = unscored === of ? 'has no reward' : `has no reward in ${unscored} of ${counted(of, 'trial')}`;
    return [`${label}: task ${task} ${missing} in ${at === 0 ? 'A' : 'B'}: ${reasons.join('; ')}`];
  });
}

/** Tasks whose differing pairs are listed; the JSON has all. */
const shownTasks = 20;

/** Returns the pairs of rollouts that differ, by task, as the end of a sentence. */
function differingText(partings: readonly Parting[]): string {
  if (partings.length === 0) return '';
  const byTask = [...Map.groupBy(partings, ({ task }) => task)];
  const shown = byTask
    .slice(0, shownTasks)
    .map(([task, own]) => `${task} (${trialsText(own.map(({ trial }) => trial))})`);
  const more = byTask.length - shown.length;
  return `; these differ: ${shown.join(', ')}${more > 0 ? ` and ${counted(more, 'more task')}` : ''}`;
}

/** Returns the tasks of a comparison, with each divergence in a line below them where the table is too wide. */
function taskLines(rows: readonly (readonly string[])[], width: number | undefined): readonly string[] {
  const columns = ['task', 'A', 'B', 'B - A', 'first divergence'];
  const table = tableLines({ columns, rows });
  if (fits(table, width)) return table;
  const narrow = tableLines({ columns: columns.slice(0, -1), rows: rows.map((row) => row.slice(0, -1)) });
  return [...narrow, ...rows.flatMap(([task, , , , parting]) => (parting ? [`  ${task}: ${parting}`] : []))];
}

function partingText({ trial, steps, what, texts }: Parting): string {
  const [one, other] = texts.map((text) => `"${lineExcerpt(text, 50)}"`);
  return `trial ${trial}, ${placesOf(steps)}, ${what}: ${one} in A, ${other} in B`;
}

/** A mean with its 95 % interval; of one task there is none. */
export function estimateText({ value, low, high }: Estimate, tasks: number): string {
  return tasks < 2 ? signed(value) : `${signed(value)} (95 % ${signed(low)} to ${signed(high)})`;
}

const cell = (reward: number, trials: number) => `${reward.toFixed(2)} (${counted(trials, 'trial')})`;

/**
 * Two recordings for a terminal: where they part, what each did then, how they ended.
 * @param columns the width of the terminal
 */
export function recordingsText(compared: RecordingsCompared, columns?: number): string {
  const { recordings, settings, fork, divergence, rows, database } = compared;
  const [first, second] = recordings;
  const from = rows.findIndex(({ isAlike }) => !isAlike);
  const shown = from < 0 ? [] : rows.slice(from, from + shownRows);
  const more = from < 0 ? 0 : rows.length - from - shown.length;
  const lines = [
    ...recordingLines(recordings, columns),
    ...[first, second].flatMap(({ problems }) => problems),
    ...settings.map((setting) => `differs in ${setting}`),
    ...(fork ? [forkText(fork, [basename(first.path), basename(second.path)], ['A', 'B'])] : []),
    divergence ? `they diverge at ${placesOf(divergence.steps)}` : alikeText,
    ...(shown.length > 0
      ? [
          '',
          'from there (= the same in both, | different)',
          ...alignedLines(shown, columns),
          ...(more > 0 ? [`  ... and ${counted(more, 'row')} more`] : []),
        ]
      : []),
    '',
    ...endText(database, columns),
    ...[first, second].flatMap((each, at) => verdictLines(at === 0 ? 'A' : 'B', each)),
  ];
  return `${lines.join('\n')}\n`;
}

type AlignedSide = NonNullable<RecordingsCompared['rows'][number]['first']>;

const longestSaid = 60;

const said = (side: AlignedSide, longest: number) => lineExcerpt(`${side.what}: ${side.text}`, longest);

/** Returns the rows of two recordings side by side, or with B below A where the terminal is too narrow. */
function alignedLines(rows: RecordingsCompared['rows'], width: number | undefined): readonly string[] {
  const cells = (side: AlignedSide | null) => (side ? [String(side.n), said(side, longestSaid)] : ['', '']);
  const table = tableLines({
    columns: ['', 'step', 'A', 'step', 'B'],
    rows: rows.map(({ isAlike, first, second }) => [isAlike ? '=' : '|', ...cells(first), ...cells(second)]),
  });
  if (fits(table, width)) return table;
  // The other columns and the spaces between them.
  const longest = Math.max(20, (width ?? 0) - 20);
  return tableLines({
    columns: ['', 'step', 'event'],
    rows: rows.flatMap(({ isAlike, first, second }) => {
      if (isAlike && first && second) {
        const steps = first.n === second.n ? String(first.n) : `${first.n}, ${second.n}`;
        return [['= A, B', steps, said(first, longest)]];
      }
      return [first, second].flatMap((side, at) =>
        side ? [[`| ${at === 0 ? 'A' : 'B'}`, String(side.n), said(side, longest)]] : [],
      );
    }),
  });
}

const alikeText = 'they are identical';

/** Returns what the recordings are, side by side, or one below the other where the terminal is too narrow. */
function recordingLines(recordings: RecordingsCompared['recordings'], width: number | undefined): readonly string[] {
  const isNamedAlike = new Set(recordings.map(({ path }) => basename(path))).size === 1;
  const facts = recordings.map(({ path, started, measure, events }) => ({
    recording: isNamedAlike ? join(basename(dirname(path)), basename(path)) : basename(path),
    domain: started.domain,
    task: started.task,
    trial: String(started.trial),
    agent: started.agent,
    user: started.user,
    events: String(events),
    reward: measure.reward === null ? 'none' : String(measure.reward),
  }));
  const [one, other] = facts.map((each) => Object.entries(each));
  const rows = (one ?? []).map(([name, value], at) => [name, value, other?.[at]?.[1] ?? '']);
  const table = tableLines({ columns: ['', 'A', 'B'], rows });
  if (fits(table, width)) return table;
  return facts.flatMap((each, at) => tableLines({ columns: ['', at === 0 ? 'A' : 'B'], rows: Object.entries(each) }));
}

function endText(
  { differences, more, problem }: RecordingsCompared['database'],
  columns: number | undefined,
): readonly string[] {
  if (problem !== null) return [problem];
  if (differences.length === 0) return ['both ended with the same database'];
  const shown = differences.slice(0, shownDifferences);
  const left = differences.length - shown.length + more;
  const rows = shown.map(({ place, first, second }) => [
    place,
    lineExcerpt(first ?? '-', 40),
    lineExcerpt(second ?? '-', 40),
  ]);
  const table = tableLines({ columns: ['place', 'A', 'B'], rows });
  return [
    'the databases at the end',
    ...(fits(table, columns)
      ? table
      : rows.flatMap(([place, one, two]) => [`  ${place}`, `    A ${one}`, `    B ${two}`])),
    ...(left > 0 ? [`  ... and ${counted(left, 'place')} more`] : []),
  ];
}

function verdictLines(
  name: string,
  { isRunning, measure, verdicts, stoppedCalls }: ComparedRecording,
): readonly string[] {
  const end = isRunning ? 'the rollout is still running' : endReasonText(measure.endReason);
  const open = verdicts.filter(({ verdict }) => verdict !== 'held');
  return [
    `${name}  ${rewardText(measure.reward)}: ${measure.failure?.message || measure.reason || end}`,
    ...stoppedCalls.map((tool) => `   ${tool} ${isRunning ? 'has not run yet' : 'was stopped before it ran'}`),
    ...open.map(({ name: verifier, verdict, detail, step }) => `   ${verdict} ${verifier} (step ${step}): ${detail}`),
  ];
}

/** Returns the steps at which two recordings diverge, or the one that they have in common. */
function placesOf(steps: readonly (number | null)[]): string {
  const names = steps.map((step) => (step === null ? 'the end' : `step ${step}`));
  const [first, second] = names;
  return first === second ? `${first}` : `${first} of A and ${second} of B`;
}
