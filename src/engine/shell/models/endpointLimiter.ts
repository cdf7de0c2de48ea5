import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { type Clock, pauseAfter, systemClock } from '../processes/clock.ts';
import { unlessAborted } from '../processes/unlessAborted.ts';
import { isSecretHeader } from './modelSettings.ts';

/** The pause after a refusal that names no time; it doubles with each refusal in a row. */
const pausesMs = { first: 1000, longest: 30_000 };
/** A pause that the endpoint names ends then, whatever it says: one request asks whether it still holds. */
const longestNamedPauseMs = 600_000;

/**
 * Limits the requests with one key to one origin, since providers count requests by key. Seats with different keys at
 * one origin do not wait for each other. A key is the API key or a header with a secret.
 * Every refusal pauses all of them and halves how many run at once; every answer
 * raises that by one for each round of requests (additive increase, multiplicative decrease).
 */
export class EndpointLimiter {
  readonly #clock: Clock;
  #running = 0;
  #limit = Number.POSITIVE_INFINITY;
  /** Refusals in a row, each after its own pause. */
  #refusals = 0;
  /** Counts pauses: refusals of requests that began before a pause belong to it. */
  #epoch = 0;
  #pause: CommonPause | null = null;
  /** When the last pause ends or ended. */
  #pausedUntil = 0;
  readonly #waiting = new Set<() => void>();

  constructor(clock = systemClock) {
    this.#clock = clock;
  }

  /** Returns how many requests may run at once. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether no request runs or waits and recent refusals show no limit. */
  get isIdle(): boolean {
    const isKnown = this.#limit < Number.POSITIVE_INFINITY && this.#clock.now() < this.#pausedUntil + rememberedMs;
    return this.#running === 0 && this.#waiting.size === 0 && !isKnown;
  }

  get clock(): Clock {
    return this.#clock;
  }

  /**
   * Waits for a turn, and returns what reports the result. Returns the refusal that led to a pause if the turn would come
   * only after more than `mostMs` of pauses. Rejects when the signal aborts.
   */
  async enter(signal: AbortSignal, mostMs = Number.POSITIVE_INFINITY): Promise<Turn | Refused> {
    let pausedMs = 0;
    for (;;) {
      signal.throwIfAborted();
      const pause = this.#pause;
      if (pause) {
        const ms = Math.max(0, Math.ceil(pause.until - this.#clock.now()));
        if (pausedMs + ms > mostMs) {
          const namedMs = pause.namedUntil === null ? null : Math.ceil(pause.namedUntil - this.#clock.now());
          return { type: 'refused', answer: pause.answer?.clone(), pausedMs, namedMs };
        }
        pausedMs += ms;
        await this.#clock.sleep(ms, signal);
        if (this.#pause === pause) this.#pause = null;
      } else if (this.#running < Math.floor(this.#limit)) break;
      else await unlessAborted(new Promise<void>((resolve) => this.#waiting.add(resolve)), signal);
    }
    this.#running += 1;
    const epoch = this.#epoch;
    return {
      type: 'turn',
      pausedMs,
      answered: () => {
        this.#refusals = 0;
        this.#limit += 1 / this.#limit;
        this.#leave();
      },
      failed: () => this.#leave(),
      refused: (waitMs, answer) => {
        const pause = this.#refuse(epoch, waitMs, answer);
        this.#leave();
        return pause;
      },
    };
  }

  #leave(): void {
    this.#running -= 1;
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  #refuse(epoch: number, waitMs: number | null, answer: Response | undefined): Pause {
    const isNew = epoch === this.#epoch;
    if (isNew) {
      this.#epoch += 1;
      this.#limit = Math.max(1, Math.floor(Math.min(this.#limit, this.#running) / 2));
      this.#refusals += 1;
    }
    const ms = waitMs ?? pauseAfter(this.#refusals, pausesMs);
    const until = this.#clock.now() + Math.min(ms, longestNamedPauseMs);
    if (isNew || (waitMs !== null && until > (this.#pause?.until ?? 0))) {
      this.#pause = { until, namedUntil: waitMs === null ? null : this.#clock.now() + waitMs, answer };
      this.#pausedUntil = until;
    }
    return { ms, isNew };
  }
}

/** One request that has its turn: exactly one of these is called, once. */
type Turn = {
  readonly type: 'turn';
  /** The time that it spent in pauses, in ms. */
  readonly pausedMs: number;
  readonly answered: () => void;
  /** It failed for a reason that says nothing about limits. */
  readonly failed: () => void;
  /**
   * The endpoint refused it for now. Returns the pause that follows.
   * @param answer the refusal, not read yet, for requests that do not wait that long
   */
  readonly refused: (waitMs: number | null, answer?: Response) => Pause;
};

/** A request whose turn would come too late, with the answer that says why. */
type Refused = {
  readonly type: 'refused';
  readonly answer: Response | undefined;
  /** The time that it spent in pauses before, in ms. */
  readonly pausedMs: number;
  /** The time that the endpoint still asks for, in ms; null where it names none. */
  readonly namedMs: number | null;
};

type CommonPause = {
  readonly until: number;
  /** The end that the endpoint names, which may be later. */
  readonly namedUntil: number | null;
  readonly answer: Response | undefined;
};

/** A pause of all requests to an endpoint; `isNew` for the first refusal that leads to it. */
type Pause = { readonly ms: number; readonly isNew: boolean };

/** The time that a limiter is kept after its last pause, in ms. */
const rememberedMs = 600_000;

const limiters = new Map<string, EndpointLimiter>();
/** Above this number, limiters that are idle are forgotten: a trainer lends each rollout its own key. */
const manyLimiters = 100;

/** Returns the limiter that all requests of this process with the same key to one origin share. */
export function limiterOf({ baseUrl, headers = {} }: Pick<ModelSeat, 'baseUrl' | 'headers'>, key: string) {
  const { origin } = new URL(baseUrl);
  const secrets = Object.entries(headers).filter(([name]) => isSecretHeader(name));
  const name = JSON.stringify([origin, key, ...secrets.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
  const known = limiters.get(name);
  if (known) return known;
  if (limiters.size >= manyLimiters) for (const [each, { isIdle }] of limiters) if (isIdle) limiters.delete(each);
  const made = new EndpointLimiter();
  limiters.set(name, made);
  return made;
}
