import { approvalFor, approvalHash, approve, rememberApproval } from '../../engine/shell/approvals/approvals.ts';
import { effectsIn } from '../../engine/shell/approvals/effects.ts';
import type { Io } from '../terminal/io.ts';

/**
 * Approves what a domain does that this command has just written: the person who typed the command named the server, the
 * copy of a benchmark or the model itself.
 */
export function approveMade(folder: string, { environment }: Pick<Io, 'environment'>): void {
  const effects = effectsIn(folder);
  const approval = effects && approvalFor(effects, environment);
  if (approval) rememberApproval(approval, environment);
}

/** Approves for this process what a domain of the product itself does, which is gone afterwards. */
export function approveOwn(folder: string): void {
  const effects = effectsIn(folder);
  if (effects) approve([approvalHash(effects)], process.env);
}
