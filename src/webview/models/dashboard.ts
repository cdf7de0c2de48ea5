import type { Alarm, PlayedStep, Rollout, Run, RunStatus, ToWebview } from '../messages/protocol.ts';
import type { DrawnRun } from './charts.ts';
import { type Series, withPoints } from './series.ts';

/** The rollouts of one optimizer step, as far as they have arrived. */
export type OpenedStep = PlayedStep & {
  readonly rollouts: readonly Rollout[] | null;
  readonly problem: string | null;
};

/** Everything that the training dashboard knows. `loaded` is false until the first snapshot. */
export type Dashboard = {
  readonly loaded: boolean;
  readonly runs: readonly Run[];
  readonly run: Run | null;
  readonly series: Series;
  readonly status: RunStatus;
  /** A description of the run's training and evaluation data. */
  readonly data: string | null;
  readonly problems: readonly string[];
  readonly alarms: readonly Alarm[];
  /** Runs that are drawn over the one that is shown. */
  readonly overlays: readonly DrawnRun[];
  readonly opened: OpenedStep | null;
};

export const emptyDashboard: Dashboard = {
  loaded: false,
  runs: [],
  run: null,
  series: [],
  status: { type: 'waiting' },
  data: null,
  problems: [],
  alarms: [],
  overlays: [],
  opened: null,
};

/** The dashboard after a message of the extension. Messages about a run that is not shown change nothing. */
export function received(dashboard: Dashboard, message: ToWebview): Dashboard {
  switch (message.type) {
    case 'snapshot': {
      const { runs, points, status, data, problems, alarms } = message;
      const run = runs.find(({ id }) => id === message.run) ?? null;
      const opened = run?.id === dashboard.run?.id ? dashboard.opened : null;
      const overlays = dashboard.overlays.filter((each) => each.run !== run?.id);
      const series = withPoints([], points);
      return { loaded: true, runs, run, series, status, data, problems, alarms, overlays, opened };
    }
    case 'appended':
      return message.run === dashboard.run?.id
        ? { ...dashboard, series: withPoints(dashboard.series, message.points) }
        : dashboard;
    case 'restarted':
      return message.run === dashboard.run?.id ? { ...dashboard, series: withPoints([], message.points) } : dashboard;
    case 'status':
      return message.run === dashboard.run?.id
        ? { ...dashboard, status: message.status, data: message.data, problems: message.problems }
        : dashboard;
    case 'alarms':
      return message.run === dashboard.run?.id ? { ...dashboard, alarms: message.alarms } : dashboard;
    case 'overlaid': {
      const others = message.runs.filter(({ run }) => run !== dashboard.run?.id);
      const overlays = others.map(({ run, points }) => ({ run, series: withPoints([], points) }));
      const drawn = [dashboard.run?.id, ...overlays.map(({ run }) => run)];
      return { ...dashboard, overlays, opened: drawn.includes(dashboard.opened?.run) ? dashboard.opened : null };
    }
    case 'runs': {
      const run = message.runs.find(({ id }) => id === dashboard.run?.id) ?? dashboard.run;
      return { ...dashboard, runs: message.runs, run };
    }
    case 'rollouts': {
      const { type, ...opened } = message;
      return isSameStep(opened, dashboard.opened) ? { ...dashboard, opened } : dashboard;
    }
    case 'recordingOpened':
    case 'recordingGrew':
    case 'recordingRead':
    case 'comparing':
    case 'runsCompared':
    case 'recordingsCompared':
    case 'comparisonFailed':
    case 'recordingNoted':
    case 'trainingText':
    case 'editor':
      return dashboard;
    default:
      return message satisfies never;
  }
}

/** Returns the dashboard with a step opened, whose rollouts have been requested. */
export function withStepOpened(dashboard: Dashboard, played: PlayedStep): Dashboard {
  if (isSameStep(played, dashboard.opened) && dashboard.opened?.problem === null) return dashboard;
  return { ...dashboard, opened: { ...played, rollouts: null, problem: null } };
}

function isSameStep(one: PlayedStep, other: PlayedStep | null): boolean {
  return one.run === other?.run && one.step === other.step && one.purpose === other.purpose;
}

/** Returns a title for what is opened. */
export function openedTitle({ run, series, overlays, opened }: Dashboard): string {
  if (opened === null) return 'Rollouts';
  const { step, purpose } = opened;
  const evaluation = step === 0 ? 'Evaluation before training' : `Evaluation after optimizer step ${step}`;
  const played = purpose === 'evaluation' ? evaluation : `Rollouts of optimizer step ${step}`;
  const other = overlays.find((each) => each.run === opened.run);
  const point = (other?.series ?? series).find((each) => each.step === step);
  return `${played}${opened.run === run?.id ? '' : `, ${opened.run}`}${point?.superseded ? ', superseded' : ''}`;
}
