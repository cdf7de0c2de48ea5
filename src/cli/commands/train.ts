import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { nearest, suggestion } from '../../engine/shell/source/nearest.ts';
import { explain, trainingKeys } from '../../training/trainingKeys.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { runTraining } from '../training/runTraining.ts';
import { runOperation } from '../training/trainingOperations.ts';
import { operations, type TrainingOptions, trainingOptions } from '../training/trainingOptions.ts';

export const train: Command = defineCommand({
  name: 'train',
  summary: 'train a model on rollouts of a domain: SFT, then GRPO',
  usage: 'sft|grpo|evaluate DOMAIN... [options]\nstop|resume|follow|fetch RUN [options]',
  actions: [...trainingKinds, ...operations],
  about: `
Trains on this machine, or on a target. \`npx rehearsal help docs/training-targets\` lists the requirements of each
target. SFT learns from successful recordings; without --recordings the gold seat plays the training tasks first. GRPO
plays groups of rollouts with the model and learns from their rewards. Evaluate measures a checkpoint on the test tasks,
at temperature 1 and greedy, and writes result.json. GRPO can learn from several domains at once, and is evaluated on
their test tasks while it trains.

RUN is a run's folder, or its name in .rehearsal/training. Stop ends it after its current optimizer step, with a
checkpoint. Resume continues from the last checkpoint, on the target where the run started; --set changes
hyper-parameters. Follow copies the output of a remote run into its folder here until the run ends. Fetch copies a
checkpoint here.
`,
  options: trainingOptions,
  after: `
Exit code 0: done, or stopped with a checkpoint. 2: the run could not start, or it failed.
`,
  run: async (options, positionals, io) => {
    const [first = '', run] = positionals;
    const operation = operations.find((each) => each === first);
    if (operation) return runOperation(operation, options, run, io);
    const meant = nearest(first, [...trainingKinds, ...operations]);
    if (meant !== undefined && meant !== first && !existsSync(resolve(io.cwd, first)))
      throw new UsageError(`"${first}" is not an operation of train. Did you mean "${meant}"?`);
    if (options.explain) return explainKeys(options, positionals, io);
    return runTraining(options, positionals, io);
  },
});

/** Prints every key of a kind of run, or those that are named behind it. */
function explainKeys({ json }: TrainingOptions, [first, ...wanted]: readonly string[], io: Io): ExitCode {
  const kind = trainingKinds.find((each) => each === first);
  if (!kind) throw new UsageError(`say whose keys: npx rehearsal train ${trainingKinds.join('|')} --explain`);
  const keys = trainingKeys(kind);
  const names = keys.filter(({ isGiven }) => !isGiven).map(({ name }) => name);
  const unknown = wanted.find((name) => !keys.some((key) => key.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `there is no key ${unknown}${suggestion(unknown, names) || `; known are ${names.join(', ')}`}`,
    );
  const shown = keys.filter(({ name, isGiven }) => (wanted.length > 0 ? wanted.includes(name) : !isGiven));
  const words = shown.map((key) => [`${key.name} (${key.type})`, ...explain(key)].join('\n    '));
  io.out(json ? `${JSON.stringify(shown)}\n` : `${words.join('\n\n')}\n`);
  return 0;
}
