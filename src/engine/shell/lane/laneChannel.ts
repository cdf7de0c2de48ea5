import { writeSync } from 'node:fs';
import type { EventType, RolloutEvent } from '../../core/event.ts';
import type { FromLane, LaneEvent } from './laneMessage.ts';

/**
 * Lines from a lane to its parent. An event is `e`, its rollout, its milliseconds and the JSON text of
 * `{n, event, state}` as a recording keeps it, so that nobody has to write it again; the lane's last word is `x` and
 * JSON; everything else is `m` and JSON.
 */
const tab = '\t';
const newline = 10;

/** Why a lane ends, in words that follow its tool's name. */
export type ExitCause = { readonly message: string; readonly file?: string; readonly line?: number };

type Other = Exclude<FromLane, { readonly type: 'events' }>;

/** A line of a recording as JSON text, without its chain. */
export function eventText({
  n,
  event,
  state,
}: {
  readonly n: number;
  readonly event: RolloutEvent;
  readonly state: string;
}): string {
  return JSON.stringify({ n, event, state });
}

/**
 * Bytes of lines that wait for the next flush; `first` is the number of the first line that waits, counted from the
 * lane's start. Good until the next line is added.
 */
export type Pending = { readonly first: number; readonly bytes: Uint8Array };

/** What a buffer has room for at first; it doubles when that is not enough. */
const roomAtFirst = 256 * 1024;

/** The lane's end. Writes block, so that what was flushed has left the lane whatever happens to it then. */
export class LaneWriter {
  readonly #file: number;
  /** The waiting lines, encoded once for the spool and for the channel. */
  #bytes = Buffer.allocUnsafeSlow(roomAtFirst);
  #end = 0;
  #lines = 0;
  #flushed = 0;
  /** How many of the waiting bytes `fresh` has given out. */
  #given = 0;

  constructor(file: number) {
    this.#file = file;
  }

  /** How many bytes wait. */
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

  /** Says, as its last word, why the lane is about to end. */
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

/** How an event's text begins: its number and its type can be read without parsing the rest. */
const beginning = /^\{"n":(\d+),"event":\{"type":"(\w+)"/;

/** An event as it arrived: parsed when somebody looks into it. */
class ArrivedEvent implements LaneEvent {
  readonly n: number;
  readonly type: EventType;
  readonly ms: number;
  readonly text: string;
  #event: RolloutEvent | undefined;

  constructor(ms: number, text: string) {
    this.ms = ms;
    this.text = text;
    const begins = beginning.exec(text);
    if (!begins) this.#event = (JSON.parse(text) as { readonly event: RolloutEvent }).event;
    this.n = begins ? Number(begins[1]) : (JSON.parse(text) as { readonly n: number }).n;
    this.type = this.#event?.type ?? (begins?.[2] as EventType);
  }

  get event(): RolloutEvent {
    this.#event ??= (JSON.parse(this.text) as { readonly event: RolloutEvent }).event;
    return this.#event;
  }

  get state(): string {
    return this.text.slice(this.text.lastIndexOf('"state":"') + '"state":"'.length, -2);
  }
}

/** An event that did not come through a channel. */
export function laneEvent(n: number, event: RolloutEvent, state: string): LaneEvent {
  return { n, type: event.type, event, state, ms: 0, text: eventText({ n, event, state }) };
}

/** The parent's end: gives whole lines as messages; events of one rollout that arrive together come as one. */
export class LaneReader {
  readonly #deliver: (message: FromLane) => void;
  #rest = '';
  #received = 0;
  /** The lane's last word, when it had one. */
  exitCause: ExitCause | null = null;

  constructor(deliver: (message: FromLane) => void) {
    this.#deliver = deliver;
  }

  /** Text from the channel. */
  read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#received += lines.length;
    this.#deliverAll(lines);
  }

  /** Lines that a dead lane left behind: `first` is the number of the first, counted like those that arrived. */
  readSpool(first: number, text: string): void {
    const lines = text.split('\n').slice(0, -1);
    this.#deliverAll(lines.slice(Math.max(0, this.#received - first)));
  }

  #deliverAll(lines: readonly string[]): void {
    const batches = new Map<number, LaneEvent[]>();
    for (const line of lines) {
      if (line.startsWith('e')) {
        const second = line.indexOf(tab, 2);
        const third = line.indexOf(tab, second + 1);
        const rollout = Number(line.slice(2, second));
        const event = new ArrivedEvent(Number(line.slice(second + 1, third)), line.slice(third + 1));
        const batch = batches.get(rollout);
        if (batch) batch.push(event);
        else batches.set(rollout, [event]);
      } else if (line.startsWith('x')) {
        this.exitCause = JSON.parse(line.slice(2)) as ExitCause;
      } else {
        this.#deliverOther(JSON.parse(line.slice(2)) as Other, batches);
      }
    }
    for (const [rollout, events] of batches) this.#deliver({ type: 'events', rollout, events });
  }

  /** A rollout's events come before whatever else it said after them; rollouts don't wait for each other. */
  #deliverOther(message: Other, batches: Map<number, LaneEvent[]>): void {
    const rollout = 'rollout' in message ? message.rollout : null;
    const events = rollout === null ? undefined : batches.get(rollout);
    if (rollout !== null && events) {
      batches.delete(rollout);
      this.#deliver({ type: 'events', rollout, events });
    }
    this.#deliver(message);
  }
}
