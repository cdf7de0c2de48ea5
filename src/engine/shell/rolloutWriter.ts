import type { SupervisedRollout } from './supervisedRollout.ts';
import type { WorkerEvent } from './workers/workerMessage.ts';

/** The longest delay, in ms, before writing events that nothing outside depends on. */
const writeEveryMs = 50;

/** Writes the events of rollouts to the disk. */
export class RolloutWriter {
  readonly #onRefused: (live: SupervisedRollout, error: unknown) => void;
  readonly #unwritten = new Set<SupervisedRollout>();
  #timer: NodeJS.Timeout | undefined;

  /** @param onRefused ends a rollout whose events the disk refuses */
  constructor(onRefused: (live: SupervisedRollout, error: unknown) => void) {
    this.#onRefused = onRefused;
  }

  /** Events go to the disk first, then to anyone who watches. Where no one does, those of a moment go together. */
  keep(live: SupervisedRollout, events: readonly WorkerEvent[]): void {
    live.record.keep(events);
    if (live.steps > 0) live.steps = Math.max(0, live.steps - events.filter(({ n }) => n >= live.free).length);
    if (live.onEvents || live.record.isFull) {
      if (this.write(live)) live.onEvents?.(events);
      return;
    }
    this.#unwritten.add(live);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const each of [...this.#unwritten]) this.write(each);
    }, writeEveryMs);
  }

  /** Brings what arrived to the disk; a disk that refuses ends the rollout. */
  write(live: SupervisedRollout): boolean {
    this.#unwritten.delete(live);
    try {
      live.record.write();
      return true;
    } catch (error) {
      this.#onRefused(live, error);
      return false;
    }
  }

  /** Writes what waits, for a rollout that is over. */
  flush(live: SupervisedRollout): void {
    if (this.#unwritten.has(live)) this.write(live);
  }
}
