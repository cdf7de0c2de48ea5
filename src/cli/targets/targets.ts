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

const targetSpecSchema = z.strictObject({ target: z.string(), python: z.string().optional() });

/** The target on which a run was started, from `target.json` in its folder; a run on this machine has no such file. */
export type TargetSpec = z.infer<typeof targetSpecSchema>;

/** Returns the target of a specification: this machine, or what the scheme of an address says. Throws a `UsageError` for another name. */
export function targetAt({ target, python }: TargetSpec): Target {
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

const local: TargetSpec = { target: 'local' };

/**
 * Returns where a run was started; this machine where its folder names no other. Throws a `UsageError` where its
 * `target.json` no longer says that, and an `ApprovalQuestion` for a target that was not typed or approved: the folder
 * may come from elsewhere.
 */
export function targetSpecOf(run: string, environment: NodeJS.ProcessEnv): TargetSpec {
  const lost = 'where training was started: write its target there again, such as {"target": "ssh://user@host/folder"}';
  const spec = readKept(join(run, runFiles.target), targetSpecSchema, lost) ?? local;
  throwUnlessTargetApproved(run, spec, environment);
  return spec;
}

/** Writes the target of a run into its folder. Keys are not part of it. */
export function writeTargetSpec(run: string, spec: TargetSpec, environment: NodeJS.ProcessEnv): void {
  if (spec.target === local.target) return;
  replaceFile(join(run, runFiles.target), `${JSON.stringify(spec, null, 2)}\n`);
  rememberTarget(run, spec, environment);
}

/** Throws an `ApprovalQuestion` unless a person typed or approved a target that a file in this folder names. */
export function throwUnlessTargetApproved(folder: string, spec: TargetSpec, environment: NodeJS.ProcessEnv): void {
  if (spec.target !== local.target) throwUnlessApproved(effectsOfSpec(folder, spec), environment);
}

/** Remembers a target that was typed or approved, so that no person is asked about it again. */
export function rememberTarget(folder: string, spec: TargetSpec, environment: NodeJS.ProcessEnv): void {
  if (spec.target !== local.target) rememberEffects(effectsOfSpec(folder, spec), environment);
}

function effectsOfSpec(folder: string, { target, python }: TargetSpec): Effects {
  return effectsOfTarget(folder, target, interpreterOf(python, undefined));
}
