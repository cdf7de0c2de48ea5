import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { textOrJson } from '../../core/values/json.ts';
import { concernsRequest } from './httpStatus.ts';

/** An error in a server's response to a request. The connection still works. */
export class ServerError extends Error {
  override readonly name: string = 'ServerError';
  readonly code: number;
  /** The data that the server adds to its message, as JSON-RPC's `data`. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** Returns what the agent reads: the server's code, message and data. */
  get text(): string {
    const data = this.data === undefined || this.data === null ? '' : `\n${textOrJson(this.data)}`;
    return `MCP error ${this.code}: ${this.message}${data}`;
  }
}

/**
 * A refusal with an HTTP status that does not name the request: the server may no longer know the session.
 * `answer` is the refusal as the answer to the request.
 */
export class UnaddressedRefusal extends Error {
  override readonly name = 'UnaddressedRefusal';
  readonly answer: ServerError;
  readonly status: number;
  /** Set where the refusal names another request. */
  readonly other: OtherAnswer | undefined;

  constructor(answer: ServerError, status: number, other?: OtherAnswer) {
    super(answer.message);
    this.answer = answer;
    this.status = status;
    this.other = other;
  }
}

/** The server answered a call with what is not a message of MCP. The call may have been executed. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';

  /** @param words what the server sent, in short */
  constructor(words: string) {
    super(`the server did not answer with MCP (${words})`);
  }
}

/** A page for people came in place of an answer, as a login or a proxy in front of the server sends one. */
export class PageAnswer extends Error {
  override readonly name = 'PageAnswer';

  /** @param page a short description of the page */
  constructor(page: string) {
    super(`it answered with ${page}`);
  }
}

/** The server answered another request than the one that was sent. The call may have been executed. */
export class OtherAnswer extends Error {
  override readonly name = 'OtherAnswer';

  constructor(id: unknown, request: RequestId | undefined) {
    super(`it answers with the id ${JSON.stringify(id ?? null).slice(0, 100)}, and the request has the id ${request}`);
  }
}

/** The server refused a call for now. */
export class ServerBusy extends ServerError {}

/** The server gave no answer within the time limit of the request. */
export class TimeLimitExceeded extends Error {
  override readonly name = 'TimeLimitExceeded';
  /** The limit, where it is not that of the request: a call with progress has a longer one. */
  readonly limitMs: number | undefined;

  constructor(limitMs?: number) {
    super('the time limit was exceeded');
    this.limitMs = limitMs;
  }
}

/** The connection ended before the answer. */
export class Disconnected extends Error {
  override readonly name: string = 'Disconnected';
}

/** The connection had ended before the request was sent, so the server has done nothing. */
export class NotSent extends Disconnected {
  override readonly name = 'NotSent';

  constructor() {
    super('its connection is closed');
  }
}

/** The server refused a request because it no longer knows the session. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
}

/** The result of a call is longer than its server may answer. The connection still works. */
export class ResultTooLong extends Error {
  override readonly name = 'ResultTooLong';

  constructor(longest: number) {
    super(`the result is longer than ${longest} characters, which is the maxResultLength of the server`);
  }
}

/** Returns a message of a server in which its error can be determined from the errors that are made in this process. */
export function withServerError<Message extends object>(message: Message): Message {
  if (!('error' in message)) return message;
  const { code, message: text, data } = message.error as { code: number; message: string; data?: unknown };
  if (data instanceof Error) return message;
  // The SDK gives `data` back as it is. It has its own types for some codes, and keeps less of those.
  const error = { code: ErrorCode.InternalError, message: text, data: new ServerError(code, text, data) };
  return { ...message, error };
}

/** Returns the answer of a request that fails with an error of this process. */
export const failedAnswer = (id: RequestId, error: Error) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code: ErrorCode.InternalError, message: error.message, data: error },
});

/** Returns what an error of the SDK's client means: the server's own error, or one of this process. */
export function meaningOf(error: unknown): unknown {
  if (!(error instanceof McpError)) return error;
  if (error.data instanceof Error) return error.data;
  if (error.code === ErrorCode.RequestTimeout) return new TimeLimitExceeded();
  if (error.code === ErrorCode.ConnectionClosed) return new Disconnected('the connection was closed');
  return error;
}

/** Returns whether a server refuses a message for what is posted to its address, as one with the older transport does. */
export const isRefused = (error: unknown): boolean =>
  error instanceof StreamableHTTPError && concernsRequest(error.code ?? 0);

/** Returns whether a server answers with what is neither JSON nor an event stream. */
export const isUnexpectedBody = (error: unknown): boolean => error instanceof StreamableHTTPError && error.code === -1;
