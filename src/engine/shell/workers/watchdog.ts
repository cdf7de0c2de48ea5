import { readFileSync } from 'node:fs';
import { isOverfull, type Mark, readMark } from './workerMarker.ts';

const pollMs = 100;
/** A blocked worker is asked for its processor time from here on. */
const suspectMs = 500;
/** Of the clock in which Linux reports processor times, whatever the kernel's own is (`USER_HZ`). */
const ticksPerSecond = 100;

/**
 * Looks at a worker's marker a few times a second. A call that keeps the worker busy longer than its tool declares, or a
 * worker whose event loop has stopped turning, is hung. Time in which this process itself did not run does not count.
 */
export class Watchdog {
  /**
   * The longest time that the event loop of a worker may be blocked outside of a marked call, in ms. It is measured in
   * the worker's own processor time, because a worker that gets none on a busy machine is not hung.
   */
  static readonly silenceMs = 10_000;
  /** The same limit by the clock, in ms, for a machine that does not report processor times or gives the worker none. */
  static readonly longestSilenceMs = 60_000;

  readonly #timer: NodeJS.Timeout;
  #last: Mark | null = null;
  #insideMs = 0;
  #silentMs = 0;
  #cpuMsBefore: number | null = null;
  #isResting = false;
  readonly #cpuMs: () => number | null;
  readonly #limitMs: number;

  /**
   * @param pid tells the worker's process, which is known some time after its sandbox was started
   * @param onOverfull is called once the marker has more bytes than a worker writes
   * @param limitMs replaces `silenceMs`
   */
  constructor(
    marker: number,
    pid: () => number | undefined,
    onHung: (mark: Mark) => void,
    onOverfull: () => void,
    limitMs = Watchdog.silenceMs,
  ) {
    this.#limitMs = limitMs;
    this.#cpuMs = () => {
      const known = pid();
      return known === undefined ? null : cpuMsOf(known);
    };
    let before = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const passed = Math.min(now - before, 2 * pollMs);
      before = now;
      if (isOverfull(marker)) {
        this.stop();
        onOverfull();
        return;
      }
      if (this.#isResting) return;
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

  /** Looks away, as long as a person may be stepping through a call. Afterwards every time is counted again. */
  rest(isResting: boolean): void {
    this.#isResting = isResting;
    this.#last = null;
    this.#insideMs = 0;
    this.#silentMs = 0;
  }

  #isHung(mark: Mark, passed: number): boolean {
    const last = this.#last;
    this.#last = mark;
    this.#insideMs = mark.phase === 'inside' && last?.call === mark.call ? this.#insideMs + passed : 0;
    this.#silentMs = last?.beats === mark.beats ? this.#silentMs + passed : 0;
    if (mark.phase === 'inside') return this.#insideMs >= mark.timeoutMs;
    return this.#isStanding(Math.max(this.#limitMs, mark.timeoutMs));
  }

  #isStanding(limitMs: number): boolean {
    if (this.#silentMs < suspectMs) {
      this.#cpuMsBefore = null;
      return false;
    }
    this.#cpuMsBefore ??= this.#cpuMs();
    if (this.#silentMs < limitMs) return false;
    if (this.#silentMs >= Math.max(Watchdog.longestSilenceMs, limitMs)) return true;
    const used = this.#cpuMs();
    return used !== null && this.#cpuMsBefore !== null && used - this.#cpuMsBefore >= limitMs - 2 * suspectMs;
  }
}

/** Returns the processor time that a process has used so far, in ms; null where the machine does not report it. */
function cpuMsOf(pid: number): number | null {
  if (process.platform !== 'linux') return null;
  try {
    // proc(5): the name, in brackets, may have blanks in it; user and system time are the 14th and 15th field.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? (ticks * 1000) / ticksPerSecond : null;
  } catch {
    return null;
  }
}
