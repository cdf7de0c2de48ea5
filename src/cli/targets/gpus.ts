import { spawnSync } from 'node:child_process';
import { withoutKeys } from '../../engine/shell/processes/childEnvironment.ts';
import { firstModelOf } from '../../engine/shell/records/trainingRun.ts';
import type { Launch, Plan } from './target.ts';
import { environmentFault } from './targetFaults.ts';

/** The graphics cards of a machine as its driver lists them, or why it lists none. */
export type Gpus = readonly { readonly name: string; readonly driver: string }[] | string;

/** The oldest driver of CUDA 13.0, which the pinned PyTorch is built with on PyPI. */
const oldestDriver = 580;
const profilesOfGpus = ['gpu', 'paper'];

/** Those of this machine. `remote_agent.py` asks the same of another. */
export function gpusHere(): Gpus {
  const asked = ['--query-gpu=name,driver_version', '--format=csv,noheader'];
  const { status, stdout, stderr, error } = spawnSync('nvidia-smi', asked, { encoding: 'utf8', env: withoutKeys() });
  if (error) return 'nvidia-smi is not there';
  if (status !== 0) return (stdout + stderr).trim().split('\n')[0] || 'nvidia-smi fails';
  const rows = stdout.trim().split('\n').filter(Boolean);
  return rows.map((row) => {
    const [name = '', driver = ''] = row.split(', ');
    return { name, driver };
  });
}

/**
 * Returns a launch with the profile that fits the GPUs of its machine, where nothing names a profile, and why it is that
 * profile.
 */
export function withProfile(launch: Launch, gpus: Gpus): { readonly launch: Launch; readonly reason: string } {
  const { profile: named, model } = launch.config;
  if (named === 'trial' && typeof model === 'string' && firstModelOf(model) === 'tiny')
    return { launch, reason: model === 'tiny' ? 'The model is tiny.' : 'The model is a checkpoint of tiny.' };
  if (named !== undefined) return { launch, reason: 'You or the configuration chose it.' };
  const [profile, reason] = profileOf(gpus);
  return { launch: { ...launch, config: { profile, ...launch.config } }, reason };
}

function profileOf(gpus: Gpus): readonly [profile: string, reason: string] {
  if (typeof gpus === 'string') return ['cpu', `No NVIDIA GPU is visible (${gpus}).`];
  const [first] = gpus;
  if (!first) return ['cpu', 'No NVIDIA GPU is visible.'];
  const old = gpus.find(isOld);
  if (old) return ['cpu', `The driver ${old.driver} of ${old.name} is older than ${oldestDriver}.`];
  return ['gpu', `The machine has a GPU (${first.name}).`];
}

const isOld = ({ driver }: { readonly driver: string }) => Number.parseInt(driver, 10) < oldestDriver;

/** Returns the facts about a run that are known without running its trainer. */
export function planFor(target: string, { config }: Launch, gpus: Gpus, reason: string): Plan {
  const profile = String(config['profile']);
  const [first] = typeof gpus === 'string' ? [] : gpus;
  return { target, device: first?.name ?? 'CPU', profile, reason, downloads: [] };
}

/** Throws a `Fault` where the profile of a run wants a GPU and the machine has none that the trainer can use. */
export function throwUnlessGpus(machine: string, gpus: Gpus, { config }: Launch): void {
  const profile = String(config['profile']);
  if (!profilesOfGpus.includes(profile)) return;
  if (typeof gpus === 'string' || gpus.length === 0)
    throw environmentFault(
      'gpu/missing',
      `the profile ${profile} needs a GPU, but ${machine} has none (${typeof gpus === 'string' ? gpus : 'nvidia-smi lists none'}): choose --profile cpu, or a machine with an NVIDIA GPU and its driver`,
    );
  const old = gpus.find(isOld);
  if (old)
    throw environmentFault(
      'gpu/driver',
      `the driver ${old.driver} of ${old.name} on ${machine} is too old for the trainer's PyTorch: install ${oldestDriver} or newer there`,
    );
}
