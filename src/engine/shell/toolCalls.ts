import { setTimeout as delay } from 'node:timers/promises';
import type { Tool } from '../core/tool.ts';
import { Fault } from './fault.ts';

/** Failures after which the same call may work: of the way to a server, not of what it did. */
const passing = ['mcp/timeout', 'mcp/died', 'mcp/error', 'mcp/unreachable', 'mcp/session'];

const firstPauseMs = 100;
const longestPauseMs = 5000;

export type Made<T> = { readonly result: T; readonly attempts: number };

/** Makes calls as their tools declare it: no faster than the rate limit over all rollouts, again where it does no harm. */
export class ToolCalls {
  readonly #limits = new Map<string, RateLimit>();

  async make<T>(tool: Tool, signal: AbortSignal, attempt: () => Promise<T>): Promise<Made<T>> {
    const most = 1 + (tool.idempotent ? (tool.retries ?? 0) : 0);
    for (let attempts = 1; ; attempts++) {
      await this.#permission(tool, signal);
      try {
        return { result: await attempt(), attempts };
      } catch (error) {
        const isPassing = error instanceof Fault && passing.includes(error.failure.code);
        if (!isPassing || attempts >= most || signal.aborted) throw error;
        await delay(Math.min(firstPauseMs * 2 ** (attempts - 1), longestPauseMs), undefined, { signal });
      }
    }
  }

  #permission({ name, rateLimit }: Tool, signal: AbortSignal): Promise<void> {
    if (!rateLimit) return Promise.resolve();
    const limit = this.#limits.get(name) ?? new RateLimit(rateLimit.calls, rateLimit.perMs);
    this.#limits.set(name, limit);
    return limit.take(signal);
  }
}

/** At most so many permissions in any span of so many milliseconds, first come, first served. */
class RateLimit {
  readonly #perMs: number;
  /** When each of the last permissions was given, or will be. */
  readonly #given: number[];
  #next = 0;
  /** Ends with the wait of whoever asked last. */
  #last: Promise<void> = Promise.resolve();

  constructor(calls: number, perMs: number) {
    this.#perMs = perMs;
    this.#given = Array.from({ length: calls }, () => Number.NEGATIVE_INFINITY);
  }

  async take(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, (this.#given[this.#next] ?? 0) + this.#perMs);
    this.#given[this.#next] = at;
    this.#next = (this.#next + 1) % this.#given.length;
    if (at <= now) return;
    // Timers of one time may end in any order.
    const before = this.#last;
    const own = delay(at - now, undefined, { signal }).then(() => before);
    this.#last = own.catch(() => undefined);
    await own;
  }
}
