import { follow, type Setting } from '../../../engine/core/rollout/rollout.ts';
import type { Inside, LiveRollout, RolloutClosed } from '../../../engine/shell/liveRollout.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { WorkerEvent } from '../../../engine/shell/workers/workerMessage.ts';

type RolloutObserver = {
  /** Returns the setting over which states are folded. */
  readonly setting: () => Setting;
  /** Awaited before the rollout continues from its last step. */
  readonly beforeStep: (last: Step) => Promise<void>;
  /** The rollout starts again from an event of this number. */
  readonly onRestart: (n: number) => void;
};

/** The steps of one rollout: those that are there, and the live rollout that makes more of them, each when it is asked for. */
export class DebuggedRollout {
  #steps: Step[];
  #live: LiveRollout | null = null;
  /** Number of the last event that the live rollout was let continue to. */
  #allowed = -1;
  #failure: unknown = null;
  #waiting: (() => void)[] = [];
  readonly #observer: RolloutObserver;

  /** @param recorded the steps of a recording: nothing is live until `begin` */
  constructor(observer: RolloutObserver, recorded: readonly Step[] = []) {
    this.#observer = observer;
    this.#steps = [...recorded];
  }

  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Whether the rollout can still make steps. */
  get isLive(): boolean {
    return this.#live !== null;
  }

  /** The inside of the worker that folds the live rollout; null when none is live. */
  get inside(): Inside | null {
    return this.#live?.inside ?? null;
  }

  /** Returns what stopped the engine itself: a full disk, a bug. Null for a rollout that ended, however it ended. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Starts the rollout and waits until its first events are recorded, or it has ended before.
   * @param count of the events that it begins with
   * @param onClosed receives its end, also after it was left
   */
  async begin(
    count: number,
    start: (onEvents: (events: readonly WorkerEvent[]) => void) => LiveRollout,
    onClosed: (closed: RolloutClosed) => void,
  ): Promise<void> {
    this.#allowed = count - 1;
    const live = start((events) => {
      if (this.#live === live) this.#received(events);
    });
    this.#live = live;
    live.closed
      .then(onClosed)
      .catch((error: unknown) => {
        if (this.#live === live) this.#failure = error;
      })
      .finally(() => {
        if (this.#live === live) this.#live = null;
        this.#wake();
      });
    while (this.#steps.length < count && this.#live) await this.#change();
  }

  /**
   * Waits until there is a step of a number, letting the live rollout continue to it. Calls may overlap: none lets it
   * continue twice. False at the end, and once the rollout was left.
   * @param wanted is asked again after each step
   */
  async reach(wanted: () => number): Promise<boolean> {
    while (wanted() >= this.#steps.length) {
      if (this.#live === null) return false;
      if (this.#allowed < this.#steps.length && this.#steps.length > 0) {
        this.#allowed = this.#steps.length;
        void this.#step(this.#live);
      }
      await this.#change();
    }
    return true;
  }

  /** Leaves the live rollout for good; its steps are kept. */
  leave(): void {
    this.#live?.abandon();
    this.#live = null;
    this.#wake();
  }

  /** Stops the rollout with the error of a fork that could not start. */
  fail(failure: unknown): void {
    this.#failure = failure;
  }

  async #step(live: LiveRollout): Promise<void> {
    const last = this.#steps.at(-1);
    if (last) await this.#observer.beforeStep(last);
    if (this.#live === live) live.step();
  }

  #received(events: readonly WorkerEvent[]): void {
    for (const { n, event } of events) {
      // A rollout that had to start again on a fresh tool source comes from its first event on.
      if (n < this.#steps.length) this.#restart(n);
      const before = this.#steps.at(-1)?.state ?? null;
      this.#steps.push({ n, event, state: follow(this.#observer.setting(), before, event) });
      if (event.type === 'rewarded') this.#live?.step();
    }
    this.#wake();
  }

  #restart(n: number): void {
    this.#steps = this.#steps.slice(0, n);
    this.#allowed = n;
    this.#observer.onRestart(n);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
