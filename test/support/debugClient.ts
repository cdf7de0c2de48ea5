import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { commandLine } from './commandLine.ts';

export type Message = DebugProtocol.Request | DebugProtocol.Response | DebugProtocol.Event;

/** A debug client, like the one of an editor. Subclasses define how it connects to its adapter. */
export abstract class ProtocolClient {
  readonly events: DebugProtocol.Event[] = [];
  /** Names of events and of answered requests, in the order of arrival. */
  readonly received: string[] = [];
  /** The output of the Debug Console. */
  output = '';
  /** Called with each message that is sent or received. */
  onMessage: (message: Message) => void = () => undefined;
  /** Requests of the adapter to its client. `answer` returns whether a request succeeds. */
  readonly asked: DebugProtocol.Request[] = [];
  answer: (request: DebugProtocol.Request) => boolean = () => false;
  readonly #waiting = new Map<number, (response: DebugProtocol.Response) => void>();
  #listeners: (() => void)[] = [];
  #seq = 0;

  protected abstract write(message: Message): void;

  abstract close(): void;

  /** Sends a request and returns its response, successful or not. */
  request<Body = unknown>(
    name: string,
    args: object = {},
  ): Promise<Omit<DebugProtocol.Response, 'body'> & { readonly body: Body }> {
    const seq = this.#seq + 1;
    this.#send({ type: 'request', command: name, arguments: args });
    return new Promise((resolve) =>
      this.#waiting.set(seq, resolve as unknown as (response: DebugProtocol.Response) => void),
    );
  }

  #send(given: object): void {
    this.#seq += 1;
    const message = { seq: this.#seq, ...given } as Message;
    this.onMessage(message);
    this.write(message);
  }

  /** Returns the first event of a kind after the first `after` events. Waits for it if necessary. */
  async event(name: string, after = 0): Promise<DebugProtocol.Event> {
    for (;;) {
      const found = this.events.slice(after).find(({ event }) => event === name);
      if (found) return found;
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  /** Runs an action and returns the `stopped` (or `terminated`) event that follows. */
  async stop(act: () => Promise<unknown>): Promise<DebugProtocol.Event> {
    const after = this.events.length;
    await act();
    return Promise.race([this.event('stopped', after), this.event('terminated', after)]);
  }

  protected read(message: Message): void {
    this.onMessage(message);
    if (message.type === 'response') {
      const response = message as DebugProtocol.Response;
      this.received.push(response.command);
      this.#waiting.get(response.request_seq)?.(response);
      this.#waiting.delete(response.request_seq);
      return;
    }
    if (message.type === 'request') {
      const request = message as DebugProtocol.Request;
      this.asked.push(request);
      this.#send({
        type: 'response',
        request_seq: request.seq,
        command: request.command,
        success: this.answer(request),
      });
      return;
    }
    const event = message as DebugProtocol.Event;
    if (event.event === 'output') this.output += (event.body as { output: string }).output;
    this.received.push(event.event);
    this.events.push(event);
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** A debug client over the adapter's standard input and output, like an editor. */
export class DebugClient extends ProtocolClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #buffer = Buffer.alloc(0);

  /** @param program the command line: its source, or a built bundle */
  constructor(program = commandLine) {
    super();
    this.#child = spawn(process.execPath, [program, 'dap'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      this.#readAll();
    });
  }

  protected override write(message: Message): void {
    const text = JSON.stringify(message);
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  override close(): void {
    this.#child.kill('SIGKILL');
  }

  #readAll(): void {
    for (;;) {
      const head = /^Content-Length: (\d+)\r\n\r\n/.exec(this.#buffer.toString('latin1'));
      if (!head) return;
      const from = head[0].length;
      const length = Number(head[1]);
      if (this.#buffer.length < from + length) return;
      const message = JSON.parse(this.#buffer.subarray(from, from + length).toString()) as Message;
      this.#buffer = this.#buffer.subarray(from + length);
      this.read(message);
    }
  }
}
