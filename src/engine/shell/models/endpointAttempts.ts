import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { Fault } from '../files/fault.ts';
import { pauseAfter } from '../processes/clock.ts';
import { type Attempt, attempt, type StreamedAnswer } from './endpointAttempt.ts';
import { defaultTimeoutMs, isQuota, type Waited } from './endpointFaults.ts';
import type { EndpointLimiter } from './endpointLimiter.ts';
import { requestedWait } from './rateLimitHeaders.ts';

/** An endpoint is asked once more for an answer that it could not give; after `waitMs` where it limits the rate. */
export type Retry = {
  readonly attempt: number;
  readonly of: number;
  readonly reason: string;
  readonly waitMs?: number;
};
export type OnRetry = (retry: Retry) => void;

/** The total time that a request may wait for an endpoint that limits the rate, in ms. */
const defaultRateLimitMs = 300_000;
const mostRetries = 3;
/** Of these, attempts that may follow one that was silent for the seat's whole time. */
const mostSilentRetries = 1;
/** The pauses between attempts that failed for another reason than a limit. */
const pausesMs = { first: 500, longest: 8000 };

/** The attempts at one request. Each has the same time for its whole answer, and each further one is reported. */
export class Attempts {
  readonly #timeoutMs: number;
  readonly #rateLimitMs: number;
  readonly #limiter: EndpointLimiter;
  readonly #onRetry: OnRetry;
  readonly #over = new AbortController();
  #made = 0;
  #silent = 0;
  #read: StreamedAnswer | null = null;
  #failure: Attempt['failure'] = null;
  #waited: Waited = { waitedMs: 0, askedMs: null };

  constructor(seat: ModelSeat, limiter: EndpointLimiter, onRetry: OnRetry = () => undefined) {
    this.#timeoutMs = seat.timeoutMs ?? defaultTimeoutMs;
    this.#rateLimitMs = seat.rateLimitMs ?? defaultRateLimitMs;
    this.#limiter = limiter;
    this.#onRetry = onRetry;
  }

  /** Aborts when no further attempt makes sense. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Returns the content of the last answer with a successful status. */
  get read(): StreamedAnswer | null {
    return this.#read;
  }

  /** Returns the number of attempts after the first. */
  get retries(): number {
    return Math.max(0, this.#made - 1);
  }

  /** Returns the time that the request waited because its endpoint asked for it. */
  get waited(): Waited {
    return this.#waited;
  }

  /** Returns the reason why the last attempt has no response with its own status. */
  get failure(): Attempt['failure'] {
    return this.#failure;
  }

  /**
   * Makes attempts until one is an answer, or no further one makes sense. An answer that is an error has the status of an
   * error, whatever its endpoint sent.
   */
  readonly fetch: typeof fetch = async (url, init) => {
    const signal = init?.signal ?? new AbortController().signal;
    let waitedMs = 0;
    // Attempts that failed otherwise than by a limit that is waited for.
    let failures = 0;
    for (;;) {
      const turn = await this.#limiter.enter(signal, this.#rateLimitMs - waitedMs);
      if (turn.type === 'refused') {
        this.#failure = null;
        this.#waited = { waitedMs: waitedMs + turn.pausedMs, askedMs: turn.namedMs };
        return turn.answer ?? new Response(null, { status: 429 });
      }
      waitedMs += turn.pausedMs;
      const made = await this.#attempt(url, init);
      const refusal = made.response && (await refusalIn(made.response));
      if (made.response && !refusal) {
        if (made.response.ok) turn.answered();
        else turn.failed();
        return made.response;
      }
      if (!refusal?.isTimed) failures += 1;
      if (!made.response && (signal.aborted || failures > mostRetries || made.error instanceof Fault)) {
        turn.failed();
        throw made.error;
      }
      const namedMs = refusal?.waitMs ?? 0;
      const isTooLong = waitedMs + namedMs > this.#rateLimitMs;
      const isOver = isTooLong || failures > mostRetries;
      this.#waited = { waitedMs, askedMs: isTooLong ? namedMs : null };
      if (made.response && refusal?.isLimit) {
        const { ms, isNew } = turn.refused(refusal.waitMs, made.response.clone());
        if (isOver) return made.response;
        if (refusal.isTimed) {
          if (isNew) this.#onRetry({ attempt: this.#made, of: this.#made, reason: made.reason, waitMs: ms });
          continue;
        }
      } else {
        turn.failed();
        if (made.response && isOver) return made.response;
        waitedMs += namedMs;
        await this.#limiter.clock.sleep(refusal?.waitMs ?? pauseAfter(failures, pausesMs), signal);
      }
      const isSilent = !made.response && made.isSilent;
      this.#onRetry({ attempt: failures, of: isSilent ? failures : mostRetries, reason: made.reason });
    }
  };

  async #attempt(url: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Attempt> {
    this.#made += 1;
    const made = await attempt(url, init, this.#timeoutMs, () => {
      this.#silent += 1;
      if (this.#silent > mostSilentRetries) this.#over.abort();
    });
    if (made.response) this.#read = made.read;
    // An answer that is too long is too long again.
    else if (made.error instanceof Fault) this.#over.abort();
    const isLast = !made.response && made.isSilent && this.#silent > mostSilentRetries;
    this.#failure = made.failure ?? (isLast ? { type: 'late' } : null);
    return made;
  }
}

type Refusal = {
  /** Whether all requests to the endpoint should pause. */
  readonly isLimit: boolean;
  /** Whether it is asked again until a time is over, and not a number of times. */
  readonly isTimed: boolean;
  readonly waitMs: number | null;
};

/** Groq refuses its own model's call so, which is then sampled again. */
const lostCall = 'tool_use_failed';

/**
 * llama.cpp and Hugging Face answer 503 until the model is in memory, Gemini and DeepSeek while it is overloaded; Groq's 498
 * says that no capacity is free.
 */
const busy = /\b(?:loading|warming up|starting up|overloaded)\b/i;

/** Servers that check requests with pydantic may answer 500 to one that does not fit, such as llama-cpp-python. */
const misfit = /'loc': \('body'/;

/** Returns why an answer is asked for again, or null for one that counts. An endpoint may say so itself. */
async function refusalIn(response: Response): Promise<Refusal | null> {
  const { status, headers } = response;
  if (response.ok) return null;
  const own = headers.get('x-should-retry');
  if (own === 'false') return null;
  const body = await response.clone().text();
  const isPassing =
    [408, 409, 429, 498].includes(status) ||
    (status >= 500 && !misfit.test(body)) ||
    (status === 400 && body.includes(lostCall));
  if (isQuota(status, body) || (own !== 'true' && !isPassing)) return null;
  return {
    isLimit: [429, 498, 503, 529].includes(status),
    isTimed: [429, 498, 529].includes(status) || (status === 503 && busy.test(body)),
    waitMs: requestedWait(headers, body, Date.now()),
  };
}
