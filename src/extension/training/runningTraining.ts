import type { Alarm } from '../../webview/messages/protocol.ts';
import type { RunningHandle } from '../commandLine/running.ts';
import { isRunning } from '../runs/runReader.ts';
import { isOver, watchRun } from './watchedRuns.ts';

/**
 * The interval at which the trainer's process is checked, in milliseconds: a trainer that is killed does not report it.
 */
const lookEveryMs = 2000;

/** Watches a run: receives its progress, each alarm raised from now on, and its end. */
export type TrainingWatch = Pick<RunningHandle, 'say' | 'end'> & { readonly onAlarm: (alarm: Alarm) => void };

/** Says how far a training run is, and ends when it is over. */
export function watchTraining(folder: string, handle: TrainingWatch): void {
  let told: number | null = null;
  const end = (): void => {
    clearInterval(timer);
    run.dispose();
    handle.end();
  };
  const look = (): void => {
    const { metrics } = run;
    const step = metrics.points().findLast(({ superseded }) => !superseded)?.step;
    const alarms = metrics.alarms();
    // What was raised before the run was watched is not news, and a resumed run may have dropped some.
    for (const alarm of alarms.slice(told ?? alarms.length)) handle.onAlarm(alarm);
    told = alarms.length;
    if (isOver(metrics.status())) end();
    else if (step !== undefined) handle.say(`optimizer step ${step}`);
  };
  const run = watchRun(folder, { onChange: look, onProblem: () => undefined });
  const timer = setInterval(() => !isRunning(folder) && end(), lookEveryMs);
}
