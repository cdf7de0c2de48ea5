import type { DebugProtocol } from '@vscode/debugprotocol';
import { UsageError } from '../../terminal/io.ts';
import { RehearsalSession, type SessionOptions } from '../adapter.ts';

type Message = DebugProtocol.Request | DebugProtocol.Response | DebugProtocol.Event;

/** A client of the debug adapter in the same process. It receives each message when the adapter sends it. */
export class InProcessClient {
  readonly #session: RehearsalSession;
  readonly #onEvent: (event: DebugProtocol.Event) => void;
  readonly #waiting = new Map<number, (response: DebugProtocol.Response) => void>();
  #seq = 0;

  constructor(onEvent: (event: DebugProtocol.Event) => void, options: SessionOptions = {}) {
    this.#onEvent = onEvent;
    this.#session = new RehearsalSession(options);
    this.#session.setRunAsServer(true);
    this.#session.onDidSendMessage((message) => this.#read(message as Message));
  }

  /**
   * Sends a request and returns the body of its response. Throws a `UsageError` with the words of a refusal.
   * @param onBody receives the body before the events that follow the response
   */
  request<Body>(command: string, args: object = {}, onBody: (body: Body) => void = () => undefined): Promise<Body> {
    this.#seq += 1;
    const seq = this.#seq;
    const { promise, resolve, reject } = Promise.withResolvers<Body>();
    this.#waiting.set(seq, ({ success, body, message }) => {
      if (success) {
        onBody(body as Body);
        resolve(body as Body);
      } else reject(new UsageError(body?.error?.format ?? message ?? `${command} was refused`));
    });
    this.#session.handleMessage({ seq, type: 'request', command, arguments: args } as DebugProtocol.Request);
    return promise;
  }

  #read(message: Message): void {
    if (message.type === 'event') this.#onEvent(message as DebugProtocol.Event);
    if (message.type !== 'response') return;
    const response = message as DebugProtocol.Response;
    const answered = this.#waiting.get(response.request_seq);
    this.#waiting.delete(response.request_seq);
    answered?.(response);
  }
}
