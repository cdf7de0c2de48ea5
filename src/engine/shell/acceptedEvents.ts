import type { CheckedRollout } from './checkedFold/checkedRollout.ts';
import { ForgedMessage } from './checkedFold/forgedMessage.ts';
import type { SupervisedRollout } from './supervisedRollout.ts';
import type { ClaimedEvent, WorkerEvent } from './workers/workerMessage.ts';

/** A call is ended at its time limit. The worker's own work on a busy machine may take this much longer. */
const longestGraceMs = 2000;

/**
 * Accepts events that a worker claims. Keeps what was accepted also where a later event of the same batch is not.
 * @returns the longest time limit of the code that ended with these events, in ms; null where none did
 */
export function acceptEvents(
  live: SupervisedRollout,
  check: CheckedRollout,
  events: readonly ClaimedEvent[],
  keep: (accepted: readonly WorkerEvent[]) => void,
): number | null {
  const accepted: WorkerEvent[] = [];
  let limitMs: number | null = null;
  try {
    for (const event of events) {
      if (isOfCode(event)) limitMs = Math.max(limitMs ?? 0, check.limitMs ?? 0) || null;
      throwIfLonger(live, event);
      accepted.push(check.accept(event));
    }
    return limitMs;
  } finally {
    if (accepted.length > 0) keep(accepted);
  }
}

/**
 * A worker whose code runs longer than its time limit is ended, so one that says something afterwards has changed what
 * it says about that limit.
 */
export function throwIfLate(ranMs: number, limitMs: number, graceMs = longestGraceMs): void {
  if (ranMs > limitMs + graceMs)
    throw new ForgedMessage(`it ran for ${Math.round(ranMs)} ms, and its time limit is ${limitMs} ms`);
}

/** The times of events are recorded: together they are not longer than the time since their rollout was started. */
function throwIfLonger(live: SupervisedRollout, { n, ms }: ClaimedEvent): void {
  live.claimedMs += Math.max(0, ms);
  const passed = performance.now() - live.startedAt;
  // Workers round to microseconds.
  if (ms < 0 || live.claimedMs > passed + 1)
    throw new ForgedMessage(`event ${n} claims ${ms} ms, and its rollout was started ${Math.round(passed)} ms ago`);
}

/** Whether an event has the result of code of the domain. */
const isOfCode = ({ type }: ClaimedEvent) => type === 'toolReturned' || type === 'worldSynced';
