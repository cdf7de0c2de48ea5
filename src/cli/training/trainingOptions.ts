import * as z from 'zod';
import {
  flag,
  json,
  number,
  type OptionValues,
  oneOf,
  option,
  repeated,
  text,
  wholeNumber,
} from '../options/option.ts';

const isWeights = (given: string) =>
  given.split(',').every((each) => Number(each) > 0 && Number.isFinite(Number(each)));

/** The operations on a run that was started. */
export const operations = ['stop', 'resume', 'follow', 'fetch'] as const;

/** The options of `rehearsal train`. */
export const trainingOptions = {
  config: text(
    'FILE',
    'a configuration (*.training.yaml): any key of --explain; options override it, and paths in it are relative to it. Without DOMAIN its domain is taken, without sft|grpo|evaluate its kind',
  ),
  explain: flag(
    'say what every key does (or the keys named in place of DOMAIN), in which unit, with its default in each profile, what the paper says, and its name in TRL and verl; nothing starts',
  ),
  profile: oneOf(
    'NAME',
    "cpu, gpu (one GPU), paper (MUA-RL's recipe, on a cluster), or trial (seconds a step, to see that all works): sets of defaults (default: trial for the model tiny, gpu where the target has a GPU, else cpu)",
    ['cpu', 'gpu', 'paper', 'trial'],
  ),
  plan: flag(
    'show the device, the profile and why, the expected memory, disk space and time, and what will be downloaded; nothing starts and nothing is downloaded',
  ),
  set: repeated('KEY=VALUE', 'one key, as JSON; can be repeated', z.string().regex(/^[a-z_]+=.*$/, 'KEY=VALUE')),
  model: text('NAME', "smollm2, tiny (random, for trying out), a checkpoint's folder, or a hub id (default: smollm2)"),
  steps: wholeNumber('N', "optimizer steps, in place of the profile's steps or epochs"),
  recordings: text('PATH', "SFT: a run's folder, a synthesis (what is accepted of it), or a recording, to learn from"),
  trials: wholeNumber(
    'K',
    'SFT without recordings: rollouts of the gold seat for each training task (default: 4); evaluate: rollouts for each test task, at each temperature (default: 8)',
  ),
  weights: option(
    'LIST',
    'GRPO on several domains: how often groups of each are drawn, such as 2,1 (default: equally)',
    z
      .string()
      .refine(isWeights, 'a list of numbers above 0, such as 2,1')
      .transform((given) => given.split(',').map(Number)),
  ),
  heldOut: repeated(
    'FOLDER',
    'GRPO: a domain that is evaluated and not trained on; can be repeated. The run warns where it falls below the interval that it had before training',
  ),
  user: text(
    'SEAT',
    "GRPO and evaluate: who plays the user: agenda or openai:MODEL[@BASE_URL] (default: the domain's for training or for evaluation)",
  ),
  evaluateUser: text(
    'SEAT',
    "GRPO: who plays the user when the run is evaluated (default: the domain's for evaluation)",
  ),
  out: text('FOLDER', "the run's folder, which is new or empty (default: .rehearsal/training/<id> here)"),
  detach: flag('return once it runs; it lives on, and ends when a file named "stop" appears in its folder'),
  python: text(
    'PATH',
    `an existing Python of the target to use as it is: nothing is installed or downloaded, and what it lacks is reported. Or a JSON list that starts one in a container, such as '["apptainer", "exec", "trainer.sif", "python"]' (default: the trainer's own environment, made on first use)`,
  ),
  target: text(
    'TARGET',
    'where to train: local (this machine, the default), ssh://USER@HOST:PORT/FOLDER, or, for SFT and GRPO with verl on a Ray cluster, ray://HOST:8265',
  ),
  disk: number(
    'GB',
    'the free disk that the run needs there beside what is copied (default: what the trainer reckons from the model and the checkpoints that are kept)',
    'a number of gigabytes above 0',
    (given) => given > 0,
  ),
  checkpoint: text('NAME', 'fetch: which one (default: the newest)'),
  json,
};

export type TrainingOptions = OptionValues<typeof trainingOptions>;
