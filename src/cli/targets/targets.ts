import { join } from 'node:path';
import * as z from 'zod';
import { rememberEffects, throwUnlessApproved } from '../../engine/shell/approvals/approvals.ts';
import { type Effects, effectsOfTarget } from '../../engine/shell/approvals/effects.ts';
import { replaceFile } from '../../engine/shell/files/disk.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { readKept } from '../options/keptFile.ts';
import { interpreterOf } from '../python/pythonEnvironment.ts';
import { UsageError } from '../terminal/io.ts';
import { localTarget } from './local.ts';
import { rayTarget } from './ray/ray.ts';
import { sshTarget } from './ssh/ssh.ts';
import type { Target } from './target.ts';

const placeSchema = z.strictObject({ target: z.string(), python: z.string().optional() });

/** The target on which a run was started, from `target.json` in its folder; a run on this machine has no such file. */
export type Place = z.infer<typeof placeSchema>;

/** The target at a place: this machine, or what the scheme of an address says. Throws a `UsageError` for another name. */
export function targetAt({ target, python }: Place): Target {
  const [scheme] = target.split('://');
  switch (scheme) {
    case 'local':
      return localTarget();
    case 'ssh':
      return sshTarget(target, interpreterOf(python, undefined));
    case 'ray':
    case 'rays':
      return rayTarget(target);
    default:
      throw new UsageError(`--target ${target}: expected local, ssh://user@host:port/folder, or ray://host:8265`);
  }
}

const local: Place = { target: 'local' };

/**
 * Returns where a run was started; this machine where its folder names no other. Throws a `UsageError` where its
 * `target.json` no longer says that, and an `ApprovalQuestion` for a place that was not typed or approved: the folder
 * may come from elsewhere.
 */
export function placeOf(run: string, environment: NodeJS.ProcessEnv): Place {
  const lost = 'where training was started: write its target there again, such as {"target": "ssh://user@host/folder"}';
  const place = readKept(join(run, runFiles.target), placeSchema, lost) ?? local;
  throwUnlessPlaceApproved(run, place, environment);
  return place;
}

/** Keeps in the run's folder where it is started. A key has no place in it. */
export function keepPlace(run: string, place: Place, environment: NodeJS.ProcessEnv): void {
  if (place.target === local.target) return;
  replaceFile(join(run, runFiles.target), `${JSON.stringify(place, null, 2)}\n`);
  rememberPlace(run, place, environment);
}

/** Throws an `ApprovalQuestion` unless a person typed or approved a place that a file in this folder names. */
export function throwUnlessPlaceApproved(folder: string, place: Place, environment: NodeJS.ProcessEnv): void {
  if (place.target !== local.target) throwUnlessApproved(effectsOfPlace(folder, place), environment);
}

/** Remembers a place that was typed or approved, so that no person is asked about it again. */
export function rememberPlace(folder: string, place: Place, environment: NodeJS.ProcessEnv): void {
  if (place.target !== local.target) rememberEffects(effectsOfPlace(folder, place), environment);
}

function effectsOfPlace(folder: string, { target, python }: Place): Effects {
  return effectsOfTarget(folder, target, interpreterOf(python, undefined));
}
