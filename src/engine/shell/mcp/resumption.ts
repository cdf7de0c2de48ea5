import type { RequestId } from '@modelcontextprotocol/sdk/types.js';

/** Limits for resuming a stream that has ended. The server's `retry` replaces the delays. */
export const resumption = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};

/** The requests whose event stream has no answer yet. */
export class OpenStreams {
  /** The number of consecutive failures to resume the stream of each request. */
  readonly #misses = new Map<unknown, number>();
  readonly #onCut: (request: RequestId, error?: Error) => void;

  /** @param onCut called when the client would wait in vain for the answer of a request */
  constructor(onCut: (request: RequestId, error?: Error) => void) {
    this.#onCut = onCut;
  }

  has(request: RequestId): boolean {
    return this.#misses.has(request);
  }

  /** Notes that the stream of a request has begun, or was resumed. */
  open(request: RequestId): void {
    this.#misses.set(request, 0);
  }

  /** Notes that a request has its answer, or was cancelled. */
  settle(request: unknown): void {
    this.#misses.delete(request);
  }

  /** Notes that a stream could not be resumed. The client tries again. */
  miss(request: RequestId): void {
    const misses = (this.#misses.get(request) ?? 0) + 1;
    this.#misses.set(request, misses);
    if (misses >= resumption.maxRetries) this.cut(request);
  }

  /** Ends a request whose stream cannot be resumed, or is too long. */
  cut(request: RequestId, error?: Error): void {
    if (this.#misses.delete(request)) this.#onCut(request, error);
  }
}

type ResumedStream = {
  /** Undefined for the stream of the server itself. */
  readonly request: number | undefined;
  /** The id of the last event, as the server gave it. */
  readonly after: string;
  readonly headers: Headers;
};

/** Returns the id of an event with the request whose stream it is in; without one for the stream of the server itself. */
export const markedEventId = (request: RequestId | undefined, eventId: string) => `${request ?? ''}/${eventId}`;

/** Returns the stream that a GET resumes, or undefined. */
export function resumedStream({ method, headers: given }: RequestInit): ResumedStream | undefined {
  const headers = new Headers(given);
  const marked = method === 'GET' ? headers.get('last-event-id') : null;
  if (marked === null) return undefined;
  const [request = '', ...parts] = marked.split('/');
  const after = parts.join('/');
  headers.set('last-event-id', after);
  return { request: request === '' ? undefined : Number(request), after, headers };
}
