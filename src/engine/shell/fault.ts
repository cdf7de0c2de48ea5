import type { EndReason, Failure } from '../core/event.ts';
import type { ModelCall } from './seats/modelCall.ts';

const reasonOf: Readonly<Record<Failure['who'], EndReason>> = {
  agent: 'agentFailed',
  simulator: 'userFailed',
  environment: 'environmentFailed',
  infrastructure: 'infrastructureFailed',
};

/**
 * Something a rollout can't get past: a seat that can't answer, a server that died, a disk that is full.
 * The driver turns it into the rollout's last event; it never stops other rollouts.
 */
export class Fault extends Error {
  readonly reason: EndReason;
  readonly failure: Failure;
  /** What a model was asked that led to it. */
  readonly call: ModelCall | undefined;

  constructor(failure: Failure, reason: EndReason = reasonOf[failure.who], call?: ModelCall) {
    super(failure.message);
    this.name = 'Fault';
    this.failure = failure;
    this.reason = reason;
    this.call = call;
  }
}

/** The rollout was asked to stop. */
export function cancelled(): Fault {
  return new Fault({ who: 'infrastructure', code: 'cancelled', message: 'the rollout was cancelled' }, 'cancelled');
}
