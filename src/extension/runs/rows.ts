import { passHatTasks } from '../../engine/core/evaluation/metrics.ts';
import { basisText, endReasonText, rewardText } from '../../engine/core/events/displayText.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { forkLabel, isForkName } from '../../engine/shell/records/recordingName.ts';
import { agentNames } from '../../engine/shell/records/runFile.ts';
import type { RolloutEnd, RunRollout, RunSummary, RunTask } from './runFolder.ts';

/** A row of the Runs view, without VS Code's own types. */
export type Row = {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** Id of a product icon, and the colour of the theme that it has. */
  readonly icon: string;
  readonly color: string | null;
};

const passed = { icon: 'pass', color: 'testing.iconPassed' } as const;
const failed = { icon: 'error', color: 'testing.iconFailed' } as const;
const broken = { icon: 'warning', color: 'problemsWarningIcon.foreground' } as const;
const open = { icon: 'circle-outline', color: null } as const;

/**
 * The row of a run: what is finished and its rewards first, because a narrow view cuts the rest, and the time last.
 * @param place the folder of its domain, where another domain has the same name
 */
export function runRow(run: RunSummary, timeText: (time: Date) => string, place = ''): Row {
  const { id, folder, file, problem, finished, scored, bestFork, time } = run;
  if (file === null || problem !== null)
    return { label: id, description: 'can’t be read', tooltip: problem ?? folder, ...broken };
  const planned = file.planned?.length ?? finished;
  const facts = [
    rewardOf(run),
    finished > 0 && finished < planned ? `${finished} of ${planned} finished` : '',
    scored > 0 && scored < finished ? `${finished - scored} not scored` : '',
    forkText(bestFork),
    place,
    agentNames(file),
    passHatOf(run, file.tasks.length),
    time ? timeText(time) : '',
  ];
  return {
    label: aboutOf(id, file.domain),
    description: facts.filter(Boolean).join(' · '),
    tooltip: [
      `${file.domain}: ${agentNames(file)} against ${file.user}`,
      `${counted(finished, 'finished rollout')} of ${counted(file.tasks.length, 'task')} with ${counted(file.trials, 'trial')} each`,
      `seed ${file.seed}, ${basisText(file.basis)}`,
      ...(file.regraded ? [`regraded from ${file.regraded.run}`] : []),
      folder,
    ].join('\n'),
    icon: 'history',
    color: null,
  };
}

/** Returns the time of a run in short: only the time if it was today, else the date and the time. */
export function shortTime(time: Date, now = new Date()): string {
  const clock = time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  if (time.toDateString() === now.toDateString()) return clock;
  return `${time.toLocaleDateString([], { month: 'short', day: 'numeric' })}, ${clock}`;
}

/** pass^k, with the number of tasks that have k scored trials where others have fewer. */
function passHatOf({ passHat }: RunSummary, tasks: number): string {
  if (passHat === null || passHat.k === 1) return '';
  return `pass^${passHat.k} ${passHat.value.toFixed(2)}${passHatTasks(passHat, tasks)}`;
}

function rewardOf({ meanReward, finished, bestFork }: RunSummary): string {
  if (meanReward !== null) return rewardText(meanReward);
  if (finished > 0) return 'no reward';
  return bestFork === null ? 'unfinished' : '';
}

const forkText = (best: number | null) => (best === null ? '' : `best fork: ${rewardText(best)}`);

/** A run's name without its time, which is behind it. */
function aboutOf(id: string, domain: string): string {
  return id.replace(/^\d{8}-\d{6}-/, '') || domain;
}

/** The row of a task: how many of its trials were right. */
export function taskRow({ task, successes, trials, finished, unfinished, forks, bestFork }: RunTask): Row {
  const facts = [
    trials === 0 ? (finished === 0 ? '' : 'not scored') : `${successes} of ${trials} right`,
    forkText(bestFork),
    finished > trials && trials > 0 ? `${finished - trials} not scored` : '',
    unfinished === 0 ? '' : `${unfinished} unfinished`,
    forks === 0 ? '' : counted(forks, 'fork'),
  ];
  const look = trials === 0 ? open : successes === trials ? passed : failed;
  return { label: task, description: facts.filter(Boolean).join(' · '), tooltip: task, ...look };
}

/**
 * The row of a rollout: its reward and, where that is not 1, who failed and why.
 * @param parent the recording that a fork comes from
 */
export function rolloutRow(
  { type, reward, endReason }: RunRollout,
  name: string,
  end: RolloutEnd | null,
  parent: string | null = null,
): Row {
  const label = forkLabel(name);
  const of = parent !== null && isForkName(parent) ? `of ${forkLabel(parent)}` : '';
  const icon = type === 'fork' ? { icon: 'repo-forked' } : {};
  if (type !== 'finished' && end === null && endReason === null)
    return {
      label,
      description: ['unfinished', of].filter(Boolean).join(' · '),
      tooltip: `${name} has no receipt: it was not finished`,
      ...open,
      ...icon,
    };
  const value = reward ?? end?.reward ?? null;
  const why = endReasonText(end?.reason ?? endReason ?? '');
  const facts = [
    type === 'unfinished' ? 'unfinished' : '',
    rewardText(value),
    of,
    value === 1 || !end?.failedBy ? '' : `${end.failedBy} failed`,
    value === 1 ? '' : why,
  ];
  const look = value === null ? open : value === 1 ? passed : failed;
  return {
    label,
    description: facts.filter(Boolean).join(' · '),
    tooltip: `${name}\n${why}`.trim(),
    ...look,
    ...icon,
  };
}

/** The rows of one page, and how many are left. */
export function pageOf<T>(all: readonly T[], shown: number): { readonly rows: readonly T[]; readonly left: number } {
  return { rows: all.slice(0, shown), left: Math.max(0, all.length - shown) };
}
