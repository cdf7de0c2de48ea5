// Rollouts in training beside a plain loop over the same conversations, on the small real model; and what the engine
// itself uses for one.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import * as z from 'zod';
import { ensureBuilt } from '../scripts/build.ts';
import { preparePython, trainerEnvironment } from '../src/cli/pythonEnvironment.ts';
import { type Measured, median, Skipped } from './measure.ts';

const measuredSchema = z.object({
  ours: z.array(z.number()),
  plain: z.array(z.number()),
  /** CPU seconds of a rollout: while the engine's code is being compiled, and after. */
  engine: z.object({ cold: z.number(), warm: z.number(), rollouts: z.number() }),
  tokens: z.number(),
  batch: z.number(),
});

/** Both in turns in one process of the trainer's Python. */
export async function measureTraining(): Promise<readonly Measured[]> {
  await ensureBuilt();
  const io = { err: (text: string) => process.stderr.write(text), signal: new AbortController().signal };
  const python = await preparePython(io, undefined).catch((error: Error) => {
    throw new Skipped(error.message);
  });
  const args = ['bench/training_rollouts.py', process.execPath, resolve('dist/rehearsal.mjs'), 'domains/parcel-desk'];
  const { status, stdout, stderr } = spawnSync(python, args, { env: trainerEnvironment(), encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.trim().split('\n').slice(-3).join(' | '));
  const { ours, plain, engine, tokens, batch } = measuredSchema.parse(JSON.parse(stdout.trim()));
  const seconds = ours.reduce((sum, each) => sum + each, 0);
  return [
    {
      name: 'rollouts in training',
      value: tokens / seconds,
      unit: 'tokens/s',
      note: `sampled, SmolLM2-135M, ${batch} at once, engine and HTTP included`,
    },
    {
      name: 'a plain loop over the same conversations',
      value: median(plain.map((each, round) => each / (ours[round] ?? Number.NaN))),
      unit: 'times',
      note: 'as long: every turn is computed from its first token, in batches of 8; median of the rounds',
      promise: { at: 'least', value: 3 },
    },
    {
      name: "the engine's CPU of a rollout in training",
      value: 1000 * engine.warm,
      unit: 'ms',
      note: `engine and lanes, parcel-desk, ${engine.rollouts} rollouts; ${(1000 * engine.cold).toFixed(1)} ms of the first ones`,
      promise: { at: 'most', value: 10 },
    },
  ];
}
