import { type Mark, readMark } from './laneMarker.ts';

const pollMs = 100;

/**
 * Looks at a lane's marker a few times a second. A call that keeps the lane busy longer than its tool declares, or a
 * lane whose event loop has stopped turning, is hung. Time in which this process itself did not run does not count.
 */
export class Watchdog {
  /** How long the event loop of a lane may stand still outside of a marked call. */
  static readonly silenceMs = 10_000;

  readonly #timer: NodeJS.Timeout;
  #last: Mark | null = null;
  #insideMs = 0;
  #silentMs = 0;

  constructor(marker: number, onHung: (mark: Mark) => void) {
    let before = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const passed = Math.min(now - before, 2 * pollMs);
      before = now;
      const mark = readMark(marker);
      if (!this.#isHung(mark, passed)) return;
      this.stop();
      onHung(mark);
    }, pollMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #isHung(mark: Mark, passed: number): boolean {
    const last = this.#last;
    this.#last = mark;
    this.#insideMs = mark.place === 'inside' && last?.call === mark.call ? this.#insideMs + passed : 0;
    this.#silentMs = last?.beats === mark.beats ? this.#silentMs + passed : 0;
    const isStanding = this.#silentMs >= Math.max(Watchdog.silenceMs, mark.timeoutMs);
    return (mark.place === 'inside' && this.#insideMs >= mark.timeoutMs) || (mark.place !== 'inside' && isStanding);
  }
}
