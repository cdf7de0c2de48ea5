import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { nearest } from '../../engine/shell/source/nearest.ts';
import { explain, trainingKeys } from '../../training/trainingKeys.ts';
import type { Command, Given } from '../options/command.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { startTraining } from '../training/startTraining.ts';
import { operations, runOperation } from '../training/trainingOperations.ts';

export const train: Command = {
  name: 'train',
  summary: 'train a model on rollouts of a domain: SFT, then GRPO',
  help: `rehearsal train sft|grpo|evaluate DOMAIN... [options]
rehearsal train stop|resume|follow|fetch RUN [options]

Trains on this machine, or on the target that is named; docs/training-targets.md says what each needs. SFT learns
from successful recordings; without --recordings the gold seat plays the training tasks first. GRPO plays groups of
rollouts with the model and learns from their rewards. Evaluate measures a checkpoint on the test tasks, at
temperature 1 and greedy, and writes result.json.
GRPO can learn from several domains at once, and is evaluated on their test tasks while it trains.

RUN is a run's folder, or its name in .rehearsal/training. Stop ends it after its current optimizer step, with a
checkpoint. Resume continues from the last checkpoint, where the run was started, with the
hyper-parameters that --set changes. Follow brings what it wrote elsewhere
into its folder here until it is over. Fetch brings a checkpoint here.

  --config FILE      a configuration (*.training.yaml): any key of --explain; options override it, and paths in it
                     are relative to it. Without DOMAIN its domain is taken, without sft|grpo|evaluate its kind
  --explain          say what every key does (or the keys named in place of DOMAIN), in which unit, with its
                     default in each profile, what the paper says, and its name in TRL and verl; nothing starts
  --profile NAME     cpu, gpu (one GPU), paper (MUA-RL's recipe, on a cluster), or trial (seconds a step, to see that
                     all works): sets of defaults (default: trial for the model tiny, gpu where the target has a GPU,
                     else cpu)
  --plan             show the device, the profile and why, the expected memory, disk space and time, and what will be
                     downloaded; nothing starts and nothing is downloaded
  --set KEY=VALUE    one key, as JSON; can be repeated
  --model NAME       smollm2, tiny (random, for trying out), a checkpoint's folder, or a hub id (default: smollm2)
  --steps N          optimizer steps, in place of the profile's steps or epochs
  --recordings PATH  SFT: a run's folder, a synthesis (what is accepted of it), or a recording, to learn from
  --trials K         SFT without recordings: rollouts of the gold seat for each training task (default: 4);
                     evaluate: rollouts for each test task, at each temperature (default: 8)
  --weights LIST     GRPO on several domains: how often groups of each are drawn, such as 2,1 (default: equally)
  --held-out FOLDER  GRPO: a domain that is evaluated and not trained on; can be repeated. The run warns where
                     it falls below the interval that it had before training
  --user SEAT        GRPO and evaluate: who plays the user: agenda or openai:MODEL[@BASE_URL] (default: the domain's for
                     training or for evaluation)
  --evaluate-user SEAT  GRPO: who plays the user when the run is evaluated (default: the domain's for evaluation)
  --out FOLDER       the run's folder (default: .rehearsal/training/<id> here)
  --detach           return once it runs; it lives on, and ends when a file named "stop" appears in its folder
  --python PATH      an existing Python of the target to use as it is: nothing is installed or downloaded, and what it
                     lacks is reported. Or a JSON list that starts one in a container, such as
                     '["apptainer", "exec", "trainer.sif", "python"]' (default: the trainer's own environment, made
                     on first use)
  --target TARGET    where to train: local (this machine, the default), ssh://USER@HOST:PORT/FOLDER, or, for GRPO with
                     verl on a Ray cluster, ray://HOST:8265
  --disk GB          the free disk that the run needs there beside what is copied (default: what the trainer reckons
                     from the model and the checkpoints that are kept)
  --checkpoint NAME  fetch: which one (default: the newest)
  --json             machine-readable output
`,
  options: {
    config: { type: 'string' },
    explain: { type: 'boolean' },
    plan: { type: 'boolean' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    model: { type: 'string' },
    steps: { type: 'string' },
    recordings: { type: 'string' },
    trials: { type: 'string' },
    weights: { type: 'string' },
    'held-out': { type: 'string', multiple: true },
    user: { type: 'string' },
    'evaluate-user': { type: 'string' },
    out: { type: 'string' },
    detach: { type: 'boolean' },
    python: { type: 'string' },
    target: { type: 'string' },
    disk: { type: 'string' },
    checkpoint: { type: 'string' },
  },
  run: async (given, io) => {
    const [first = ''] = given.positionals;
    const operation = operations.find((each) => each === first);
    if (operation) return runOperation(operation, given, io);
    const meant = nearest(first, [...trainingKinds, ...operations]);
    if (meant !== undefined && meant !== first && !existsSync(resolve(io.cwd, first)))
      throw new UsageError(`"${first}" is not something that train can do. Did you mean ${meant}?`);
    if (given.values['explain'] === true) return explainKeys(given, io);
    return startTraining(given, io);
  },
};

/** Prints every key of a kind of run, or those that are named behind it. */
function explainKeys(given: Given, io: Io): ExitCode {
  const [first, ...wanted] = given.positionals;
  const kind = trainingKinds.find((each) => each === first);
  if (!kind) throw new UsageError(`say whose keys: npx rehearsal train ${trainingKinds.join('|')} --explain`);
  const keys = trainingKeys(kind);
  const unknown = wanted.find((name) => !keys.some((key) => key.name === name));
  if (unknown !== undefined)
    throw new UsageError(`there is no key ${unknown}; known are ${keys.map(({ name }) => name).join(', ')}`);
  const shown = keys.filter(({ name, isGiven }) => (wanted.length > 0 ? wanted.includes(name) : !isGiven));
  const words = shown.map((key) => [`${key.name} (${key.type})`, ...explain(key)].join('\n    '));
  io.out(given.values['json'] === true ? `${JSON.stringify(shown)}\n` : `${words.join('\n\n')}\n`);
  return 0;
}
