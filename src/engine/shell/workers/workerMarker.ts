import { fstatSync, readSync, writeSync } from 'node:fs';
import type { Pending } from './workerChannel.ts';

/**
 * The current work of a worker, in a file that it inherits and that its parent reads after the worker has died: which
 * rollout is in which tool, a heartbeat, and the text of messages that were not sent yet. Writing costs under a
 * microsecond.
 */
export type Mark = {
  /** The rollout whose call is under way, else the one that was last in domain code; null when none was. */
  readonly rollout: number | null;
  readonly tool: string;
  /** `inside` while a call keeps the worker busy, `awaited` while it waits for the call's promise, `outside` otherwise. */
  readonly phase: CallPhase;
  /** Grows with every call. */
  readonly call: number;
  readonly timeoutMs: number;
  /** Grows while the worker's event loop turns. */
  readonly beats: number;
  /** Number of the first message in the spool, counted from the worker's start. */
  readonly firstSpooled: number;
  readonly spoolBytes: number;
};

/** A call of domain code, as a mark names it. */
export type MarkedCall = { readonly rollout: number; readonly tool: string; readonly timeoutMs: number };

const callPhases = ['outside', 'inside', 'awaited'] as const;
export type CallPhase = (typeof callPhases)[number];

const offsets = {
  phase: 0,
  rollout: 4,
  call: 8,
  timeoutMs: 12,
  firstSpooled: 16,
  spoolBytes: 20,
  nameBytes: 24,
  beats: 28,
  name: 32,
};
const nameRoom = 96;
const spoolStart = offsets.name + nameRoom;
const none = 0xffffffff;

/** Bytes of a spool that are read: far more than one call can leave. */
const longestSpool = 64 * 1024 * 1024;

/** The worker's end. */
export class MarkWriter {
  readonly #file: number;
  readonly #header = Buffer.alloc(spoolStart);
  /** The tool whose name is in the header. */
  #tool = '';

  constructor(file: number) {
    this.#file = file;
    this.#header.writeUInt32LE(none, offsets.rollout);
    this.#write(0, spoolStart);
    this.beat();
  }

  /**
   * Called before domain code runs; `pending` are new lines that would be lost with the worker.
   * @returns whether they are safe; on a full disk they are not, and have to be sent at once
   */
  enter(call: MarkedCall, pending: Pending): boolean {
    this.#put(call, 'inside');
    const isSafe = this.#spool(pending);
    this.#write(0, spoolStart);
    return isSafe;
  }

  /** Names a call again that was left to its promise, after others were made. */
  return(call: MarkedCall): void {
    this.#put(call, 'awaited');
    this.#write(0, spoolStart);
  }

  #put({ rollout, tool, timeoutMs }: MarkedCall, phase: CallPhase): void {
    const header = this.#header;
    header.writeUInt32LE(callPhases.indexOf(phase), offsets.phase);
    header.writeUInt32LE(rollout, offsets.rollout);
    header.writeUInt32LE(header.readUInt32LE(offsets.call) + 1, offsets.call);
    header.writeUInt32LE(timeoutMs, offsets.timeoutMs);
    if (tool !== this.#tool) header.writeUInt32LE(header.write(tool, offsets.name, nameRoom), offsets.nameBytes);
    this.#tool = tool;
  }

  /** Adds to the spool, or begins it again when what it held was flushed. */
  #spool({ first, bytes }: Pending): boolean {
    const header = this.#header;
    const isNew = first !== header.readUInt32LE(offsets.firstSpooled);
    const held = isNew ? 0 : header.readUInt32LE(offsets.spoolBytes);
    let isSafe = true;
    try {
      if (bytes.length > 0) writeSync(this.#file, bytes, 0, bytes.length, spoolStart + held);
    } catch {
      isSafe = false;
    }
    header.writeUInt32LE(first, offsets.firstSpooled);
    header.writeUInt32LE(isSafe ? held + bytes.length : 0, offsets.spoolBytes);
    return isSafe;
  }

  leave(): void {
    this.#header.writeUInt32LE(callPhases.indexOf('outside'), offsets.phase);
    this.#write(offsets.phase, offsets.rollout);
  }

  beat(): void {
    const header = this.#header;
    header.writeUInt32LE((header.readUInt32LE(offsets.beats) + 1) >>> 0, offsets.beats);
    this.#write(offsets.beats, offsets.name);
  }

  #write(from: number, to: number): void {
    writeSync(this.#file, this.#header, from, to - from, from);
  }
}

/** The parent's end. */
export function readMark(file: number): Mark {
  const header = Buffer.alloc(spoolStart);
  readSync(file, header, 0, spoolStart, 0);
  const number = (offset: number) => header.readUInt32LE(offset);
  return {
    phase: callPhases[number(offsets.phase)] ?? 'outside',
    rollout: number(offsets.rollout) === none ? null : number(offsets.rollout),
    call: number(offsets.call),
    timeoutMs: number(offsets.timeoutMs),
    beats: number(offsets.beats),
    firstSpooled: number(offsets.firstSpooled),
    spoolBytes: number(offsets.spoolBytes),
    tool: header.toString('utf8', offsets.name, offsets.name + Math.min(nameRoom, number(offsets.nameBytes))),
  };
}

/** Whether the file has more bytes than a worker ever writes to it: the domain's code can write to it too. */
export function isOverfull(file: number): boolean {
  return fstatSync(file).size > spoolStart + longestSpool;
}

/** Messages that a dead worker had not sent, by its last mark. */
export function readSpool(file: number, { spoolBytes }: Mark): string {
  // The domain's code can write to the file too, so its word for the length is not enough.
  const length = Math.max(0, Math.min(spoolBytes, longestSpool, fstatSync(file).size - spoolStart));
  const bytes = Buffer.alloc(length);
  const count = readSync(file, bytes, 0, length, spoolStart);
  return bytes.toString('utf8', 0, count);
}
