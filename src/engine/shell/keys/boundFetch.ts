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
    });
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
