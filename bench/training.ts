// Compares rollouts in training with a plain loop over the same conversations, on the small real model before and after
// SFT, as in GRPO. Also measures the CPU time of the engine for one rollout.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { ensureBuilt } from '../scripts/build.ts';
import { pythonObstacle } from '../scripts/pythonTests.ts';
import { cacheFolder } from '../scripts/vscode/cacheFolder.ts';
import { hubKeys, preparePython, trainerEnvironment } from '../src/cli/python/pythonEnvironment.ts';
import { runFiles } from '../src/engine/shell/records/runFiles.ts';
import { isOnce, type Measured, median, rounds, Skipped } from './measure.ts';

const program = resolve('dist/rehearsal.mjs');
const domain = 'domains/parcel-desk';

const measuredSchema = z.object({
  ours: z.array(z.number()),
  plain: z.array(z.number()),
  paged: z.array(z.number()),
  /** CPU seconds of a rollout: for the first rollouts of an engine, and for later ones. */
  engine: z.object({ first: z.number(), later: z.number(), rollouts: z.number() }),
  tokens: z.number(),
  /** The mean number of answers of the model in a rollout. */
  turns: z.number(),
  /** The share of these answers that were cut off at the length limit. */
  cut: z.number(),
});

/** Measures both in turns in one process of the trainer's Python. */
export async function measureTraining(): Promise<readonly Measured[]> {
  await ensureBuilt();
  const io = { err: (text: string) => process.stderr.write(text), signal: new AbortController().signal };
  const obstacle = pythonObstacle();
  if (obstacle) throw new Skipped(obstacle);
  const {
    python: [python],
  } = await preparePython(io, undefined);
  const measure = (model: string) => {
    const args = [
      'bench/training_rollouts.py',
      process.execPath,
      program,
      domain,
      model,
      `${rounds(3)}`,
      `${rounds(40)}`,
    ];
    const { ours, plain, paged, ...rest } = measuredSchema.parse(JSON.parse(run(python, args).trim()));
    const seconds = ours.reduce((sum, each) => sum + each, 0);
    const times = (others: readonly number[]) =>
      median(others.map((each, round) => each / (ours[round] ?? Number.NaN)));
    return { seconds, ...rest, times: times(plain), timesPaged: times(paged) };
  };
  const trained = measure(isOnce ? 'tiny' : checkpointAfterSft());
  const asItComes = isOnce ? trained : measure('smollm2');
  const told = ({ turns, cut }: { readonly turns: number; readonly cut: number }) =>
    `${turns.toFixed(1)} answers a rollout, ${(100 * cut).toFixed(0)} % of them cut off`;
  return [
    {
      name: 'rollouts in training',
      value: trained.tokens / trained.seconds,
      unit: 'tokens/s',
      note: `sampled, ${isOnce ? 'a tiny model' : 'SmolLM2-135M after SFT'}, 8 at once, engine, HTTP and recording included`,
    },
    {
      name: 'a plain loop over the same conversations',
      value: trained.times,
      unit: 'times',
      note: `as long: every turn is computed from its first token, in batches of 8; ${told(trained)}; median of the rounds`,
      promise: { at: 'least', value: 3 },
    },
    {
      name: 'the same before any training',
      value: asItComes.times,
      unit: 'times',
      note: `as long: ${told(asItComes)}, so there is less to compute again`,
    },
    {
      name: "transformers' continuous batching of the same conversations",
      value: trained.timesPaged,
      unit: 'times',
      note: 'as long: the model alone, with keys and values kept between turns; median of the rounds',
    },
    {
      name: "the engine's CPU of a rollout in training",
      value: 1000 * trained.engine.later,
      unit: 'ms',
      note: `engine and workers, parcel-desk, ${trained.engine.rollouts} recorded rollouts; ${(1000 * trained.engine.first).toFixed(1)} ms of the first 32`,
      promise: { at: 'most', value: 10 },
    },
  ];
}

/** The model that GRPO starts from in docs/training-results.md: trained once, in some ten minutes, and kept. */
function checkpointAfterSft(): string {
  const out = join(cacheFolder(), 'bench', 'sft');
  const checkpoint = join(out, runFiles.checkpoints, 'final');
  const recipe = ['sft', domain, '--trials', '4', '--steps', '40', '--out', out];
  if (!existsSync(checkpoint))
    run(process.execPath, [program, 'train', ...(existsSync(out) ? ['resume', out] : recipe)]);
  return checkpoint;
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { env: trainerEnvironment(hubKeys), encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.trim().split('\n').slice(-3).join(' | '));
  return stdout;
}
