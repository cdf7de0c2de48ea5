import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import * as z from 'zod';
import { jsonOf } from '../../core/json.ts';
import { boundFetch } from '../boundFetch.ts';
import { Fault } from '../fault.ts';
import { SessionLost } from './errors.ts';
import { readMessage } from './message.ts';

/**
 * Returns a `fetch` for the SDK's transport over HTTP. It has no time limit of its own, since every request has the one
 * that is declared for it. An error that a server answers with an HTTP status is delivered like any other answer. A
 * request of a session rejects with `SessionLost` where the answer is 404, as MCP has it.
 * @param onCut is called when the stream of a posted request ends without an answer and cannot be resumed, or is too
 *   long: the client would wait for its time limit
 */
export function mcpFetch(onCut: (error?: Error) => void): FetchLike {
  return async (url, init) => {
    // The transport's own signal has aborted where its client closed it because the handshake failed.
    const ownSignal = init?.method === 'DELETE' ? { signal: AbortSignal.timeout(endSessionMs) } : {};
    const response = await boundFetch(url, { ...init, ...ownSignal, dispatcher: withoutTimeLimits() } as RequestInit);
    const type = response.headers.get('content-type') ?? '';
    if (init?.method !== 'POST' || !response.body) return response;
    if (!response.ok) return refused(response, init);
    if (type.includes('application/json')) return answered(response, await response.text(), init);
    if (!type.includes('text/event-stream')) return response;
    return withBody(response, watched(response.body, onCut, requestIdOf(init)));
  };
}

/** How long a server may take to end a session. It is not asked again. */
const endSessionMs = 2000;

/** The dispatchers of Node's `fetch` give up after five minutes without a header or a part of the body. */
let patient: object | undefined;

/**
 * Returns a dispatcher without time limits, of the class that this process uses: the one for proxies where it has been
 * told to use them. Node has no import for that class, but keeps an instance under a symbol of undici's.
 */
function withoutTimeLimits(): object | undefined {
  // The first use of a global of `fetch` makes Node load undici.
  new Response();
  const used = (globalThis as Record<symbol, object | undefined>)[Symbol.for('undici.globalDispatcher.1')];
  const Dispatcher = used?.constructor as (new (options: object) => object) | undefined;
  if (!Dispatcher) return undefined;
  patient ??= new Dispatcher({ headersTimeout: 0, bodyTimeout: 0 });
  return patient;
}

const requestSchema = z.looseObject({ id: z.union([z.number(), z.string()]).optional() });

function requestIdOf({ body }: RequestInit): number | string | undefined {
  const read = requestSchema.safeParse(typeof body === 'string' ? jsonOf(body) : undefined);
  return read.success ? read.data.id : undefined;
}

/** Returns the answer in a response with an HTTP status of an error, else the response as it is. */
async function refused(response: Response, init: RequestInit): Promise<Response> {
  // A person has to change something for these, so they are not for the agent.
  if (response.status === 401 || response.status === 403) return response;
  const text = await response.text();
  if (response.status === 404 && new Headers(init.headers).has('mcp-session-id')) throw new SessionLost(text);
  return isMessage(text) ? answered(response, text, init) : withBody(response, text);
}

const messageSchema = z.looseObject({ jsonrpc: z.literal('2.0') });

/** Returns whether a text is a message of MCP. A gateway writes errors of its own as JSON too, and no tool has run then. */
const isMessage = (text: string) => messageSchema.safeParse(jsonOf(text)).success;

/** Returns the response of a posted request with its one answer as the SDK reads it. */
function answered(response: Response, text: string, init: RequestInit): Response {
  const id = requestIdOf(init);
  if (id === undefined || Array.isArray(jsonOf(text))) return withBody(response, text);
  try {
    return Response.json(readMessage(text, id), { headers: sessionOf(response.headers) });
  } catch {
    return withBody(response, text);
  }
}

function sessionOf(headers: Headers): Record<string, string> {
  const session = headers.get('mcp-session-id');
  return session === null ? {} : { 'mcp-session-id': session };
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array> | string): Response {
  return new Response(body, { status, statusText, headers });
}

/**
 * Returns the event stream of a posted request with its answer as the SDK reads it. An event's data may have several
 * lines; JSON text is one of them.
 */
function watched(
  body: ReadableStream<Uint8Array>,
  onCut: (error?: Error) => void,
  id: number | string | undefined,
): ReadableStream<Uint8Array> {
  let isAnswered = false;
  let isResumable = false;
  /** The parts of a line that has not ended. */
  let pieces: string[] = [];
  const read = (line: string): string => {
    if (line.startsWith('id:')) isResumable = true;
    if (!line.startsWith('data:')) return line;
    try {
      const message = readMessage(line.slice('data:'.length), id);
      if ('result' in message || 'error' in message) isAnswered = true;
      return `data: ${JSON.stringify(message)}`;
    } catch {
      return line;
    }
  };
  const lines = new TransformStream<string, string>({
    transform: (text, controller) => {
      const end = text.lastIndexOf('\n');
      if (end < 0) {
        pieces.push(text);
        return;
      }
      const whole = pieces.join('') + text.slice(0, end);
      pieces = [text.slice(end + 1)];
      controller.enqueue(`${whole.split('\n').map(read).join('\n')}\n`);
    },
    flush: (controller) => controller.enqueue(read(pieces.join(''))),
  });
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(lines)
    .pipeThrough(new TextEncoderStream())
    .getReader();
  const ended = () => {
    if (!isAnswered && !isResumable) onCut();
  };
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
        ended();
      } catch (error) {
        controller.error(error);
        if (error instanceof Fault) onCut(error);
        else ended();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
