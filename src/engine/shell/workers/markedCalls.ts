import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkerWriter } from './workerChannel.ts';
import type { MarkedCall, MarkWriter } from './workerMarker.ts';

/** Marks the calls of the domain's own code, so that the supervisor knows whose it was when the worker hangs or dies. */
export class MarkedCalls {
  readonly #mark: MarkWriter;
  readonly #writer: WorkerWriter;
  /** The call that code runs for, also in timers and promises that it left behind. */
  readonly #calls = new AsyncLocalStorage<MarkedCall>();
  /** Calls that are left to their promises. */
  readonly #awaited = new Set<MarkedCall>();
  /** The rollout whose domain code is running, for the log. */
  running: number | null = null;

  constructor(mark: MarkWriter, writer: WorkerWriter) {
    this.#mark = mark;
    this.#writer = writer;
  }

  /** Returns what runs code of the domain as this call. */
  guard(call: MarkedCall): <T>(body: () => T) => T {
    return (body) => {
      if (!this.#mark.enter(call, this.#writer.fresh())) this.#writer.flush();
      this.running = call.rollout;
      try {
        return this.#calls.run(call, body);
      } finally {
        this.running = null;
        this.#leave();
      }
    };
  }

  /** Marks a call until its promise is settled. */
  awaiting<T>(call: MarkedCall, outcome: Promise<T>): Promise<T> {
    this.#awaited.add(call);
    this.#leave();
    return outcome.finally(() => {
      this.#awaited.delete(call);
      this.#leave();
    });
  }

  /** Marks the call that something thrown outside of every call came from, if it came from one. */
  blame(): void {
    const call = this.#calls.getStore();
    if (call) this.#mark.return(call);
  }

  /** Between calls the mark names one that is still waited for, if there is any. */
  #leave(): void {
    const waiting = this.#awaited.size > 0 ? [...this.#awaited].at(-1) : undefined;
    if (waiting) this.#mark.return(waiting);
    else this.#mark.leave();
  }
}
