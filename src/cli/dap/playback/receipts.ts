import { dirname, join } from 'node:path';
import { taskIn } from '../../../engine/core/domain/taskVariant.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { Fault } from '../../../engine/shell/files/fault.ts';
import type { RolloutClosed } from '../../../engine/shell/liveRollout.ts';
import { openLedger, type Receipt, signingKey } from '../../../engine/shell/records/ledger.ts';
import { nameOf } from '../../../engine/shell/records/recordingName.ts';
import { readRunFile } from '../../../engine/shell/records/runFile.ts';
import { receiptOf } from '../../../engine/shell/runs/batch.ts';

/** Returns the receipt of a session's rollout or fork; null if it was left before its end. */
export function receiptOfClosed(
  { domain }: Pick<LoadedDomain, 'domain'>,
  recording: string,
  closed: RolloutClosed,
): Receipt | null {
  const started = closed.arrived[0]?.event;
  if (closed.endReason === 'cancelled' || started?.type !== 'rolloutStarted') return null;
  const task = taskIn(domain, started.task.id);
  if (!task) return null;
  return receiptOf(started.policyHash, started, nameOf(recording), task, started.trial, closed);
}

/**
 * Signs the receipt of a fork into the ledger of the run whose folder contains it.
 * @returns why there is no receipt now, or null
 */
export function signFork(recording: string, receipt: Receipt): string | null {
  const folder = dirname(recording);
  const run = readRunFile(folder);
  if (typeof run === 'string') return `${folder} is not a run: ${run}`;
  const key = signingKey();
  if (run.publicKey !== key.publicKey) return `the receipts of ${folder} are signed with another key than yours`;
  try {
    openLedger(join(folder, 'ledger.jsonl'), key, run.id).receive(receipt);
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}
