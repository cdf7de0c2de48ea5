import { writeSync } from 'node:fs';
import type { EventType, Recorded, RolloutEvent } from '../../core/events/event.ts';
import { redactedPart } from '../keys/secrets.ts';
import type { ClaimedEvent, ExitCause, FromWorker, WorkerEvent } from './workerMessage.ts';
import { exitCauseIn, workerMessageIn } from './workerMessageSchema.ts';

/**
 * Lines from a worker to its parent. An event is `e`, its rollout, its milliseconds and the JSON text of `{n, event}`, to
 * which a recording adds the state, so that no one has to write it again; the worker's last word is `x` and JSON;
 * everything else is `m` and JSON.
 */
const tab = '\t';
const newline = 10;

type Other = Exclude<FromWorker, { readonly type: 'events' }>;

/** An event as a worker writes it. */
export function claimText(n: number, event: RolloutEvent): string {
  return JSON.stringify({ n, event });
}

/** A line of a recording as JSON text, without its chain, from what a worker writes. */
export function eventText(claimed: string, state: string): string {
  return `${claimed.slice(0, -1)},"state":"${state}"}`;
}

/**
 * Bytes of lines that wait for the next flush; `first` is the number of the first line that waits, counted from the
 * worker's start. Good until the next line is added.
 */
export type Pending = { readonly first: number; readonly bytes: Uint8Array };

/** The initial size of a buffer, in bytes; it doubles when it is too small. */
const roomAtFirst = 256 * 1024;

/** The worker's end. Writes block, so that what was flushed has left the worker whatever happens to it then. */
export class WorkerWriter {
  readonly #file: number;
  /** The waiting lines, encoded once for the spool and for the channel. */
  #bytes = Buffer.allocUnsafeSlow(roomAtFirst);
  #end = 0;
  #lines = 0;
  #flushed = 0;
  /** The number of waiting bytes that `fresh` has returned. */
  #given = 0;

  constructor(file: number) {
    this.#file = file;
  }

  /** Returns how many bytes wait. */
  get size(): number {
    return this.#end;
  }

