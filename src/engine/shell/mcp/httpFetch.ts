import { STATUS_CODES } from 'node:http';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import * as z from 'zod';
import { finiteText, jsonOf } from '../../core/values/json.ts';
import { endsInsideObject } from '../../core/values/jsonInText.ts';
import { Fault } from '../files/fault.ts';
import { isPage, withoutPage } from '../files/htmlPage.ts';
import { boundFetch } from '../keys/boundFetch.ts';
import { redactedPart } from '../keys/secrets.ts';
import { Disconnected, OtherAnswer, PageAnswer, ServerError, UnaddressedRefusal, UnreadableAnswer } from './errors.ts';
import { concernsRequest, isAboutRights, meaningOfStatus } from './httpStatus.ts';
import { batchOf, isMessage, readMessage } from './message.ts';
import { requestNumber } from './numericId.ts';
import { markedEventId, OpenStreams, resumedStream } from './resumption.ts';

type FetchEvents = {
  /** Called with the session of each answer that names one, before its body is read. */
  readonly onSession: (id: string) => void;
  /**
   * Called when the stream of a request ends without its answer and cannot be resumed, and when it is too long: the client
   * would wait for its time limit.
   */
  readonly onCut: (request: RequestId, error?: Error) => void;
};

/**
 * Returns a `fetch` for the SDK's transport over HTTP. It has no own time limit, since every request has the one
 * that is declared for it. An error that a server answers with an HTTP status and the id of the request is delivered like
 * any other answer. Rejects with an `UnaddressedRefusal` where a JSON-RPC error names no request or another one, and where
 * a call is refused without one, and with `OtherAnswer` where the answer is that of another request. Where a call has
 * another body than a message, it rejects with an `UnreadableAnswer`, or with `Disconnected` for a message that breaks off.
 * What a server answers to a notification is not read, as MCP has no answer to it.
 */
export function mcpFetch({ onSession, onCut }: FetchEvents, maxMessageSize?: number): FetchLike {
  const streams = new OpenStreams(onCut);
  return async (url, init = {}) => {
    const isPost = init.method === 'POST';
    const posted = isPost ? requestOf(init) : {};
    if (posted.method === 'notifications/cancelled') streams.settle(posted.params?.requestId);
    const resumed = resumedStream(init);
    const request = posted.id ?? resumed?.request;
    // The client also resumes the stream of a request that was cancelled or that has an error as its answer.
    if (resumed && request !== undefined && !streams.has(request)) return new Response(null, { status: 405 });
    // The transport's own signal has aborted where its client closed it because the handshake failed.
    const signal = init.method === 'DELETE' ? AbortSignal.timeout(endSessionMs) : (init.signal ?? null);
    const own = { ...init, ...(resumed ? { headers: resumed.headers } : {}), signal };
    const response = await boundFetch(url, own, maxMessageSize).catch((error: unknown) => {
      if (resumed && request !== undefined) streams.miss(request);
      throw error;
    });
    const type = response.headers.get('content-type') ?? '';
    const session = response.headers.get('mcp-session-id');
    if (session !== null) onSession(session);
    if (resumed && request !== undefined && !response.ok) streams.cut(request);
    if (isPost && posted.id === undefined) {
      await response.body?.cancel();
      return new Response(null, { status: response.ok ? response.status : 204, headers: sessionOf(response.headers) });
    }
    const isCall = posted.method === 'tools/call';
    if ((!response.body && !isCall) || (!isPost && !response.ok)) return response;
    if (!response.ok) return readRefusal(response, posted);
    const isStream = type.includes('text/event-stream');
    const isAccepted = isPost && response.status === 202;
    if (isPost && !isStream) {
      const text = finiteText(await response.text());
      const isAnswer = isAccepted || type.includes('application/json') || isMessage(text);
      const messages = isAnswer ? answersIn(text, posted.id) : null;
      const ids = messages?.flatMap(idOfAnswer) ?? [];
      if (messages && !ids.some((id) => requestNumber(id) === posted.id)) throw new OtherAnswer(ids[0], posted.id);
      if (messages) return responseOf(messages, response);
      if (isCall && breaksOff(text)) throw new Disconnected('the answer broke off');
      if (isCall && isPage(text)) throw new PageAnswer(quoteOf(text));
      if (isCall) throw new UnreadableAnswer(quoteOf(text) || 'its answer is empty');
      if (isAccepted) throw new SyntaxError(noAnswer);
      return withBody(response, text);
    }
    if (init.method === 'DELETE' || !response.body) return response;
    if (request !== undefined) streams.open(request);
    const stream = readStream(response.body, {
      request,
      after: resumed?.after,
      onAnswer: () => streams.settle(request),
      onCut: (error) => request !== undefined && streams.cut(request, error),
    });
    return isAccepted ? new Response(stream, { headers: response.headers }) : withBody(response, stream);
  };
}

/** The time that a server may take to end a session, in ms. The request is not repeated. */
const endSessionMs = 2000;

const requestSchema = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ requestId: z.unknown() }).optional().catch(undefined),
});

type Posted = z.infer<typeof requestSchema>;

/** Returns the request that is posted. A notification, and an answer to a request of the server, have no id of a request. */
function requestOf({ body }: RequestInit): Posted {
  const read = requestSchema.safeParse(typeof body === 'string' ? jsonOf(body) : undefined);
  return read.success && read.data.method !== undefined ? read.data : {};
}

/**
 * Returns the answer in a response with an HTTP status of an error, else the response as it is. Throws an
 * `UnaddressedRefusal` where a call is refused, and where the transport of the server may have refused the request.
 */
