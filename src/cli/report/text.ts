import { missingRewards, type RunMetrics } from '../../engine/core/evaluation/metrics.ts';
import { basisText, maskingText, rewardText } from '../../engine/core/events/displayText.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { agentNames } from '../../engine/shell/records/runFile.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import { goldLines } from './goldLines.ts';
import { notRunLines } from './notRun.ts';
import {
  adaptedLines,
  brokenAnswerLines,
  failureText,
  importedSectionsOf,
  type Section,
  sectionsOf,
} from './sections.ts';

const shownFailures = 20;

/**
 * A run's report for a terminal: its tables, then the rollouts that failed.
 * @param domain that the run names; null where it is not there
 * @param base folder that paths are relative to
 */
export function reportText(record: RunRecord, metrics: RunMetrics, domain: LoadedDomain | null, base: string): string {
  const { unfinished, forks, problems, folder, file } = record;
  const lines = [
    ...(file.imported
      ? importedLines(metrics)
      : scoredLines(record, metrics, goldLines(record.rollouts, domain, base))),
    ...problems,
    ...(unfinished.length > 0 ? [`${counted(unfinished.length, 'rollout')} started and not finished`] : []),
    ...notRunLines(record),
    ...(forks.length > 0 ? [`${counted(forks.length, 'fork')} in the same folder, not counted`] : []),
    headline(record),
    file.imported ? withoutReward : passLine(metrics),
    `run ${folder}`,
  ];
  return `${lines.join('\n')}\n`;
}

function scoredLines({ rollouts }: RunRecord, metrics: RunMetrics, warnings: readonly string[]): readonly string[] {
  const failed = rollouts.filter(({ reward }) => reward !== 1);
  return [
    ...sectionsOf(metrics, rollouts)
      .filter(({ id }) => id !== 'tasks')
      .flatMap(sectionLines),
    ...failed.slice(0, shownFailures).map(failureLine),
    ...(failed.length > shownFailures ? [`... and ${failed.length - shownFailures} more`] : []),
    ...warnings,
    ...brokenAnswerLines(metrics),
    ...adaptedLines(metrics),
  ];
}

const importedLines = (metrics: RunMetrics): readonly string[] => importedSectionsOf(metrics).flatMap(sectionLines);

const sectionLines = (section: Section): readonly string[] => [section.title, ...tableLines(section), ''];

/** Why imported conversations are neither right nor wrong. */
export const withoutReward = 'imported conversations are not verified, so they have no reward';

/** Returns what a run was, in a line. */
export function headline({ file, rollouts }: RunRecord): string {
  if (file.imported)
    return `${file.domain}: ${counted(rollouts.length, 'imported conversation')}, ${maskingText(file.imported)}`;
  const regraded = file.regraded ? `, regraded from ${file.regraded.run}` : '';
  return `${file.domain}: ${agentNames(file)} against ${file.user}, seed ${file.seed}, ${basisText(file.basis)}, ${counted(rollouts.length, 'rollout')}${regraded}`;
}

function passLine({ scored, rollouts, planned, meanReward, passHat, scoredTasks }: RunMetrics): string {
  const isShown = (k: number) => Number.isInteger(Math.log2(k)) || k === passHat.length;
  const powers = passHat
    .filter(({ k }) => isShown(k))
    .map(({ k, value }) => `pass^${k} ${value.toFixed(3)}`)
    .join('  ');
  const unscored = scored < rollouts ? `, ${rollouts - scored} not scored` : '';
  const missingTrials = rollouts < planned ? `, ${planned - rollouts} not run` : '';
  const of = scored < planned ? ' of scored rollouts' : '';
  const missing = missingRewards(scoredTasks);
  const mean = meanReward === null ? 'no mean reward' : `mean reward${of} ${meanReward.toFixed(3)}`;
  const line = `${scored} scored of ${planned}${unscored}${missingTrials}, ${mean}  ${powers}`;
  return `${line.trimEnd()}${missing === null ? '' : `\n${missing}`}`;
}

function failureLine(rollout: FinishedRollout): string {
  return `${rollout.task}: ${rewardText(rollout.reward)}, ${failureText(rollout)}`;
}
