import { counted } from '../../engine/core/text/counted.ts';
import type { TrialNotRun } from '../../engine/shell/records/notRun.ts';
import type { RunRecord } from '../../engine/shell/records/runRecord.ts';

/** Returns why a trial has no result. */
export function notRunReason({ reason, isStarted }: TrialNotRun): string {
  return reason ?? (isStarted ? 'the rollout was started and not finished' : 'the run ended before this trial');
}

/**
 * Returns a line for each task or file that could not be run, with its reason, and one that counts the trials before
 * which the run ended. Rollouts that were started are counted elsewhere.
 */
export function notRunLines({ notRun }: Pick<RunRecord, 'notRun'>): readonly string[] {
  const left = notRun.filter(({ isStarted, reason }) => reason === null && !isStarted).length;
  const reasons = Map.groupBy(
    notRun.filter(({ reason }) => reason !== null),
    ({ task, trial, reason }) => JSON.stringify([trial === null ? null : task, reason]),
  );
  return [
    ...[...reasons.values()].flatMap(([first, ...more]) => {
      if (!first) return [];
      const trials = more.length > 0 ? ` (${counted(more.length + 1, 'trial')})` : '';
      return [`not run: ${first.trial === null ? '' : `${first.task}${trials}: `}${first.reason}`];
    }),
    ...(left > 0 ? [`${counted(left, 'trial')} ${left === 1 ? 'was' : 'were'} not run: the run ended first`] : []),
  ];
}

/** Returns the tasks that a run has no result of in any trial. */
export function tasksNotRun({ notRun, rollouts }: Pick<RunRecord, 'notRun' | 'rollouts'>): ReadonlySet<string> {
  const seen = new Set(rollouts.map(({ task }) => task));
  return new Set(notRun.flatMap(({ task }) => (seen.has(task) ? [] : [task])));
}

/** Returns how many tasks of a run failed, of all that it chose. */
export function failedTasksText(record: Pick<RunRecord, 'notRun' | 'rollouts'>, failed: number): string {
  const left = tasksNotRun(record).size;
  const all = new Set(record.rollouts.map(({ task }) => task)).size + left;
  return `${counted(failed, 'task')} of ${all} failed in at least one trial${left > 0 ? `, and ${left} ${left === 1 ? 'was' : 'were'} not run` : ''}.`;
}
