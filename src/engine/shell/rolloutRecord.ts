import { lstatSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ModelRole } from '../core/evaluation/measure.ts';
import type { EventType } from '../core/events/event.ts';
import type { Reads } from '../core/events/reads.ts';
import { makeFolder, onDisk } from './files/disk.ts';
import type { SideNote } from './files/sideNote.ts';
import { isModelCall, joinCalls } from './models/modelCall.ts';
import {
  type ChainedFile,
  chainStart,
  openRecording,
  openSidecar,
  type RecordedLine,
  type SidecarLine,
  sidecarPath,
} from './records/recording.ts';
import type { WorkerEvent } from './workers/workerMessage.ts';

/** More than these should not wait to be written. */
const manyCharacters = 256 * 1024;

/** Events at which a rollout or its verification can end without an answer. */
const ends: readonly EventType[] = ['rolloutEnded', 'rewarded'];

/** Events that come of an answer from outside the worker. */
const answers: readonly EventType[] = [
  'agentReplied',
  'userReplied',
  'toolReturned',
  'judged',
  // An answer that was not taken, or did not come after a request that did go out.
  ...ends,
];

/** Holds the data of one rollout in progress: the events that arrived, and its two files if it has them. */
export class RolloutRecord {
  readonly #path: string | null;
  readonly #known: readonly SidecarLine[];
  readonly #run: string | undefined;
  #arrived: WorkerEvent[] = [];
  #recording: ChainedFile<RecordedLine> | null = null;
  #sidecar: ChainedFile<SidecarLine> | null = null;
  #lines: WorkerEvent[] = [];
  #notes: SidecarLine[] = [];
  #waiting = 0;
  /** Of the last answer from outside, whose event is still to arrive. */
  #note: SideNote | null = null;
  /** Whose model that answer, or the failed request, is of. */
  #role: ModelRole | null = null;
  /** By number of the result that is still to arrive. */
  readonly #reads = new Map<number, Reads>();

  /**
   * @param path of the recording; null keeps none
   * @param known what the sidecar said about the first events when they were recorded
   * @param run the id of the run that the rollout belongs to, where it has one
   */
  constructor(path: string | null, known: readonly SidecarLine[] = [], run?: string) {
    this.#path = path;
    this.#known = known;
    this.#run = run;
  }

  get arrived(): readonly WorkerEvent[] {
    return this.#arrived;
  }

  get chain(): string {
    return this.#recording?.head() ?? chainStart;
  }

  get sidecarChain(): string {
    return this.#sidecar?.head() ?? chainStart;
  }

  /**
   * Begins again. Both files are emptied where they are, so that no other process takes the name of a fork. A link is
   * replaced.
   */
  open(): void {
    this.close();
    this.#arrived = [];
    const path = this.#path;
    if (path === null) return;
    makeFolder(dirname(path));
    onDisk(path, () => {
      for (const each of [path, sidecarPath(path)]) {
        const stat = lstatSync(each, { throwIfNoEntry: false });
        if (stat && (stat.nlink > 1 || !stat.isFile())) rmSync(each);
      }
    });
    this.#recording = openRecording(path);
    this.#sidecar = openSidecar(sidecarPath(path));
  }

  /** Adds to the sidecar's data about the next answer. Questions that lead to one answer are kept together. */
  note(note: SideNote | null, role: ModelRole | null): void {
    if (note) this.#role = role;
    const calls = [this.#note, note].filter(isModelCall);
    this.#note = calls.length > 1 ? { ...note, ...joinCalls(calls) } : (note ?? this.#note);
  }

  /** Records what the call read whose result arrives next, for the sidecar. */
  noteReads(n: number, reads: Reads): void {
    this.#reads.set(n, reads);
  }

  /** Takes events over. They are on the disk after the next `write`. */
  keep(events: readonly WorkerEvent[]): void {
    const at = new Date().toISOString();
    for (const each of events) {
      this.#arrived[each.n] = each;
      if (!this.#recording) continue;
      this.#lines.push(each);
      this.#notes.push(this.#noteOf(each, at));
      this.#waiting += each.text.length;
    }
  }

  /** Much waits to be written. */
  get isFull(): boolean {
    return this.#waiting > manyCharacters;
  }

  /** Everything that arrived is on the disk after this. Throws a `Fault` that names the file. */
  write(): void {
    if (this.#lines.length === 0) return;
    const [lines, notes] = [this.#lines, this.#notes];
    [this.#lines, this.#notes, this.#waiting] = [[], [], 0];
    this.#recording?.append(...lines);
    this.#sidecar?.append(...notes);
  }

  close(): void {
    this.#recording?.close();
    this.#sidecar?.close();
    this.#recording = null;
    this.#sidecar = null;
    [this.#lines, this.#notes, this.#waiting] = [[], [], 0];
  }

  #noteOf({ n, type, ms }: WorkerEvent, at: string): SidecarLine {
    const known = this.#known[n];
    if (known) return known;
    const note = answers.includes(type) ? this.#note : null;
    if (note) this.#note = null;
    const role = note && ends.includes(type) && this.#role ? { role: this.#role } : null;
    const reads = this.#reads.get(n);
    this.#reads.delete(n);
    return Object.assign({ n, at, ms }, note, role, reads && { reads }, n === 0 && this.#run && { run: this.#run });
  }
}
