import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { replaceFile, sizeOf } from '../../../engine/shell/files/disk.ts';
import { runFiles } from '../../../engine/shell/records/runFiles.ts';
import { readKept } from '../../options/keptFile.ts';
import type { Io } from '../../terminal/io.ts';
import { followElsewhere, passStopOn } from '../follower.ts';
import { inside } from '../mirror.ts';
import type { RayJobs } from './jobs.ts';

/** Begins a line of a job's log that holds a piece of the run's folder; `mirror.py` writes it. */
const mark = '@rehearsal ';

/** The longest piece in bytes, many times what `mirror.py` writes. */
const longestPiece = 64 * 1024 * 1024;

const pieceSchema = z.object({ path: z.string(), offset: z.int().min(0), data: z.base64() });
type Piece = z.infer<typeof pieceSchema>;
const jobSchema = z.object({ job: z.string(), told: z.int().min(0) });

/** The job that trains a run, and how much of its log has been read. */
export type SubmittedJob = z.infer<typeof jobSchema>;

const jobPath = (run: string) => join(run, runFiles.rayJob);

/** Keeps which job trains a run, and how far its log was read. */
export function keepJob(run: string, submitted: SubmittedJob): void {
  replaceFile(jobPath(run), `${JSON.stringify(submitted)}\n`);
}

/**
 * Returns the job of a run; undefined if it was not submitted. Throws a `UsageError` if the file of the job is not
 * readable.
 */
export function jobOfRun(run: string): SubmittedJob | undefined {
  const lost = 'which job trains the run: write it there again, such as {"job": "rehearsal-…", "told": 0}';
  return readKept(jobPath(run), jobSchema, lost);
}

/**
 * Brings what a job says about a run's folder into the folder here, and its other words into `log.txt`, until it is
 * over.
 */
export function followJob(run: string, job: string, jobs: RayJobs, io: Io): Promise<boolean> {
  return followElsewhere(run, jobs.name, io, async (onMessage) => {
    const stops = passStopOn(run, () => jobs.stop(job));
    const reader = new LogReader(run, jobOfRun(run) ?? { job, told: 0 });
    try {
      await jobs.follow(
        job,
        (text) => {
          reader.read(text);
          onMessage();
        },
        io.signal,
      );
      reader.end();
    } finally {
      clearInterval(stops);
    }
  });
}

/** Reads a job's log, which comes from its beginning with every connection; what was read before is passed over. */
export class LogReader {
  readonly #run: string;
  readonly #job: string;
  #told: number;
  #seen = 0;
  #rest = '';

  constructor(run: string, { job, told }: SubmittedJob) {
    this.#run = run;
    this.#job = job;
    this.#told = told;
  }

  /** Takes the next words of the log. */
  read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line, line.length + 1);
    keepJob(this.#run, { job: this.#job, told: this.#told });
  }

  /** Takes a last line that has no end: words, as a piece that was torn is not one. */
  end(): void {
    if (this.#rest) this.#take(this.#rest, this.#rest.length, true);
    this.#rest = '';
    keepJob(this.#run, { job: this.#job, told: this.#told });
  }

  #take(line: string, length: number, isTorn = false): void {
    this.#seen += length;
    if (this.#seen <= this.#told) return;
    this.#told = this.#seen;
    // What a process of the cluster printed without an end may precede the mark.
    const at = line.indexOf(mark);
    const words = at < 0 ? line : line.slice(0, at);
    if (words.trim() || at < 0) appendFileSync(join(this.#run, runFiles.log), `${words}\n`);
    const piece = isTorn ? undefined : pieceIn(line);
    if (piece) writePiece(this.#run, piece);
  }
}

/** The piece of a run's folder that a line of a job's log holds. */
export function pieceIn(line: string): Piece | undefined {
  const at = line.indexOf(mark);
  return at < 0 ? undefined : pieceSchema.parse(JSON.parse(line.slice(at + mark.length)));
}

/** Writes a piece into the folder of its run. */
export function writePiece(run: string, { path, offset, data }: Piece): void {
  const target = inside(run, path);
  const content = gunzipSync(Buffer.from(data, 'base64'), { maxOutputLength: longestPiece });
  mkdirSync(dirname(target), { recursive: true });
  if (offset === 0) writeFileSync(target, content);
  else if (sizeOf(target) >= offset) {
    // What is behind the offset was of an attempt before.
    truncateSync(target, offset);
    appendFileSync(target, content);
  }
}
