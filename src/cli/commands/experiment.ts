import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import * as z from 'zod';
import { type Measured, planOf, resultOf, type Stage } from '../../engine/core/experiment.ts';
import { makeRunFolder, replaceFile } from '../../engine/shell/disk.ts';
import { Fault } from '../../engine/shell/fault.ts';
import { runName } from '../../engine/shell/runName.ts';
import { trainerOf } from '../../engine/shell/trainerProcess.ts';
import { type Command, type Given, text } from '../command.ts';
import { readExperiment } from '../experiment/experimentFile.ts';
import { resultText } from '../experiment/resultText.ts';
import { type Io, UsageError } from '../io.ts';
import { checkpointsOf, lastWordOf } from '../targets/runFolder.ts';
import { placeOf } from '../targets/targets.ts';
import { preflight, train } from './train.ts';

export const experiment: Command = {
  name: 'experiment',
  takes: 1,
  summary: 'train and evaluate several arms over seeds, and say which is better with intervals',
  help: `rehearsal experiment FILE --out FOLDER [options]

Runs every arm of an experiment (*.experiment.yaml) once for each of its seeds: SFT, GRPO, both or neither, and then an
evaluation on the test tasks. A stage that arms have in common is run once. Prints success with intervals, and for
each pair under compare: how far the second is above the first, paired by task.

The same command goes on where it was ended: what is finished stays, what is not goes on from its last checkpoint.
FOLDER has a run for each stage (rehearsal train, so each opens in the dashboard and the debugger), result.json and
result.txt.

  --out FOLDER       where it lies (default: .rehearsal/experiments/<id> here)
  --plan             say which stages there are and how far each has come; nothing starts
  --target TARGET    where to train, as in rehearsal train
  --python PATH      the Python of the target that makes the trainer's environment
  --json             machine-readable output
`,
  options: {
    out: { type: 'string' },
    plan: { type: 'boolean' },
    target: { type: 'string' },
    python: { type: 'string' },
  },
  run: async (given, io) => {
    const [file] = given.positionals;
    if (file === undefined) throw new UsageError('say which experiment: rehearsal experiment FILE --out FOLDER');
    const asked = readExperiment(file, io.cwd);
    const plan = planOf(asked);
    const named = text(given, 'out');
    const out =
      named === undefined ? join(io.cwd, '.rehearsal', 'experiments', runName('experiment')) : resolve(io.cwd, named);
    const runOf = (stage: string) => join(out, 'runs', stage);
    if (given.values['plan'] === true) {
      const stages = plan.stages.map((stage) => ({ ...stage, state: stateOf(runOf(stage.name)) }));
      io.out(given.values['json'] === true ? `${JSON.stringify(stages)}\n` : planText(stages));
      return 0;
    }
    makeRunFolder(out);
    const left = plan.stages.filter((stage) => stateOf(runOf(stage.name)) === 'not begun');
    // The seeds differ in nothing that could be wrong. What a stage begins with may not be there yet.
    for (const stage of left.filter(({ seed }) => seed === asked.seeds[0]))
      await preflight(asTraining(given, out, stage, asked.model), io);
    for (const [at, stage] of plan.stages.entries()) {
      if (stateOf(runOf(stage.name)) === 'finished') continue;
      io.err(`${at + 1} of ${plan.stages.length}: ${stage.name}\n`);
      await runStage(given, io, out, stage, asked.model);
      if (io.signal.aborted || stateOf(runOf(stage.name)) !== 'finished') {
        io.err(`ended; go on with: rehearsal experiment ${file} --out ${out}\n`);
        return 1;
      }
    }
    const measured = plan.measured.map(
      ({ arm, seed, stage }): Measured => ({ arm, seed, rollouts: rolloutsOf(runOf(stage)) }),
    );
    const result = resultOf(asked, measured);
    replaceFile(join(out, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
    replaceFile(join(out, 'result.txt'), resultText(result));
    io.out(given.values['json'] === true ? `${JSON.stringify(result)}\n` : resultText(result));
    return 0;
  },
};

type State = 'finished' | 'unfinished' | 'not begun';

function stateOf(run: string): State {
  const { type } = lastWordOf(run);
  if (type === null) return 'not begun';
  return type === 'finished' ? 'finished' : 'unfinished';
}

function planText(stages: readonly (Stage & { readonly state: State })[]): string {
  return stages.map(({ name, after, state }) => `${name}${after ? ` after ${after}` : ''}: ${state}\n`).join('');
}

/** Runs a stage by `rehearsal train`, from its configuration in the experiment's folder; or goes on with it. */
async function runStage(given: Given, io: Io, out: string, stage: Stage, model: string): Promise<void> {
  const run = join(out, 'runs', stage.name);
  const silent: Io = { ...io, out: () => undefined };
  if (trainerOf(run)?.isRunning)
    throw new UsageError(`${run} is being trained by another process: wait for it, or stop it`);
  // An evaluation has no checkpoints to go on from.
  const isResumed = stage.kind !== 'evaluate' && stateOf(run) === 'unfinished';
  const begin = stage.after === null ? model : await checkpointAfter(join(out, 'runs', stage.after), silent);
  const asked = isResumed
    ? { positionals: ['resume', run], values: { python: text(given, 'python') } }
    : asTraining(given, out, stage, begin);
  await train.run(asked, silent);
}

/** What a person would ask `rehearsal train` for; the stage's configuration is written beside the runs. */
function asTraining(given: Given, out: string, { name, kind, keys: own }: Stage, model: string): Given {
  const { trials, ...keys } = own;
  const isOption = kind === 'sft' && trials !== undefined;
  const config = { kind, ...keys, ...(isOption || trials === undefined ? {} : { trials }), model };
  const file = join(out, 'stages', `${name}.training.yaml`);
  mkdirSync(join(out, 'stages'), { recursive: true });
  replaceFile(file, stringify(config));
  const values = {
    config: file,
    out: join(out, 'runs', name),
    python: text(given, 'python'),
    target: text(given, 'target'),
    ...(isOption ? { trials: String(trials) } : {}),
  };
  return { positionals: [kind], values };
}

/** The checkpoint that a stage ended with; brought here where it was trained elsewhere. */
async function checkpointAfter(run: string, io: Io): Promise<string> {
  if (placeOf(run).target !== 'local') await train.run({ positionals: ['fetch', run], values: {} }, io);
  const last = checkpointsOf(run).at(-1);
  if (last !== undefined) return join(run, 'checkpoints', last);
  throw new Fault({
    who: 'environment',
    code: 'training/failed',
    message: `${run} has ended without a checkpoint`,
    file: run,
  });
}

const lineSchema = z.object({
  task: z.string(),
  reward: z.number().nullable(),
  calls: z.record(z.string(), z.number()).default({}),
});

/** The rollouts of an evaluation at its temperature; the greedy ones where it has no others. */
function rolloutsOf(run: string): Measured['rollouts'] {
  const files = ['sampled', 'greedy'].map((part) => join(run, 'trajectories', part, 'rollouts.jsonl'));
  const file = files.find((each) => existsSync(each));
  if (!file)
    throw new Fault({ who: 'environment', code: 'training/failed', message: `${run} has no rollouts`, file: run });
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const { task, reward, calls } = lineSchema.parse(JSON.parse(line));
    return { task, reward, route: JSON.stringify(Object.entries(calls).toSorted()) };
  });
}
