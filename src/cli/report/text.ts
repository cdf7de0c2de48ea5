import { missingRewards, type RunMetrics } from '../../engine/core/evaluation/metrics.ts';
import { maskingText } from '../../engine/core/events/displayText.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import { adaptedLines, brokenAnswerLines, failureText, sectionsOf } from './sections.ts';

const shownFailures = 20;

/** A run's report for a terminal: its tables, then the rollouts that failed. */
export function reportText(record: RunRecord, metrics: RunMetrics): string {
  const { rollouts, unfinished, forks, problems, folder } = record;
  const failed = rollouts.filter(({ reward }) => reward !== 1);
  const lines = [
    ...sectionsOf(metrics, rollouts)
      .filter(({ id }) => id !== 'tasks')
      .flatMap((section) => [section.title, ...tableLines(section), '']),
    ...failed.slice(0, shownFailures).map(failureLine),
    ...(failed.length > shownFailures ? [`... and ${failed.length - shownFailures} more`] : []),
    ...brokenAnswerLines(metrics),
    ...adaptedLines(metrics),
    ...problems,
    ...(unfinished.length > 0 ? [`${unfinished.length} rollouts were begun and not finished`] : []),
    ...(forks.length > 0 ? [`${forks.length} forks lie beside them and do not count`] : []),
    headline(record),
    passLine(metrics),
    `run ${folder}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** What a run was, in a line. */
export function headline({ file, rollouts }: RunRecord): string {
  const regraded = file.regraded ? `, regraded from ${file.regraded.run}` : '';
  const imported = file.imported ? `, ${maskingText(file.imported)}` : '';
  return `${file.domain}: ${file.agent} against ${file.user}, seed ${file.seed}, scored for ${file.basis === 'train' ? 'training' : 'evaluation'}, ${rollouts.length} rollouts${regraded}${imported}`;
}

function passLine({ scored, rollouts, meanReward, passHat, scoredTasks }: RunMetrics): string {
  const isShown = (k: number) => Number.isInteger(Math.log2(k)) || k === passHat.length;
  const powers = passHat
    .filter(({ k }) => isShown(k))
    .map(({ k, value }) => `pass^${k} ${value.toFixed(3)}`)
    .join('  ');
  const rest = scored < rollouts ? `, ${rollouts - scored} not scored` : '';
  const missing = missingRewards(scoredTasks);
  const line = `${scored} scored of ${rollouts}${rest}, mean reward ${meanReward?.toFixed(3) ?? 'none'}  ${powers}`;
  return `${line.trimEnd()}${missing === null ? '' : `\n${missing}`}`;
}

function failureLine(rollout: FinishedRollout): string {
  return `${rollout.task}: reward ${rollout.reward ?? 'none'}, ${failureText(rollout)}`;
}

/** A text on one line, cut where it is longer than so many characters. */
export function excerpt(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
