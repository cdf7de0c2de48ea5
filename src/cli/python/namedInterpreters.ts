import type { Json } from '../../engine/core/values/json.ts';
import { rememberEffects, throwUnlessApproved } from '../../engine/shell/approvals/approvals.ts';
import { type Effects, effectsOfInterpreters } from '../../engine/shell/approvals/effects.ts';
import { interpreterOf } from './pythonEnvironment.ts';

/** The interpreters that a file names, by their keys. */
type Named = { readonly python?: Json | undefined; readonly vllm_python?: Json | undefined };

function effectsOf(path: string, { python, vllm_python: sampler }: Named): Effects {
  const read = (value: Json | undefined) => interpreterOf(value, undefined) ?? [];
  return effectsOfInterpreters(path, { python: read(python), vllm_python: read(sampler) });
}

/** Throws an `ApprovalQuestion` unless a person approved the interpreters that a file names. */
export function throwUnlessInterpretersApproved(path: string, named: Named, environment: NodeJS.ProcessEnv): void {
  throwUnlessApproved(effectsOf(path, named), environment);
}

/** Remembers the interpreters that were typed or approved for a run, so that resuming it does not ask again. */
export function rememberInterpreters(path: string, named: Named, environment: NodeJS.ProcessEnv): void {
  rememberEffects(effectsOf(path, named), environment);
}
