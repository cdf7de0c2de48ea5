import type { Tool } from '../../core/domain/tool.ts';
import { Fault } from '../files/fault.ts';
import { maySucceedLater } from '../mcp/problems.ts';
import { type Clock, pauseAfter, systemClock } from '../processes/clock.ts';
import type { SourceResult } from './toolSource.ts';

const isTemporary = (result: unknown) => (result as Pick<SourceResult, 'isTemporary'> | null)?.isTemporary === true;

const pausesMs = { first: 100, longest: 5000 };

export type Made<T> = { readonly result: T; readonly attempts: number };

/** Makes calls as their tools declare: within the rate limit over all rollouts, and again where a repeat is harmless. */
export class ToolCalls {
  readonly #limits = new Map<string, RateLimit>();
  readonly #clock: Clock;

  constructor(clock = systemClock) {
    this.#clock = clock;
  }

  async make<T>(tool: Tool, signal: AbortSignal, attempt: () => Promise<T>): Promise<Made<T>> {
    const most = 1 + (tool.idempotent ? (tool.retries ?? 0) : 0);
    for (let attempts = 1; ; attempts++) {
      await this.#permission(tool, signal);
      const isLast = () => attempts >= most || signal.aborted;
      try {
        const result = await attempt();
        if (!isTemporary(result) || isLast()) return { result, attempts };
      } catch (error) {
        const isPassing = error instanceof Fault && maySucceedLater(error.failure.code);
        if (!isPassing || isLast()) throw error;
      }
      await this.#clock.sleep(pauseAfter(attempts, pausesMs), signal);
    }
  }

  #permission({ name, rateLimit }: Tool, signal: AbortSignal): Promise<void> {
    if (!rateLimit) return Promise.resolve();
    const limit = this.#limits.get(name) ?? new RateLimit(rateLimit.calls, rateLimit.perMs, this.#clock);
    this.#limits.set(name, limit);
    return limit.take(signal);
  }
}

/** At most so many permissions in any span of so many milliseconds, first come, first served. */
class RateLimit {
  readonly #perMs: number;
  readonly #clock: Clock;
  readonly #calls: number;
  /** When each of the last permissions was given, or will be. It grows with the calls, since a domain chooses their number. */
  readonly #given: number[] = [];
  #next = 0;
  /** Ends with the wait of anyone who asked last. */
  #last: Promise<void> = Promise.resolve();

  constructor(calls: number, perMs: number, clock: Clock) {
    this.#perMs = perMs;
    this.#clock = clock;
    this.#calls = calls;
  }

  async take(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const at = Math.max(now, (this.#given[this.#next] ?? Number.NEGATIVE_INFINITY) + this.#perMs);
    this.#given[this.#next] = at;
    this.#next = (this.#next + 1) % this.#calls;
    if (at <= now) return;
    // Timers of one time may end in any order.
    const before = this.#last;
    const own = this.#clock.sleep(at - now, signal).then(() => before);
    this.#last = own.catch(() => undefined);
    await own;
  }
}
