import { spawnSync } from 'node:child_process';
import type { Launch } from './target.ts';
import { environmentFault } from './targetFaults.ts';

/** The graphics cards of a machine as its driver lists them, or why it lists none. */
export type Gpus = readonly { readonly name: string; readonly driver: string }[] | string;

/** The oldest driver of CUDA 13.0, which the pinned PyTorch is built with on PyPI. */
const oldestDriver = 580;
const profilesOfGpus = ['gpu', 'paper'];

/** Those of this machine. `far_side.py` asks the same of another. */
export function gpusHere(): Gpus {
  const asked = ['--query-gpu=name,driver_version', '--format=csv,noheader'];
  const { status, stdout, stderr, error } = spawnSync('nvidia-smi', asked, { encoding: 'utf8' });
  if (error) return 'nvidia-smi is not there';
  if (status !== 0) return (stdout + stderr).trim().split('\n')[0] || 'nvidia-smi fails';
  const rows = stdout.trim().split('\n').filter(Boolean);
  return rows.map((row) => {
    const [name = '', driver = ''] = row.split(', ');
    return { name, driver };
  });
}

/** Throws a `Fault` where the profile of a run wants a GPU and the machine has none that the trainer can use. */
export function throwUnlessGpus(machine: string, look: () => Gpus, { config }: Launch): void {
  const profile = String(config['profile']);
  if (!profilesOfGpus.includes(profile)) return;
  const gpus = look();
  if (typeof gpus === 'string' || gpus.length === 0)
    throw environmentFault(
      'gpu/missing',
      `the profile ${profile} wants a GPU, and ${machine} shows none (${typeof gpus === 'string' ? gpus : 'nvidia-smi lists none'}): choose --profile cpu, or a machine with an NVIDIA GPU and its driver`,
    );
  const old = gpus.find(({ driver }) => Number.parseInt(driver, 10) < oldestDriver);
  if (old)
    throw environmentFault(
      'gpu/driver',
      `the driver ${old.driver} of ${old.name} on ${machine} is too old for the trainer's PyTorch: install ${oldestDriver} or newer there`,
    );
}
