import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { trainerFolder } from '../../python/pythonEnvironment.ts';
import { namedKeys } from '../keys.ts';
import type { Launch } from '../target.ts';
import { environmentFault } from '../targetFaults.ts';
import { askCluster } from './askCluster.ts';
import type { RayJobs } from './jobs.ts';

const oldestRay = [2, 41] as const;
const oldestPython = [3, 11] as const;

const lookedSchema = z.object({
  python: z.string(),
  packages: z.record(z.string(), z.string().nullable()),
  gpus: z.int(),
  nodes: z.int(),
  missing: z.array(z.string()),
});

/** The resources and software of a cluster. */
export type Looked = z.infer<typeof lookedSchema>;

/** Looks at a cluster with its own small job. Throws a `Fault` for what would make the run fail there. */
export async function lookAtCluster(jobs: RayJobs, launch: Launch, signal: AbortSignal): Promise<Looked> {
  const ray = await jobs.version();
  if (!isAtLeast(ray, oldestRay) || ray.split('.')[0] !== '2')
    throw environmentFault(
      'ray/version',
      `${jobs.name} runs Ray ${ray}, and verl ${verlVersion()} needs Ray ${oldestRay.join('.')} or a later 2.x: start the cluster with such a version`,
    );
  const words = [...new Set(namedKeys(launch.config))].join(' ');
  const unanswered = (why: string) =>
    environmentFault('ray/look', `a first small job on ${jobs.name} did not report what the cluster has: ${why}`);
  const { answer } = await askCluster(
    jobs,
    { script: 'cluster_status.py', words, mark: '@looked', unanswered },
    signal,
  );
  const looked = lookedSchema.parse(answer);
  throwUnlessUsable(jobs.name, looked);
  return looked;
}

/** Throws a `Fault` that names the one thing to change. */
export function throwUnlessUsable(name: string, { python, packages, missing }: Looked): void {
  if (!isAtLeast(python, oldestPython))
    throw environmentFault(
      'ray/python',
      `${name} runs Python ${python}, and the trainer needs Python ${oldestPython.join('.')} or newer: start the cluster with such a version, on every machine`,
    );
  const absent = Object.keys(packages).filter((each) => !packages[each]);
  if (absent.length > 0)
    throw environmentFault(
      'ray/packages',
      `the Python of ${name} lacks ${absent.join(', ')}: install what trainer/rehearsal_trainer/requirements/verl.txt pins on every machine of the cluster`,
    );
  const wanted = verlVersion();
  if (packages['verl'] !== wanted)
    throw environmentFault(
      'ray/verl',
      `${name} has verl ${packages['verl']}, but this version of Rehearsal needs verl ${wanted}: install verl==${wanted} on every machine of the cluster`,
    );
  if (missing.length > 0)
    throw environmentFault(
      'key/missing',
      `${missing.join(', ')} is not set on ${name}: keys are not sent to a cluster, whose dashboard would show them. Set it in the environment that ray start is called in, on every machine`,
    );
}

/** The version that the trainer is made for, as its requirements pin it. */
function verlVersion(): string {
  const pinned = readFileSync(join(trainerFolder(), 'rehearsal_trainer', 'requirements', 'verl.txt'), 'utf8');
  const [, version] = /^verl==(.+)$/m.exec(pinned) ?? [];
  if (version === undefined) throw new Error('trainer/rehearsal_trainer/requirements/verl.txt pins no verl');
  return version;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [one = 0, two = 0] = version.split('.').map(Number);
  return one > major || (one === major && two >= minor);
}