async function readRefusal(response: Response, { id, method }: Posted): Promise<Response> {
  const { status } = response;
  const text = finiteText(await response.text());
  const isCall = method === 'tools/call';
  const refusal = refusalIn(text);
  const isAddressed = refusal !== null && requestNumber(refusal.id) === id;
  // A person has to change something about rights, so only an answer to the call itself is for the agent.
  if (isAddressed && (isCall || !isAboutRights(status))) return responseOf([refusal], response);
  const error = refusal && serverErrorIn(refusal);
  // Some servers write a word such as server-error in place of the id of a request.
  const isOther = refusal !== null && !isAddressed && Number.isFinite(requestNumber(refusal.id));
  const other = isOther ? new OtherAnswer(refusal.id, id) : undefined;
  if (isCall && meaningOfStatus(status) !== 'redirect') {
    const words = quoteOf(text) || (STATUS_CODES[status] ?? '');
    throw new UnaddressedRefusal(error ?? new ServerError(status, words), status, other);
  }
  if (error && id !== undefined && concernsRequest(status)) throw new UnaddressedRefusal(error, status, other);
  return withBody(response, text);
}

/** Returns whether a body is the beginning of a message. */
const breaksOff = (text: string): boolean => text.trimStart().startsWith('{') && endsInsideObject(text);

/** The most characters of a body that is not a message which are quoted. */
const longestQuote = 2000;

/** Returns the start of a body that is not a message. */
const quoteOf = (text: string) => redactedPart(withoutPage(text).trim(), 0, longestQuote);

/** Returns the JSON-RPC error that a text is. */
function refusalIn(text: string): JSONRPCErrorResponse | null {
  const message = isMessage(text) ? readMessage(text) : null;
  return message && 'error' in message ? message : null;
}

const serverErrorIn = ({ error: { code, message, data } }: JSONRPCErrorResponse) =>
  new ServerError(code, message, data);

/** Returns the id of an answer; nothing for another message. */
const idOfAnswer = (message: JSONRPCMessage): readonly unknown[] =>
  'result' in message || 'error' in message ? [message.id] : [];

const noAnswer = 'it accepted the request with 202, which has no answer';

/** Returns the messages of a text as the SDK reads them; null for a text without an answer. */
function answersIn(text: string, request: RequestId | undefined): readonly JSONRPCMessage[] | null {
  try {
    const messages = batchOf(text.trim()).map((each) => readMessage(each, request));
    return messages.some((message) => idOfAnswer(message).length > 0) ? messages : null;
  } catch {
    return null;
  }
}

/**
 * Returns a response with messages. Some servers send an answer with status 202, although that status means that no answer
 * follows.
 */
const responseOf = (messages: readonly JSONRPCMessage[], { headers }: Response): Response =>
  Response.json(messages.length === 1 ? messages[0] : messages, { headers: sessionOf(headers) });

function sessionOf(headers: Headers): Record<string, string> {
  const session = headers.get('mcp-session-id');
  return session === null ? {} : { 'mcp-session-id': session };
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array> | string): Response {
  return new Response(body, { status, statusText, headers });
}

type Stream = {
  /** The request that it answers; undefined for the stream of the server itself. */
  readonly request: RequestId | undefined;
  /** The id of the event that it was resumed after, as the server gave it. */
  readonly after: string | undefined;
  readonly onAnswer: () => void;
  /** Called when the stream ends without an answer and cannot be resumed, and when it is too long. */
  readonly onCut: (error?: Error) => void;
};

/** Returns an event stream with its messages as the SDK reads them. */
function readStream(
  body: ReadableStream<Uint8Array>,
  { request, after, onAnswer, onCut }: Stream,
): ReadableStream<Uint8Array> {
  let isAnswered = false;
  let isResumable = after !== undefined;
  let hasEnded = false;
  let other: OtherAnswer | undefined;
  let parser: EventSourceParser;
  const messagesIn = (data: string): readonly JSONRPCMessage[] | null => {
    try {
      return batchOf(finiteText(data)).map((text) => readMessage(text, request));
    } catch {
      return null;
    }
  };
  const readEvent = ({ id: eventId, event, data }: EventSourceMessage): string => {
    const messages = messagesIn(data);
    // What is left at the end of the stream is read if it is whole. Otherwise its id must not count as received.
    if (!messages && hasEnded) return '';
    if (eventId) isResumable = true;
    const ids = (messages ?? []).flatMap(idOfAnswer);
    if (ids.some((id) => request === undefined || requestNumber(id) === request)) {
      isAnswered = true;
      onAnswer();
    } else if (ids.length > 0) other = new OtherAnswer(ids[0], request);
    const idLine = eventId ? `id: ${markedEventId(request, eventId)}\n` : '';
    // The SDK reads only messages with the usual type of an event, or with none.
    if (messages) return `${idLine}${messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('')}`;
    const typeLine = event === undefined ? '' : `event: ${event}\n`;
    return `${idLine}${typeLine}${data.replace(/^/gm, 'data: ')}\n\n`;
  };
  const events = new TransformStream<string, string>({
    start: (controller) => {
      // The SDK forgets the id of the event that a stream was resumed after.
      if (after !== undefined) controller.enqueue(`id: ${markedEventId(request, after)}\ndata:\n\n`);
      parser = createParser({
        onEvent: (event) => controller.enqueue(readEvent(event)),
        onRetry: (ms) => controller.enqueue(`retry: ${ms}\n`),
      });
    },
    transform: (text) => parser.feed(text),
    flush: () => {
      hasEnded = true;
      parser.feed('\n\n');
    },
  });
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(events)
    .pipeThrough(new TextEncoderStream())
    .getReader();
  const ended = () => {
    if (!isAnswered && (other || !isResumable)) onCut(other);
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
