import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { finiteText } from '../../core/values/json.ts';
import { longestLine, readLines } from '../files/boundedLines.ts';
import { AnswerTooLong } from '../keys/boundFetch.ts';
import { type ProcessGroup, startGroup } from '../processes/processGroup.ts';
import { failedAnswer, NotSent } from './errors.ts';
import { batchOf, isMessage, isUnversioned, readMessage } from './message.ts';
import { requestNumber } from './numericId.ts';

type Message = Parameters<Transport['send']>[0];
export type Program = Parameters<typeof startGroup>[0];

export type StdioEvents = {
  readonly onStderr: (text: string) => void;
  /** Called for a line that is not an MCP message. */
  readonly onNoise: () => void;
  /** Called for a line that is too long and does not answer the one open request. The server is killed then. */
  readonly onTooLong: () => void;
};

/** A server on standard input and output. The SDK's own transport does not end what a wrapper such as npx started. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: Message) => void;
  readonly #program: Program;
  readonly #events: StdioEvents;
  readonly #maxMessageSize: number;
  #group: ProcessGroup | null = null;
  /** The ids of requests that have no answer yet. */
  readonly #open = new Set<number>();
  /** Notifications sent after the last answer: some servers answer them with an error without an id. */
  #notifications = 0;
  #closed: Promise<void> | null = null;

  /** @param maxMessageSize characters of the longest line */
  constructor(program: Program, events: StdioEvents, maxMessageSize: number = longestLine) {
    this.#program = program;
    this.#events = events;
    this.#maxMessageSize = maxMessageSize;
  }

  start(): Promise<void> {
    const group = startGroup(this.#program);
    this.#group = group;
    const { child } = group;
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#events.onStderr(text));
    const onTooLong = (start: string) => {
      if (this.#refuse(start)) return;
      this.#events.onTooLong();
      group.kill();
    };
    readLines(child.stdout, (line) => this.#receive(line), { onTooLong, longest: this.#maxMessageSize });
    // A server that closes its input no longer reads calls.
    child.stdin.on('error', () => void this.close());
    for (const stream of [child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.once('exit', () => void this.close());
    // A program that closes its output without ending answers nothing more.
    child.stdout.once('end', () => void this.close());
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  send(message: Message): Promise<void> {
    const stdin = this.#group?.child.stdin;
    if (!stdin) return Promise.reject(new NotSent());
    if ('method' in message) this.#note(message);
    return new Promise((resolve, reject) =>
      stdin.write(serializeMessage(message), (error) => (error ? reject(new NotSent()) : resolve())),
    );
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const group = this.#group;
    this.#group = null;
    if (!group) return;
    await group.end();
    this.onclose?.();
  }

  /** Notes which requests have no answer yet, as they are sent and cancelled. */
  #note(sent: Extract<Message, { method: string }>): void {
    if ('id' in sent) this.#open.add(requestNumber(sent.id));
    else this.#notifications += 1;
    if (sent.method === 'notifications/cancelled') this.#open.delete(requestNumber(sent.params?.['requestId']));
  }

  /** Answers the one open request with an error in place of an answer that is too long. Returns whether it could. */
  #refuse(start: string): boolean {
    const [id, ...others] = this.#open;
    if (!start.startsWith('{') || id === undefined || others.length > 0) return false;
    this.#open.clear();
    this.onmessage?.(failedAnswer(id, new AnswerTooLong('the server', this.#maxMessageSize)));
    return true;
  }

  /** Returns the id of the request that an error without an id answers; undefined where it may answer something else. */
  #idOfError(): number | undefined {
    const [id, ...others] = this.#open;
    if (this.#notifications === 0) return others.length > 0 ? undefined : id;
    this.#notifications -= 1;
    return undefined;
  }

  #receive(written: string): void {
    // Some programs start their output with a byte order mark.
    const line = finiteText(written.replace(/^\uFEFF/, ''));
    for (const text of batchOf(line)) this.#receiveMessage(text);
  }

  #receiveMessage(text: string): void {
    try {
      // A program that logs JSON may write an id and a result too.
      if (!isMessage(text) && !isUnversioned(text, this.#open)) throw new SyntaxError('not a message');
      const message = readMessage(text);
      if ('method' in message) {
        this.onmessage?.(message);
        return;
      }
      const id = message.id ?? this.#idOfError();
      if (id === undefined) return;
      this.#notifications = 0;
      this.#open.delete(requestNumber(id));
      this.onmessage?.({ ...message, id });
    } catch {
      this.#events.onNoise();
    }
  }
}
