import { join } from 'node:path';
import { stringify } from 'yaml';
import { profileFor } from '../../engine/core/domain/trainingProfile.ts';
import type { Measured, Stage } from '../../engine/core/evaluation/experiment.ts';
import { makeFolder, replaceFile } from '../../engine/shell/files/disk.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { checkpointsOf, lastWordOf } from '../../engine/shell/records/trainingRun.ts';
import { evaluationFile, evaluationLines, partsPlayed } from '../../engine/shell/runs/evaluationRecord.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import { readOptions } from '../options/command.ts';
import { rememberInterpreters, throwUnlessInterpretersApproved } from '../python/namedInterpreters.ts';
import { rememberTarget, targetSpecOf, throwUnlessTargetApproved } from '../targets/targets.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { preflightTraining, runTraining } from '../training/runTraining.ts';
import { runOperation } from '../training/trainingOperations.ts';
import { trainingOptions } from '../training/trainingOptions.ts';
import { keepExperimentRecord, readExperimentRecord } from './experimentRecord.ts';

export type StageState = 'finished' | 'unfinished' | 'not begun';

/** The file of an experiment, and where its stages are trained; undefined: this machine, and its own Python. */
type Asked = { readonly file: string; readonly target?: string | undefined; readonly python?: string | undefined };

/**
 * The stages of an experiment, each a run of `rehearsal train`.
 * @param folder of the experiment, which gets their configurations
 * @param runs the folder of their runs
 * @param model what a stage begins with that has none before it
 * @param asked where they are trained; what an earlier call said counts where this one says nothing
 * @param placed puts before the trainer's words about a key of a stage where it was written
 */
export function stagesIn(
  folder: string,
  runs: string,
  model: string,
  asked: Asked,
  placed: (stage: Stage, words: string) => string,
) {
  const known = readExperimentRecord(folder);
  if (known && known.file !== asked.file)
    throw new UsageError(`${folder} is of the experiment ${known.file}; name another folder with --out`);
  const target = asked.target ?? known?.target ?? 'local';
  // Without its target a Python is one of this machine.
  const isNamed = asked.target !== undefined || target === 'local';
  const kept = known?.target === target ? known.python : undefined;
  if (!(isNamed && asked.python)) throwUnlessInterpretersApproved(folder, { python: kept }, process.env);
  if (asked.target === undefined) throwUnlessTargetApproved(folder, { target }, process.env);
  const spec = { target, python: (isNamed ? asked.python : undefined) ?? kept };
  const runOf = (name: string) => join(runs, name);
  const stateOf = ({ name }: Pick<Stage, 'name'>): StageState => {
    const { type } = lastWordOf(runOf(name));
    if (type === null) return 'not begun';
    return type === 'finished' ? 'finished' : 'unfinished';
  };

  /** Returns the options of `rehearsal train` for a stage; the stage's configuration is written beside the results. */
  const asTraining = ({ name, kind, keys: own }: Stage, begin: string) => {
    const { trials, ...others } = own;
    const isOption = kind === 'sft' && trials !== undefined;
    // A checkpoint does not say what it began as, and all stages need one profile.
    const profile = profileFor(model);
    const config = { kind, ...(profile ? { profile } : {}), ...(isOption ? others : own), model: begin };
    const file = join(folder, 'stages', `${name}.training.yaml`);
    makeFolder(join(folder, 'stages'));
    replaceFile(file, stringify(config));
    const values = { config: file, out: runOf(name), ...spec, ...(isOption ? { trials: String(trials) } : {}) };
    return readOptions(trainingOptions, values);
  };

  return {
    stateOf,

    /** Whether an earlier call has kept where the stages are trained. */
    isKnown: known !== undefined,

    /** Keeps where the stages are trained for the calls that continue. */
    keepTarget: (): void => {
      keepExperimentRecord(folder, { file: asked.file, ...spec });
      rememberInterpreters(folder, spec, process.env);
      rememberTarget(folder, { target }, process.env);
    },

    /** Finds what would make a stage fail; the checkpoint that it begins with may not be there yet. */
    preflight: (stage: Stage, io: Io): Promise<void> =>
      preflightTraining(asTraining(stage, model), [stage.kind], io, (words) => placed(stage, words)),

    /** Runs a stage, or continues with it: from its last checkpoint, and an evaluation from what it has played. */
    run: async (stage: Stage, io: Io): Promise<void> => {
      const run = runOf(stage.name);
      const silent: Io = { ...io, out: () => undefined };
      if (trainerOf(run)?.isRunning)
        throw new UsageError(`${run} is being trained by another process: wait for it, or stop it`);
      if (stateOf(stage) === 'unfinished') {
        await untilOver(run, silent);
        if (stateOf(stage) === 'unfinished' && !io.signal.aborted)
          await runOperation('resume', { python: spec.python }, run, silent);
      } else {
        const begin = stage.after === null ? model : await checkpointAfter(runOf(stage.after), silent);
        await runTraining(asTraining(stage, begin), [stage.kind], silent, (words) => placed(stage, words));
      }
    },

    /** Returns the rollouts of an evaluation at its temperature, or the greedy ones if it has no others. */
    rolloutsOf: (name: string): Measured['rollouts'] => {
      const [part] = partsPlayed(runOf(name));
      if (!part) throw broken(runOf(name), 'the evaluation has no rollouts');
      return evaluationLines(runOf(name), part).map((rollout, at) => {
        if (!rollout)
          throw broken(
            `${evaluationFile(runOf(name), part)}:${at + 1}`,
            'no rollout of an evaluation: the file was changed since',
          );
        const { task, reward, calls } = rollout;
        return { task, reward, route: JSON.stringify(Object.entries(calls).toSorted()) };
      });
    },
  };
}

/** A run elsewhere may continue with no one here to follow it. How it ended is what is known of it then. */
async function untilOver(run: string, io: Io): Promise<void> {
  if (targetSpecOf(run, io.environment).target === 'local') return;
  await runOperation('follow', {}, run, io).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.failure.who !== 'environment') throw error;
  });
}

/** Returns the checkpoint with which a stage ended; fetches it if it was trained elsewhere. */
async function checkpointAfter(run: string, io: Io): Promise<string> {
  if (targetSpecOf(run, io.environment).target !== 'local') await runOperation('fetch', {}, run, io);
  const last = checkpointsOf(run).at(-1);
  if (last === undefined) throw broken(run, 'the run has ended without a checkpoint');
  return join(run, runFiles.checkpoints, last);
}

function broken(run: string, what: string): Fault {
  return new Fault({ who: 'environment', code: 'training/failed', message: `${run}: ${what}` });
}
