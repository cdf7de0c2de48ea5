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
    'a configuration (*.training.yaml): any key of --explain; options override it, and paths in it are relative to it. Without DOMAIN, its domain is used; without sft|grpo|evaluate, its kind',
  ),
  explain: flag(
    'describe every key, or the keys named in place of DOMAIN: its unit, its default in each profile, its value in the paper, and its name in TRL and verl; nothing starts',
  ),
  profile: oneOf(
    'NAME',
    "a set of defaults: cpu, gpu (one GPU), paper (MUA-RL's recipe, on a cluster), or trial (a few seconds per step, to check that everything works) (default: trial for the model tiny, gpu if the target has a GPU, else cpu)",
    ['cpu', 'gpu', 'paper', 'trial'],
  ),
  plan: flag(
    'show the device, the profile and why, the expected memory, disk space and time, and what will be downloaded; nothing starts and nothing is downloaded',
  ),
  set: repeated(
    'KEY=VALUE',
    'set one key, with its value as JSON; repeatable',
    z.string().regex(/^[a-z_]+=.*$/, 'KEY=VALUE'),
  ),
  model: text(
    'NAME',
    "smollm2, tiny (random weights, for a trial), a checkpoint's folder, or a hub id (default: smollm2)",
  ),
  steps: wholeNumber('N', "optimizer steps, instead of the profile's steps or epochs"),
  recordings: text(
    'PATH',
    "SFT: what to learn from: a run's folder, a synthesis (its accepted rollouts), or a recording",
  ),
  trials: wholeNumber(
    'K',
    'SFT without recordings: rollouts of the gold seat for each training task (default: 4); evaluate: rollouts for each test task, at each temperature (default: 8)',
  ),
  weights: option(
    'LIST',
    'GRPO on several domains: the weight of each in drawing groups, such as 2,1 (default: equal)',
    z
      .string()
      .refine(isWeights, 'a list of numbers above 0, such as 2,1')
      .transform((given) => given.split(',').map(Number)),
  ),
  heldOut: repeated(
    'FOLDER',
    'GRPO: a domain to evaluate but not train on; repeatable. The run warns if its reward falls below the interval from before training',
  ),
  user: text(
    'SEAT',
    "GRPO and evaluate: who plays the user: agenda or openai:MODEL[@BASE_URL] (default: the domain's for training or for evaluation)",
  ),
  evaluateUser: text('SEAT', "GRPO: who plays the user in evaluations (default: the domain's for evaluation)"),
  out: text('FOLDER', "the run's folder, which is new or empty (default: .rehearsal/training/<id> here)"),
  detach: flag(
    'return when the run has started; it continues in the background, and stops when a file named "stop" appears in its folder',
  ),
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
    "the free disk space that the run needs there, besides the copied files (default: the trainer's estimate from the model and the kept checkpoints)",
    'a number of gigabytes above 0',
    (given) => given > 0,
  ),
  checkpoint: text('NAME', 'fetch: which one (default: the newest)'),
  json,
};

export type TrainingOptions = OptionValues<typeof trainingOptions>;
