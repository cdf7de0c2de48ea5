import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../engine/shell/disk.ts';
import { runFiles } from '../../engine/shell/runFiles.ts';
import { UsageError } from '../io.ts';
import { readKept } from '../keptFile.ts';
import { interpreterOf } from '../pythonEnvironment.ts';
import { localTarget } from './local.ts';
import { rayTarget } from './ray.ts';
import { sshTarget } from './ssh.ts';
import type { Target } from './target.ts';

const placeSchema = z.strictObject({ target: z.string(), python: z.string().optional() });

/** Where a run was started, as `target.json` in its folder says; a run of this machine has no such file. */
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
 * Where a run is: what was asked for, else where it was started. Throws a `UsageError` where its `target.json` does not
 * say that any more.
 */
export function placeOf(run: string, asked?: string, python?: string): Place {
  if (asked !== undefined) return { target: asked, ...(python ? { python } : {}) };
  const lost = 'where training was started: write its target there again, such as {"target": "ssh://user@host/folder"}';
  return readKept(join(run, runFiles.target), placeSchema, lost) ?? local;
}

/** Keeps in the run's folder where it is started. A key has no place in it. */
export function keepPlace(run: string, place: Place): void {
  if (place.target !== local.target) replaceFile(join(run, runFiles.target), `${JSON.stringify(place, null, 2)}\n`);
}
