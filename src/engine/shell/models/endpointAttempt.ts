import { jsonOf } from '../../core/values/json.ts';
import { Fault } from '../files/fault.ts';
import { boundFetch } from '../keys/boundFetch.ts';
import { type ReadAnswer, readAnswer } from './chatAnswer.ts';
import type { EndpointFailure } from './endpointFaults.ts';
import { errorIn, unknownStatus } from './providerError.ts';
import { completionIn, isStream } from './streamedAnswer.ts';

/** The content of an answer with a successful status. */
export type StreamedAnswer = ReadAnswer & { readonly isStreamed: boolean };

/** The result of one attempt at a request. */
export type Attempt = {
  /** The reason why another may follow, in words. */
  readonly reason: string;
  /** The reason why it has no response with its own status. */
  readonly failure: Fault | EndpointFailure | null;
} & (
  | { readonly response: Response; readonly read: StreamedAnswer | null }
  | { readonly response: null; readonly error: unknown; readonly isSilent: boolean }
);

/**
 * Sends a request once. An answer that is an error gets the status of an error, whatever its endpoint sent.
 * @param timeoutMs the time for the whole answer
 * @param onSilence is called when that time is over
 */
export async function attempt(
  url: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  timeoutMs: number,
  onSilence: () => void,
): Promise<Attempt> {
  const timed = new AbortController();
  const timer = setTimeout(() => {
    onSilence();
    timed.abort();
  }, timeoutMs);
  const signals = [timed.signal, ...(init?.signal ? [init.signal] : [])];
  let hasBegun = false;
  try {
    const response = await boundFetch(url, { ...init, signal: AbortSignal.any(signals) });
    hasBegun = true;
    const text = await response.text();
    const isStreamed = response.ok && isStream(text);
    const body = isStreamed ? completionIn(text) : text;
    if (body === null) throw new TypeError('the stream ended before its answer');
    const read = response.ok ? { ...readAnswer(body), isStreamed } : null;
    if (read?.type !== 'unreadable') {
      const reason = read ? 'its answer is an error' : `it answered ${response.status}`;
      return { response: responseOf(response, body, read), read, reason, failure: null };
    }
    const unread = new Response(null, { status: unknownStatus, headers: response.headers });
    const failure = { type: 'unreadable', problem: read.problem } as const;
    return { response: unread, read, reason: 'its answer cannot be read', failure };
  } catch (error) {
    const isSilent = timed.signal.aborted;
    return { response: null, error, isSilent, ...interruption(error, hasBegun, isSilent ? timeoutMs : null) };
  } finally {
    clearTimeout(timer);
  }
}

/** @param silentMs the time for the whole answer, where it is over */
function interruption(error: unknown, hasBegun: boolean, silentMs: number | null): Pick<Attempt, 'reason' | 'failure'> {
  const failure = error instanceof Fault ? error : hasBegun && silentMs === null ? ({ type: 'cut' } as const) : null;
  if (silentMs !== null) return { failure, reason: `it did not answer within ${silentMs / 1000} s` };
  return { failure, reason: hasBegun ? 'it broke off in the middle of its answer' : "it can't be reached" };
}

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
