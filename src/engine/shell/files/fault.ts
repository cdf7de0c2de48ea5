import type { EndReason, Failure } from '../../core/events/event.ts';
import type { SideNote } from './sideNote.ts';

const reasonOf: Readonly<Record<Failure['who'], EndReason>> = {
  agent: 'agentFailed',
  simulator: 'userFailed',
  environment: 'environmentFailed',
  infrastructure: 'infrastructureFailed',
};

type FaultOptions = {
  readonly reason?: EndReason;
  readonly note?: SideNote | null;
  readonly inDialog?: string | null;
};

/**
 * Something a rollout can't get past: a seat that can't answer, a server that died, a disk that is full.
 * The driver turns it into the rollout's last event; it never stops other rollouts.
 */
export class Fault extends Error {
  readonly reason: EndReason;
  readonly failure: Failure;
  /** The sidecar's data about the end that it leads to. */
  readonly note: SideNote | null;
  /** The message for a dialog, where it differs from that for a terminal. */
  readonly inDialog: string | null;

  constructor(failure: Failure, { reason = reasonOf[failure.who], note = null, inDialog = null }: FaultOptions = {}) {
    super(failure.message);
    this.name = 'Fault';
    this.failure = failure;
    this.reason = reason;
    this.note = note;
    this.inDialog = inDialog;
  }
}

/** Code of the failure where the person of a seat is no longer there to type a turn. */
export const personGone = 'person/gone';

/** Returns what something that was thrown says about itself, whatever it is. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The result of a call that was cancelled. Its tool may have worked all the same. */
export const cancelledResult = 'Error: the call was cancelled';

/** The rollout was asked to stop. */
export function cancelled(): Fault {
  return new Fault(
    { who: 'infrastructure', code: 'cancelled', message: 'the rollout was cancelled' },
    { reason: 'cancelled' },
  );
}
