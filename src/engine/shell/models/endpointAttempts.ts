import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { jsonOf } from '../../core/values/json.ts';
import { Fault } from '../files/fault.ts';
import { boundFetch } from '../keys/boundFetch.ts';
import { pauseAfter } from '../processes/clock.ts';
import { type ReadAnswer, readAnswer } from './chatAnswer.ts';
import { defaultTimeoutMs, type EndpointFailure, isQuota, type Waited } from './endpointFaults.ts';
import type { EndpointLimiter } from './endpointLimiter.ts';
import { errorIn, unknownStatus } from './providerError.ts';
import { requestedWait } from './rateLimitHeaders.ts';
import { completionIn, isStream } from './streamedAnswer.ts';

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

/** The attempts at one request. */
export type Attempts = {
  /**
   * Makes attempts until one is an answer, or no further one makes sense. An answer that is an error has the status of an
   * error, whatever its endpoint sent.
   */
  readonly fetch: typeof fetch;
  /** Aborts when no further attempt makes sense. */
  readonly over: AbortSignal;
  /** Returns what the last answer with a successful status says, and whether it was streamed. */
  readonly read: () => (ReadAnswer & { readonly isStreamed: boolean }) | null;
  readonly retries: () => number;
  /** Returns how long the request waited at the endpoint's wish. */
  readonly waited: () => Waited;
  /** Returns why the last attempt has no response with its own status. */
  readonly failure: () => Fault | EndpointFailure | null;
};

/** Prepares attempts that each have the same time for their whole answer, and reports each further one. */
export function prepareAttempts(
  seat: ModelSeat,
  limiter: EndpointLimiter,
  onRetry: OnRetry = () => undefined,
): Attempts {
  const { timeoutMs = defaultTimeoutMs, rateLimitMs = defaultRateLimitMs } = seat;
  const over = new AbortController();
  let made = 0;
  let silent = 0;
  let wasSilent = false;
  let reason = '';
  let failure: Fault | EndpointFailure | null = null;
  let read: ReturnType<Attempts['read']> = null;
  let waited: Waited = { waitedMs: 0, askedMs: null };
  const attempt: typeof fetch = async (url, init) => {
    made += 1;
    wasSilent = false;
    const timed = new AbortController();
    const timer = setTimeout(() => {
      silent += 1;
      if (silent > mostSilentRetries) {
        failure = { type: 'late' };
        over.abort();
      }
      timed.abort();
    }, timeoutMs);
    const signals = [timed.signal, ...(init?.signal ? [init.signal] : [])];
    let hasBegun = false;
    try {
      failure = null;
      const response = await boundFetch(url, { ...init, signal: AbortSignal.any(signals) });
      hasBegun = true;
      const text = await response.text();
      const isStreamed = response.ok && isStream(text);
      const body = isStreamed ? completionIn(text) : text;
      if (body === null) throw new TypeError('the stream ended before its answer');
      read = response.ok ? { ...readAnswer(body), isStreamed } : null;
      reason = read ? 'its answer is an error' : `it answered ${response.status}`;
      if (read?.type !== 'unreadable') return responseOf(response, body, read);
      reason = 'its answer cannot be read';
      failure = { type: 'unreadable', problem: read.problem };
      return new Response(null, { status: unknownStatus, headers: response.headers });
    } catch (error) {
      wasSilent = timed.signal.aborted;
      // An answer that is too long is too long again.
      if (error instanceof Fault) {
        failure = error;
        over.abort();
      } else if (hasBegun && !wasSilent) failure = { type: 'cut' };
      if (wasSilent) reason = `it did not answer within ${timeoutMs / 1000} s`;
      else reason = hasBegun ? 'it broke off in the middle of its answer' : "it can't be reached";
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  const repeat: typeof fetch = async (url, init) => {
    const signal = init?.signal ?? new AbortController().signal;
    let waitedMs = 0;
    // Attempts that failed otherwise than by a limit that is waited for.
    let failures = 0;
    for (;;) {
      const turn = await limiter.enter(signal, rateLimitMs - waitedMs);
      if (turn.type === 'refused') {
        failure = null;
        waited = { waitedMs: waitedMs + turn.pausedMs, askedMs: turn.namedMs };
        return turn.answer ?? new Response(null, { status: 429 });
      }
      waitedMs += turn.pausedMs;
      const response = await attempt(url, init).catch((error: unknown) => {
        turn.failed();
        failures += 1;
        if (signal.aborted || failures > mostRetries || !isPassing(error)) throw error;
        return null;
      });
      const refusal = response && (await refusalIn(response));
      if (response && !refusal) {
        if (response.ok) turn.answered();
        else turn.failed();
        return response;
      }
      if (refusal && !refusal.isTimed) failures += 1;
      const namedMs = refusal?.waitMs ?? 0;
      const isTooLong = waitedMs + namedMs > rateLimitMs;
      const isOver = isTooLong || failures > mostRetries;
      waited = { waitedMs, askedMs: isTooLong ? namedMs : null };
      if (response && refusal?.isLimit) {
        const { ms, isNew } = turn.refused(refusal.waitMs, response.clone());
        if (isOver) return response;
        if (refusal.isTimed) {
          if (isNew) onRetry({ attempt: made, of: made, reason, waitMs: ms });
          continue;
        }
      } else {
        if (response) turn.failed();
        if (response && isOver) return response;
        waitedMs += namedMs;
        await limiter.clock.sleep(refusal?.waitMs ?? pauseAfter(failures, pausesMs), signal);
      }
      onRetry({ attempt: failures, of: wasSilent ? failures : mostRetries, reason });
    }
  };
  return {
    fetch: repeat,
    over: over.signal,
    read: () => read,
    retries: () => Math.max(0, made - 1),
    waited: () => waited,
    failure: () => failure,
  };
}

/** An error of the connection may pass; what we threw ourselves, such as an answer that is too long, does not. */
const isPassing = (error: unknown) => !(error instanceof Fault);

/** Returns a response whose body was read: an error in OpenAI's form, anything else as it came. */
function responseOf({ ok, status, statusText, headers }: Response, body: string, read: ReadAnswer | null): Response {
  if (ok && read?.type !== 'error') return new Response(body, { status: 200, headers });
  const error = read?.type === 'error' ? read.error : errorIn(jsonOf(body));
  const sent = error ? JSON.stringify({ error: { ...error.fields, message: error.message } }) : body;
  if (!ok) return new Response(sent === '' ? null : sent, { status, statusText, headers });
  const marked = new Headers(headers);
  marked.set(inAnswer, 'true');
  return new Response(sent, { status: error?.status ?? unknownStatus, headers: marked });
}

/** Our own header, on an error that came in an answer with a successful status. */
export const inAnswer = 'x-rehearsal-in-answer';

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
