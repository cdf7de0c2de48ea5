import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { withoutKeys } from '../../engine/shell/processes/childEnvironment.ts';
import { withoutInspector } from '../../engine/shell/processes/runtimeFlags.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import { endingOf, type Launch, type Prepared, type Target } from '../targets/target.ts';
import { targetSpecOf } from '../targets/targets.ts';
import type { ExitCode, Io } from '../terminal/io.ts';
import { outcome } from './trainingOutcome.ts';
import { laterProgress } from './trainingProgress.ts';

/**
 * Starts the trainer where it was prepared. Follows it to its end or, where it is detached, leaves that to its own
 * process. Ctrl+C ends the run with a checkpoint.
 */
export async function launchTrainer(
  io: Io,
  target: Target,
  launch: Launch,
  prepared: Prepared,
  json: boolean,
): Promise<ExitCode> {
  const { run } = launch;
  const working = launch.kind === 'evaluate' ? 'evaluating' : 'training';
  const progress = await laterProgress(run);
  const { pid } = await prepared.start();
  if (launch.isDetached) {
    await followDetached(run, io.environment);
    io.out(json ? `${JSON.stringify({ run, pid })}\n` : `${working} in ${run}\n`);
    return 0;
  }
  io.err(
    `${working} in ${run}; Ctrl+C ends it ${endingOf(target, launch.kind)}; its log is ${join(run, runFiles.log)}\n`,
  );
  const stop = () => void target.stop(run, io).catch((error: Error) => io.err(`${error.message}\n`));
  io.endLater?.();
  if (io.signal.aborted) stop();
  io.signal.addEventListener('abort', stop, { once: true });
  await progress.during(io, () => target.follow(run, { ...io, signal: new AbortController().signal }));
  io.out(outcome(run, json, io));
  return 0;
}

/** A run that is elsewhere is followed by a process that outlives this one; resolves once it does. */
export async function followDetached(run: string, environment: NodeJS.ProcessEnv): Promise<void> {
  if (targetSpecOf(run, environment).target === 'local') return;
  const args = [...withoutInspector(), process.argv[1] ?? '', 'train', 'follow', run];
  // A Ray cluster may ask for a token; what follows over SSH needs no key.
  const env = withoutKeys(['RAY_AUTH_TOKEN']);
  const follower = spawn(process.execPath, args, { detached: true, stdio: 'ignore', windowsHide: true, env });
  follower.unref();
  while (!trainerOf(run)?.isRunning && follower.exitCode === null) await new Promise((later) => setTimeout(later, 100));
}