  /** The waiting lines that were not given out before, and the number of the first that waits at all. */
  fresh(): Pending {
    const bytes = this.#bytes.subarray(this.#given, this.#end);
    this.#given = this.#end;
    return { first: this.#flushed, bytes };
  }

  event(rollout: number, ms: number, text: string): void {
    this.#add(`e${tab}${rollout}${tab}${ms}${tab}`, text);
  }

  /** Adds a message; it goes with the next flush. */
  post(message: Other): void {
    this.#add(`m${tab}`, JSON.stringify(message));
  }

  /** Sends a message, and with it everything before it. */
  send(message: Other): void {
    this.post(message);
    this.flush();
  }

  /** Says, as its last word, why the worker is about to end. */
  exiting(cause: ExitCause): void {
    this.#add(`x${tab}`, JSON.stringify(cause));
    this.flush();
  }

  flush(): void {
    const end = this.#end;
    if (end === 0) return;
    this.#flushed += this.#lines;
    this.#lines = 0;
    this.#given = 0;
    this.#end = 0;
    for (let done = 0; done < end; ) done += writeSync(this.#file, this.#bytes, done, end - done);
  }

  #add(head: string, text: string): void {
    // A UTF-16 unit becomes three bytes of UTF-8 at most.
    this.#makeRoom(3 * (head.length + text.length) + 1);
    this.#end += this.#bytes.write(head, this.#end, 'latin1');
    this.#end += this.#bytes.write(text, this.#end);
    this.#bytes[this.#end++] = newline;
    this.#lines++;
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Lines of a channel that no worker writes. */
export class UnreadableMessage extends Error {}

/** Bytes of one line that are kept: far more than the largest tool result. */
const longestLine = 64 * 1024 * 1024;

/** Matches the beginning of an event's text: its number and its type can be read without parsing the rest. */
const beginning = /^\{"n":(\d+),"event":\{"type":"(\w+)"/;

/** An event as it arrived. It is parsed when it is first read. */
class ArrivedEvent implements ClaimedEvent {
  readonly n: number;
  readonly type: EventType;
  readonly ms: number;
  readonly text: string;
  #event: RolloutEvent | undefined;

  constructor(ms: number, text: string) {
    this.ms = ms;
    this.text = text;
    const begins = beginning.exec(text);
    if (!begins || !Number.isFinite(ms)) throw new Error('it does not begin as an event does');
    this.n = Number(begins[1]);
    this.type = begins[2] as EventType;
  }

  get isParsed(): boolean {
    return this.#event !== undefined;
  }

  /** Throws where the text is not that of one event: the domain's code can write to the channel too. */
  get event(): RolloutEvent {
    if (this.#event) return this.#event;
    const claimed = JSON.parse(this.text) as Pick<Recorded, 'n' | 'event'>;
    const { n, event } = claimed;
    if (n !== this.n || event.type !== this.type || Object.keys(claimed).length !== 2)
      throw new Error('it sent two messages at once');
    this.#event = event;
    return event;
  }
}

/** Returns an event that was accepted, with the hash of the state after it. */
export function acceptedEvent({ n, type, ms, text }: ClaimedEvent, event: RolloutEvent, state: string): WorkerEvent {
  return { n, type, ms, event, state, text: eventText(text, state) };
}

/** Returns an event that did not come through a channel, as a worker would claim it. */
export function claimOf(n: number, event: RolloutEvent): ClaimedEvent {
  return { n, type: event.type, event, isParsed: true, ms: 0, text: claimText(n, event) };
}

/** The parent's end: gives whole lines as messages; events of one rollout that arrive together come as one. */
export class WorkerReader {
  readonly #deliver: (message: FromWorker) => void;
  /** The parts of a line that has no end yet. Joined once, however many there are. */
  #rest = '';
  #received = 0;
  /** The worker's last word, when it had one. */
  exitCause: ExitCause | null = null;

  constructor(deliver: (message: FromWorker) => void) {
    this.#deliver = deliver;
  }

  /** Text from the channel. */
  read(text: string): void {
    this.#rest += text;
    // Each piece of a long line is looked through once.
    if (!text.includes('\n') && this.#rest.length <= longestLine) return;
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > longestLine) throw new UnreadableMessage('it wrote a line without an end to its channel');
    this.#received += lines.length;
    this.#deliverAll(lines);
  }

  /** Lines that a dead worker left behind: `first` is the number of the first, counted like those that arrived. */
  readSpool(first: number, text: string): void {
    const lines = text.split('\n').slice(0, -1);
    this.#deliverAll(lines.slice(Math.max(0, this.#received - first)));
  }

  #deliverAll(lines: readonly string[]): void {
    const batches = new Map<number, ClaimedEvent[]>();
    for (const line of lines) {
      if (line.startsWith(`e${tab}`)) {
        const { rollout, event } = readable(line, eventIn);
        const batch = batches.get(rollout);
        if (batch) batch.push(event);
        else batches.set(rollout, [event]);
      } else if (line.startsWith(`x${tab}`))
        this.exitCause = readable(line, (text) => exitCauseIn(JSON.parse(text.slice(2))));
      else this.#deliverOther(readable(line, messageIn), batches);
    }
    for (const [rollout, events] of batches) this.#deliver({ type: 'events', rollout, events });
  }

  /** A rollout's events come before whatever else it said after them; rollouts don't wait for each other. */
  #deliverOther(message: Other, batches: Map<number, ClaimedEvent[]>): void {
    const rollout = 'rollout' in message ? message.rollout : null;
    const events = rollout === null ? undefined : batches.get(rollout);
    if (rollout !== null && events) {
      batches.delete(rollout);
      this.#deliver({ type: 'events', rollout, events });
    }
    this.#deliver(message);
  }
}

function eventIn(line: string): { readonly rollout: number; readonly event: ClaimedEvent } {
  const second = line.indexOf(tab, 2);
  const third = line.indexOf(tab, second + 1);
  const event = new ArrivedEvent(Number(line.slice(second + 1, third)), line.slice(third + 1));
  return { rollout: Number(line.slice(2, second)), event };
}

function messageIn(line: string): Other {
  if (!line.startsWith(`m${tab}`)) throw new Error('it has no type');
  return workerMessageIn(JSON.parse(line.slice(2)));
}

function readable<T>(line: string, read: (line: string) => T): T {
  try {
    return read(line);
  } catch (error) {
    const part = redactedPart(line, 0, 200);
    throw new UnreadableMessage(`it sent an unknown message: ${part}`, { cause: error });
  }
}
