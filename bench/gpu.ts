// Measures two optimizer steps of every training profile on a GPU: speed, memory, drift and the engine's share.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import * as z from 'zod';
import { ensureBuilt } from '../scripts/build.ts';
import { pythonObstacle } from '../scripts/pythonTests.ts';
import { preparePython, trainerEnvironment } from '../src/cli/python/pythonEnvironment.ts';
import { gpusHere } from '../src/cli/targets/gpus.ts';
import type { Show } from './measure.ts';
import { isOnce, type Measured, Skipped } from './measure.ts';

const runSchema = z.object({
  failure: z.string().optional(),
  tokens_per_second: z.number().optional(),
  update_tokens_per_second: z.number().optional(),
  update_seconds: z.number().optional(),
  step_seconds: z.number().optional(),
  gpu_memory: z.number().optional(),
  drift: z.number().optional(),
  drift_max: z.number().optional(),
  engine_share: z.number().optional(),
});
type Run = z.infer<typeof runSchema>;
const measuredSchema = z.object({
  device: z.string(),
  versions: z.record(z.string(), z.string().nullable()),
  runs: z.record(z.string(), runSchema),
});

/** The metrics of a run to show, in the order of the table. */
const shown: readonly { readonly of: Exclude<keyof Run, 'failure'>; readonly what: string; readonly unit: string }[] = [
  { of: 'tokens_per_second', what: 'sampling', unit: 'tokens/s' },
  { of: 'update_tokens_per_second', what: 'update', unit: 'tokens/s' },
  { of: 'update_seconds', what: 'update', unit: 's' },
  { of: 'step_seconds', what: 'step', unit: 's' },
  { of: 'gpu_memory', what: 'most GPU memory', unit: 'GiB' },
  { of: 'drift', what: 'mean drift', unit: 'nats' },
  { of: 'drift_max', what: 'largest drift', unit: 'nats' },
  { of: 'engine_share', what: "engine's share of a step", unit: '' },
];

/**
 * Measures on the first visible GPU, without a network. With `--once` and no GPU, a tiny model on the CPU shows only that
 * the part works. Shows what was measured, and then throws an Error that names the runs that failed.
 */
export async function measureGpu(show: Show): Promise<readonly Measured[]> {
  await ensureBuilt();
  const obstacle = pythonObstacle();
  if (obstacle) throw new Skipped(obstacle);
  const gpus = gpusHere();
  const hasGpu = typeof gpus !== 'string' && gpus.length > 0;
  if (!hasGpu && !isOnce) throw new Skipped(`no NVIDIA GPU is visible (${String(gpus)})`);
  const io = { err: (text: string) => process.stderr.write(text), signal: new AbortController().signal };
  const {
    python: [python, ...rest],
  } = await preparePython(io, undefined);
  const sizes = hasGpu ? ['qwen3-0.6b', '4', '8', '64'] : ['tiny', '2', '2', '16'];
  const program = [process.execPath, resolve('dist/rehearsal.mjs'), resolve('domains/parcel-desk')];
  const args = [...rest, 'bench/gpu_training.py', ...program, ...sizes];
  const { status, stdout, stderr } = spawnSync(python, args, { env: trainerEnvironment([]), encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.trim().split('\n').slice(-3).join(' | '));
  const { device, versions, runs } = measuredSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  const used = Object.entries(versions).flatMap(([name, version]) => (version ? [`${name} ${version}`] : []));
  const note = `${device}; ${used.join(', ')}`;
  for (const [name, run] of Object.entries(runs)) {
    for (const { of, what, unit } of shown) {
      const value = run[of];
      if (value !== undefined) show({ name: `${name}: ${what}`, value, unit, note });
    }
  }
  const failures = Object.entries(runs).flatMap(([name, { failure }]) => (failure ? [`${name}: ${failure}`] : []));
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return [];
}
