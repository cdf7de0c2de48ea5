import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { counted } from '../../engine/core/text/counted.ts';
import type { Json } from '../../engine/core/values/json.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { lastWordOf } from '../../engine/shell/records/trainingRun.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import { ownEngine } from '../python/engineCommand.ts';
import { rememberInterpreters, throwUnlessInterpretersApproved } from '../python/namedInterpreters.ts';
import { interpreterOf } from '../python/pythonEnvironment.ts';
import { kindOf, readJson, requireOwnFiles } from '../targets/runFolder.ts';
import { endingOf, type Launch } from '../targets/target.ts';
import { type TargetSpec, targetAt, targetSpecOf } from '../targets/targets.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { followDetached, launchTrainer } from './trainerLaunch.ts';
import { settingsOf } from './trainingConfiguration.ts';
import { wholePaths } from './trainingFile.ts';
import type { operations, TrainingOptions } from './trainingOptions.ts';
import { outcome } from './trainingOutcome.ts';
import { progressOf } from './trainingProgress.ts';

/** Does something to a run where it was started; its folder here says where that is. */
export async function runOperation(
  operation: (typeof operations)[number],
  options: TrainingOptions,
  named: string | undefined,
  io: Io,
): Promise<ExitCode> {
  const run = runOf(operation, named, io);
  const spec = targetSpecOf(run, io.environment);
  const target = targetAt(spec);
  const json = options.json === true;
  const say = (words: string, data: object) => io.out(json ? `${JSON.stringify({ run, ...data })}\n` : `${words}\n`);
  switch (operation) {
    case 'stop':
      await target.stop(run, io);
      say(`${run} ends ${endingOf(target, kindOf(run))}`, {});
      return 0;
    case 'resume': {
      throwIfRunning(run);
      const resumed = resumedLaunch(run, spec, options, io);
      const finished = finishedText(resumed, settingsOf(options));
      if (finished !== null) {
        say(finished, {});
        return 0;
      }
      const inspected = await target.preflight(resumed, io);
      const { launch } = inspected;
      const prepared = await inspected.prepare();
      writeFileSync(join(run, runFiles.launch), `${JSON.stringify(launch.config, null, 2)}\n`);
      rememberInterpreters(run, launch.config, io.environment);
      return launchTrainer(io, target, launch, prepared, json);
    }
    case 'follow':
      if (options.detach) {
        await followDetached(run, io.environment);
        say(`${run} is followed`, {});
        return 0;
      }
      await progressOf(run).during(io, () => target.follow(run, io));
      if (io.signal.aborted) say(`${run} is still running. Rehearsal stopped following it`, {});
      else io.out(outcome(run, json, io));
      return 0;
    case 'fetch': {
      const folder = await target.fetch(run, options.checkpoint, io);
      say(folder, { checkpoint: folder });
      return 0;
    }
    default:
      throw operation satisfies never;
  }
}

function runOf(operation: string, name: string | undefined, io: Io): string {
  if (!name) throw new UsageError(`say which run: npx rehearsal train ${operation} RUN`);
  const places = [resolve(io.cwd, name), resolve(io.cwd, workFolders.training, name)];
  const run = places.find((folder) => existsSync(join(folder, runFiles.launch)));
  if (run) {
    requireOwnFiles(run);
    return run;
  }
  throw new UsageError(`${name} is not a run: name its folder, or its name in ${workFolders.training}`);
}

/** Throws a `UsageError` for a run that a process trains or follows now; a second one would write into its files. */
function throwIfRunning(run: string): void {
  const trainer = trainerOf(run);
  if (!trainer?.isRunning) return;
  const word = shellWord(run);
  throw new UsageError(
    `${run} is running (process ${trainer.pid}). To see its progress: npx rehearsal train follow ${word}. To end it: npx rehearsal train stop ${word}`,
  );
}

/**
 * Returns the text for a run that has done all of its optimizer steps, or null for one that has more to do. Trained
 * once more, it would replace its result. Throws a `UsageError` for a number of steps that it has already done.
 */
function finishedText({ run, kind }: Launch, { steps, epochs }: Readonly<Record<string, Json>>): string | null {
  const { type, step } = lastWordOf(run);
  if (type !== 'finished' || kind === 'evaluate') return null;
  const isDone = typeof steps === 'number' && step !== undefined && steps <= step;
  if (!isDone && (steps ?? epochs) !== undefined) return null;
  const done = step === undefined ? '' : ` after ${step} of ${counted(step, 'optimizer step')}`;
  const text = `${run} is finished${done}. To continue, add --set steps=N with a larger N`;
  if (isDone) throw new UsageError(text);
  return text;
}

/** A run continues with the configuration that it was started with, and with the keys of this environment. */
function resumedLaunch(
  run: string,
  spec: TargetSpec,
  options: TrainingOptions,
  { cwd, environment }: Pick<Io, 'cwd' | 'environment'>,
): Launch {
  const asked = readJson(join(run, runFiles.launch));
  // The engine that began the run may have been replaced since.
  const engine = { engine_command: ownEngine() };
  const kind = kindOf(run);
  const { python: typed } = options;
  const kept = (asked['python'] as Json | undefined) ?? spec.python;
  const python = interpreterOf(typed ?? kept, spec.target === 'local' ? cwd : undefined);
  const interpreters = { ...asked, python: typed === undefined ? python : undefined };
  throwUnlessInterpretersApproved(run, interpreters, environment);
  if (!kind) throw new UsageError(`${run} has not started: start it again`);
  return {
    kind,
    run,
    config: {
      ...asked,
      ...('engine_command' in asked ? engine : {}),
      ...wholePaths(kind, settingsOf(options), cwd),
      ...(python ? { python } : {}),
    },
    isResumed: true,
    isDetached: options.detach === true,
    python,
    disk: diskOf(options),
  };
}

/** Returns what `--disk` says, in bytes. */
export const diskOf = ({ disk }: TrainingOptions): number | undefined =>
  disk === undefined ? undefined : disk * 2 ** 30;
