import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  McpError,
  type RequestId,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { messageOf } from '../files/fault.ts';
import { version } from '../files/version.ts';
import {
  meaningOf,
  OtherAnswer,
  ServerBusy,
  ServerError,
  SessionLost,
  TimeLimitExceeded,
  UnaddressedRefusal,
  withServerError,
} from './errors.ts';
import { ForwardingTransport, type Received, type Sent } from './forwardingTransport.ts';
import { isResultOfCall, meaningOfStatus } from './httpStatus.ts';
import { requestNumber } from './numericId.ts';
import { Sessions } from './sessions.ts';
import { TolerantClient } from './tolerantClient.ts';
import { refusalOf } from './unsupported.ts';

const anyResult = z.looseObject({});

type CallOptions = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether an earlier call of the rollout had a result. */
  readonly hasResult: boolean;
  /**
   * The longest time of a call whose progress notifications restart the time limit; by default they do not restart it.
   */
  readonly maxTotalTimeoutMs?: number | undefined;
};

/** A connection to an MCP server, from its handshake to the end of its session. */
export class McpConnection {
  readonly client = new TolerantClient({ name: 'rehearsal', version });
  #hasChangedTools = false;
  /** Whether the server has ended, so that nothing can be sent to it. */
  isClosed = false;
  /** Rejections of the requests under way. */
  readonly #pending = new Set<(error: Error) => void>();
  /** The last answer to another request than those under way. */
  #other: OtherAnswer | undefined;
  #transport: Transport | null = null;
  readonly sessions = new Sessions();

