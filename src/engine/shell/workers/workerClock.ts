/** After a shorter pause of a worker, what it says does not show that code kept it busy, in ms. */
const shortPauseMs = 250;
/** Time between two looks that counts, in ms: in what is beyond it this process itself did not run. */
const longestStepMs = 500;

type Waited = {
  /** When it last said something, or began to be waited for. */
  readonly since: number;
  /** The time that others kept the worker busy since then. */
  readonly lent: number;
};

/**
 * Measures how long code of a domain can have run, by the clock of this process: the time limit that a worker's marker
 * names is in a file that this code can write.
 */
export class WorkerClock {
  #before = performance.now();
  #now = 0;
  /** When the worker last said something, before what it says now. */
  #heard = 0;
  #isHearing = false;
  readonly #waited = new Map<number, Waited>();

  /** Counts the time since the last look. */
  look(): void {
    const now = performance.now();
    this.#now += Math.min(now - this.#before, longestStepMs);
    this.#before = now;
  }

  /** Counts a rollout again that its worker does not have to continue with at the moment. */
  rest(rollout: number): void {
    this.look();
    this.#waited.set(rollout, { since: this.#now, lent: 0 });
  }

  /** Forgets all rollouts but these. */
  keep(rollouts: ReadonlyMap<number, unknown>): void {
    for (const rollout of this.#waited.keys()) if (!rollouts.has(rollout)) this.#waited.delete(rollout);
  }

  /**
   * Notes that a rollout said something, and returns how many ms its code can have run for it.
   * @param wasInside whether code ran for it already when it last said something
   */
  heard(rollout: number, wasInside: boolean): number {
    this.look();
    const pause = this.#now - this.#heard;
    const { since, lent } = this.#waited.get(rollout) ?? { since: this.#now, lent: 0 };
    if (!this.#isHearing && pause > shortPauseMs) this.#lend(pause);
    this.rest(rollout);
    this.#hearTogether();
    return Math.max(wasInside ? this.#now - since - lent : 0, Math.min(pause, this.#now - since));
  }

  /** No one knows whose code made a pause: it counts for no rollout that waited meanwhile. */
  #lend(pause: number): void {
    for (const [rollout, { since, lent }] of this.#waited)
      this.#waited.set(rollout, { since, lent: lent + Math.min(pause, this.#now - since) });
  }

  /** Treats all messages of one chunk of the channel as sent after the same pause. */
  #hearTogether(): void {
    if (this.#isHearing) return;
    this.#isHearing = true;
    const now = this.#now;
    queueMicrotask(() => {
      this.#isHearing = false;
      this.#heard = now;
    });
  }
}
