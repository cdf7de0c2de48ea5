import { writeSync } from 'node:fs';
import type { RolloutEvent } from '../../core/event.ts';
import type { FromLane, LaneEvent } from './laneMessage.ts';

/**
 * Lines from a lane to its parent. An event is `e`, its rollout, its milliseconds and the JSON text of
 * `{n, event, state}` as a recording keeps it, so that nobody has to write it again; the lane's last word is `x` and
 * JSON; everything else is `m` and JSON.
 */
const tab = '\t';

/** Why a lane ends, in words that follow its tool's name. */
export type ExitCause = { readonly message: string; readonly file?: string; readonly line?: number };

type Other = Exclude<FromLane, { readonly type: 'events' }>;

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

/** The lane's end. Writes block, so that what was flushed has left the lane whatever happens to it then. */
export class LaneWriter {
  readonly #file: number;
  #pending = '';
  #pendingCount = 0;
  #flushed = 0;

  constructor(file: number) {
    this.#file = file;
  }

  /** Lines that wait for the next flush, and the number of the first of them. */
  get pending(): { readonly first: number; readonly text: string } {
    return { first: this.#flushed, text: this.#pending };
  }

  event(rollout: number, ms: number, text: string): void {
    this.#add(`e${tab}${rollout}${tab}${ms}${tab}${text}\n`);
  }

  /** Sends a message, and with it everything before it. */
  send(message: Other): void {
    this.#add(`m${tab}${JSON.stringify(message)}\n`);
    this.flush();
  }

  /** Says, as its last word, why the lane is about to end. */
  exiting(cause: ExitCause): void {
    this.#add(`x${tab}${JSON.stringify(cause)}\n`);
    this.flush();
  }

  flush(): void {
    if (this.#pending === '') return;
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    this.#flushed += this.#pendingCount;
    this.#pendingCount = 0;
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
  }

  #add(line: string): void {
    this.#pending += line;
    this.#pendingCount++;
  }
}

/** An event as it arrived: parsed when somebody looks into it. */
class ArrivedEvent implements LaneEvent {
  readonly ms: number;
  readonly text: string;
  #parsed: { readonly n: number; readonly event: RolloutEvent; readonly state: string } | undefined;

  constructor(ms: number, text: string) {
    this.ms = ms;
    this.text = text;
  }

  get n(): number {
    return this.#line.n;
  }

  get event(): RolloutEvent {
    return this.#line.event;
  }

  get state(): string {
    return this.#line.state;
  }

  get #line() {
    this.#parsed ??= JSON.parse(this.text) as { n: number; event: RolloutEvent; state: string };
    return this.#parsed;
  }
}

/** The parent's end: gives whole lines as messages; events of one rollout that follow each other come together. */
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
    let rollout = -1;
    let events: LaneEvent[] = [];
    const close = () => {
      if (events.length > 0) this.#deliver({ type: 'events', rollout, events });
      events = [];
    };
    for (const line of lines) {
      if (!line.startsWith('e')) {
        close();
        if (line.startsWith('x')) this.exitCause = JSON.parse(line.slice(2)) as ExitCause;
        else this.#deliver(JSON.parse(line.slice(2)) as Other);
        continue;
      }
      const second = line.indexOf(tab, 2);
      const third = line.indexOf(tab, second + 1);
      const of = Number(line.slice(2, second));
      if (of !== rollout) close();
      rollout = of;
      events.push(new ArrivedEvent(Number(line.slice(second + 1, third)), line.slice(third + 1)));
    }
    close();
  }
}