  constructor() {
    this.client.fallbackRequestHandler = ({ method }) => Promise.reject(refusalOf(method));
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#hasChangedTools = true;
    });
    this.client.onclose = () => {
      this.isClosed = true;
    };
  }

  /**
   * Shakes hands with the server. Rejects with a `ServerError`, or with an error of this process.
   * @param server the server, as a session of another one may have the same id
   */
  async open(transport: Transport, server: string, timeoutMs: number): Promise<void> {
    this.#transport = transport;
    this.sessions.open(server);
    // The client has a limit for the first message of the handshake, and none for the one after it.
    const timer = setTimeout(() => this.cut(new TimeLimitExceeded()), timeoutMs);
    try {
      const marking = new MarkingTransport(transport, this.client, (other) => {
        this.#other = other;
      });
      await this.unlessCut(this.client.connect(marking, { timeout: timeoutMs }));
    } catch (error) {
      throw answerOf(error);
    } finally {
      clearTimeout(timer);
      this.sessions.hold(transport.sessionId);
    }
  }

  /**
   * Calls a tool and returns the result as the server sent it. Rejects with a `ServerError` for an error that the server
   * answered with, with an `UnreadableAnswer` for what is not a message, and with `TimeLimitExceeded`, `Disconnected` or
   * `SessionLost` where there is no answer.
   */
  async callTool(params: object, { timeoutMs, signal, hasResult, maxTotalTimeoutMs }: CallOptions): Promise<object> {
    // The client keeps listening to the signal of a request, and cancels on the server what it has long answered.
    const own = new AbortController();
    const abort = () => own.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    // The client looks at its own limit of the total time only when progress arrives.
    const exceeded = new TimeLimitExceeded(maxTotalTimeoutMs);
    const exceed = () => own.abort(new McpError(ErrorCode.RequestTimeout, exceeded.message, exceeded));
    const timer = maxTotalTimeoutMs === undefined ? undefined : setTimeout(exceed, maxTotalTimeoutMs);
    const progress = timer ? { resetTimeoutOnProgress: true, onprogress: () => undefined } : {};
    const options = { timeout: timeoutMs, signal: own.signal };
    try {
      return await this.#request({ method: 'tools/call', params: { ...params } }, options, { hasResult, ...progress });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Requests a page of the list of tools and returns it as the server sent it. Rejects as `callTool` does. */
  listTools(params: object, timeoutMs: number): Promise<object> {
    return this.#request({ method: 'tools/list', params: { ...params } }, { timeout: timeoutMs });
  }

  async #request(
    request: Parameters<Client['request']>[0],
    options: RequestOptions,
    { hasResult = false, ...progress }: RequestOptions & { readonly hasResult?: boolean } = {},
  ): Promise<object> {
    try {
      return await this.unlessCut(this.client.request(request, anyResult, { ...options, ...progress }));
    } catch (error) {
      const answer = answerOf(error, hasResult);
      if (this.#transport?.sessionId === undefined || !namesSession(error)) throw answer;
      throw (await this.#knowsSession(options)) ? answer : new SessionLost(messageOf(answer));
    }
  }

  /**
   * Returns whether the server answers a ping, or refuses it for another reason than the session: what refused the
   * request may be a tool, which answers 404 after it has done something, or has sessions itself.
   */
  #knowsSession(options: RequestOptions): Promise<boolean> {
    return this.unlessCut(this.client.request({ method: 'ping' }, anyResult, options)).then(
      () => true,
      (error: unknown) => !namesSession(error),
    );
  }

  /** Returns whether the server has changed its list of tools since this was asked last. */
  takeChangedTools(): boolean {
    const hasChanged = this.#hasChangedTools;
    this.#hasChangedTools = false;
    return hasChanged;
  }

  /**
   * Returns an answer, unless the connection that it comes over breaks first. Rejects with `OtherAnswer` where only other
   * requests were answered within the time limit.
   */
  async unlessCut<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#other = undefined;
    const cut = Promise.withResolvers<never>();
    this.#pending.add(cut.reject);
    try {
      return await Promise.race([answer, cut.promise]);
    } catch (error) {
      const meant = meaningOf(error);
      throw meant instanceof TimeLimitExceeded ? (this.#other ?? meant) : meant;
    } finally {
      this.#pending.delete(cut.reject);
    }
  }

  /** Rejects the requests under way. */
  cut(error: Error): void {
    for (const reject of this.#pending) reject(error);
  }

  /** Ends the session on the server, then the connection. Never rejects. */
  async close(): Promise<void> {
    await this.sessions.leave();
    await this.client.close().catch(() => undefined);
  }
}

/**
 * Returns a refusal as the answer to its request, or as an error of HTTP where it is not one, and any other error as it is.
 * @param hasResult whether an earlier call had a result
 */
function answerOf(error: unknown, hasResult = false): unknown {
  if (!(error instanceof UnaddressedRefusal)) return error;
  const { answer, status, other } = error;
  if (!isResultOfCall(status, hasResult)) return new StreamableHTTPError(status, answer.message);
  if (meaningOfStatus(status) === 'busy') return new ServerBusy(answer.code, answer.message, answer.data);
  return other ?? answer;
}

/**
 * Returns whether a refusal may be about the session: MCP asks for a 404, and not all servers give it, so words about a
 * session count too.
 */
export function namesSession(error: unknown): boolean {
  if (error instanceof UnaddressedRefusal) return isGone(error.status) || sessionLost.test(error.message);
  if (error instanceof StreamableHTTPError) return isGone(error.code) || sessionLost.test(error.message);
  return error instanceof ServerError && sessionLost.test(error.message);
}

const isGone = (status: number | undefined) => status === 404 || status === 410;

const sessionLost =
  /\b(?:session\b.{0,60}\b(?:not found|expired|unknown|invalid|missing|required|terminated|closed|ended|does not exist|doesn['’]t exist)|\btransport\b.{0,40}\bnot found|\b(?:could not find|no|unknown|missing)\b.{0,20}\btransport\b|(?:no|not a|unknown|unrecogni[sz]ed|invalid|expired|missing)\b.{0,20}\bsession|(?:server|session) (?:is )?not (?:yet )?initiali[sz]ed|before initiali[sz]ation|re-?initiali[sz]e)\b/i;

/**
 * A transport that marks the errors of the server, because the client makes errors of the same type itself, and notices
 * answers that the client ignores.
 */
class MarkingTransport extends ForwardingTransport {
  readonly #client: TolerantClient;
  readonly #onOther: (other: OtherAnswer) => void;
  /** The requests without an answer. A late answer to one that was cancelled is not that of another request. */
  readonly #open = new Set<number>();
  #last: RequestId | undefined;

  /** @param onOther called for an answer to no open request */
  constructor(inner: Transport, client: TolerantClient, onOther: (other: OtherAnswer) => void) {
    super(inner);
    this.#client = client;
    this.#onOther = onOther;
  }

  override send(...[message, options]: Sent): Promise<void> {
    if ('method' in message && 'id' in message) {
      this.#last = message.id;
      this.#open.add(requestNumber(message.id));
    }
    return super.send(message, options);
  }

  protected override received(...[message, extra]: Received): void {
    if (!('method' in message) && message.id !== undefined && !this.#open.delete(requestNumber(message.id)))
      this.#onOther(new OtherAnswer(message.id, this.#last));
    super.received(withServerError(message), extra);
  }

  override setProtocolVersion(known: string): void {
    const { unknownVersion = known } = this.#client;
    // It becomes a header.
    super.setProtocolVersion(/^[\w.-]+$/.test(unknownVersion) ? unknownVersion : known);
  }
}
