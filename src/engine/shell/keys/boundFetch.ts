import { Fault } from '../files/fault.ts';

/** The longest body of an answer in bytes, decompressed. The answer of a model or a tool takes much less. */
export const longestAnswer = 64_000_000;

/** An answer is longer than it may be. */
export class AnswerTooLong extends Fault {
  readonly longest: number;

  constructor(origin: string, longest = longestAnswer) {
    const message = `${origin} answered with more than ${longest / 1e6} MB. Rehearsal stopped reading. Check the address, or let the server answer with less`;
    super({ who: 'infrastructure', code: 'http/too-long', message });
    this.longest = longest;
  }
}

/** More redirects than any server needs. */
const mostRedirects = 5;

/**
 * A `fetch` that follows redirects within an origin alone. One to another origin is answered as it is: nothing that was
 * sent, neither a key in a header nor the body, is sent there. Reading a body stops at `longest` bytes with `AnswerTooLong`.
 * It has no time limit except the caller's signal.
 */
export async function boundFetch(
  url: string | URL | Request,
  init?: RequestInit,
  longest = longestAnswer,
): Promise<Response> {
  let address = new URL(url instanceof Request ? url.url : url);
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(redirects === 0 && url instanceof Request ? url : address, {
      ...init,
      redirect: 'manual',
      dispatcher: withoutTimeLimits(),
    } as RequestInit);
    const next = response.headers.get('location');
    const keepsMethod = [307, 308].includes(response.status);
    const isRedirect = keepsMethod || [301, 302, 303].includes(response.status);
    if (!isRedirect || next === null || redirects === mostRedirects || !URL.canParse(next, address))
      return bounded(response, address.origin, longest);
    const target = new URL(next, address);
    const isRead = init?.method === undefined || init.method.toUpperCase() === 'GET';
    const repeats = isRead || (keepsMethod && (typeof init.body === 'string' || !init.body));
    if (target.origin !== address.origin || !repeats) return bounded(response, address.origin, longest);
    await response.body?.cancel();
    address = target;
  }
}

/** The response with a body that fails once it is too long. */
function bounded(response: Response, origin: string, longest: number): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  let length = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength;
        if (length > longest) controller.error(new AnswerTooLong(origin, longest));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { status, statusText, headers });
}

type DispatcherClass = new (options: object) => object;

/** A dispatcher without time limits of each class; undefined for a class that cannot make one. */
const patient = new Map<DispatcherClass, object | undefined>();

/**
 * Returns a dispatcher without time limits, of the class that this process uses, which is another class if Node is
 * configured to use proxies. The dispatchers of Node's `fetch` give up after five minutes without a header or a part of
 * the body. Node has no import for their class, but keeps an instance under a symbol of undici's. Returns undefined,
 * which means that instance, if its class takes other arguments.
 */
function withoutTimeLimits(): object | undefined {
  // The first use of a global of `fetch` makes Node load undici.
  new Response();
  const used = (globalThis as Record<symbol, object | undefined>)[Symbol.for('undici.globalDispatcher.1')];
  const Dispatcher = used?.constructor as DispatcherClass | undefined;
  if (!Dispatcher) return undefined;
  if (!patient.has(Dispatcher)) patient.set(Dispatcher, dispatcherOf(Dispatcher));
  return patient.get(Dispatcher);
}

function dispatcherOf(Dispatcher: DispatcherClass): object | undefined {
  try {
    return new Dispatcher({ headersTimeout: 0, bodyTimeout: 0 });
  } catch {
    return undefined;
  }
}
