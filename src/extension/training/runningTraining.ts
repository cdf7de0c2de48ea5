import type { RunningHandle } from '../running.ts';
import { followRun, isOver } from './followedRuns.ts';
import { isRunning } from './trainingRuns.ts';

/** A trainer that is killed says nothing, so that its process is looked at now and then. */
const lookEveryMs = 2000;

/** Says how far a training run is, and ends when it is over. */
export function watchTraining(folder: string, handle: Pick<RunningHandle, 'say' | 'end'>): void {
  const end = (): void => {
    clearInterval(timer);
    run.dispose();
    handle.end();
  };
  const look = (): void => {
    const { metrics } = run;
    const step = metrics.points().at(-1)?.step;
    if (isOver(metrics.status())) end();
    else if (step !== undefined) handle.say(`optimizer step ${step}`);
  };
  const run = followRun(folder, { onChange: look, onProblem: () => undefined });
  const timer = setInterval(() => !isRunning(folder) && end(), lookEveryMs);
}
