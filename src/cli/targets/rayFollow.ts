import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { replaceFile } from '../../engine/shell/disk.ts';
import type { Io } from '../io.ts';
import { followElsewhere } from './follower.ts';
import { inside } from './mirror.ts';
import type { RayJobs } from './rayJobs.ts';

/** Begins a line of a job's log that holds a piece of the run's folder; `mirror.py` writes it. */
const mark = '@rehearsal ';
const lookForStopMs = 500;

const pieceSchema = z.object({ path: z.string(), offset: z.int().min(0), data: z.base64() });
const followedSchema = z.object({ job: z.string(), told: z.int().min(0) });

/** Which job trains a run, and how much of its log has been read. */
export type Followed = z.infer<typeof followedSchema>;

const placeOf = (run: string) => join(run, 'ray.json');

export function keepFollowed(run: string, followed: Followed): void {
  replaceFile(placeOf(run), `${JSON.stringify(followed)}\n`);
}

/** The job of a run; undefined where it was not submitted. */
export function followedOf(run: string): Followed | undefined {
  return existsSync(placeOf(run)) ? followedSchema.parse(JSON.parse(readFileSync(placeOf(run), 'utf8'))) : undefined;
}

/** Brings what a job says of a run's folder into the folder here, and its other words into `log.txt`, until it is over. */
export function followJob(run: string, job: string, jobs: RayJobs, io: Io): Promise<boolean> {
  return followElsewhere(run, jobs.name, io, async (onMessage) => {
    const stops = passStopOn(run, job, jobs);
    const reader = new LogReader(run, followedOf(run) ?? { job, told: 0 });
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

/** A file named stop in the folder here stops the job, once. */
function passStopOn(run: string, job: string, jobs: RayJobs): NodeJS.Timeout {
  let isAsked = false;
  return setInterval(() => {
    if (isAsked || !existsSync(join(run, 'stop'))) return;
    isAsked = true;
    jobs.stop(job).catch(() => {
      isAsked = false;
    });
  }, lookForStopMs);
}

/** Reads a job's log, which comes from its beginning with every connection; what was read before is passed over. */
export class LogReader {
  readonly #run: string;
  readonly #job: string;
  #told: number;
  #seen = 0;
  #rest = '';

  constructor(run: string, { job, told }: Followed) {
    this.#run = run;
    this.#job = job;
    this.#told = told;
  }

  /** Takes the next words of the log. */
  read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line, line.length + 1);
    keepFollowed(this.#run, { job: this.#job, told: this.#told });
  }

  /** Takes a last line that has no end. */
  end(): void {
    if (this.#rest) this.#take(this.#rest, this.#rest.length);
    this.#rest = '';
    keepFollowed(this.#run, { job: this.#job, told: this.#told });
  }

  #take(line: string, length: number): void {
    this.#seen += length;
    if (this.#seen <= this.#told) return;
    this.#told = this.#seen;
    // What a process of the cluster printed without an end may stand before the mark.
    const at = line.indexOf(mark);
    const words = at < 0 ? line : line.slice(0, at);
    if (words.trim() || at < 0) appendFileSync(join(this.#run, 'log.txt'), `${words}\n`);
    if (at >= 0) this.#write(line.slice(at + mark.length));
  }

  #write(piece: string): void {
    const { path, offset, data } = pieceSchema.parse(JSON.parse(piece));
    const target = inside(this.#run, path);
    const content = gunzipSync(Buffer.from(data, 'base64'));
    mkdirSync(dirname(target), { recursive: true });
    const before = offset === 0 || !existsSync(target) ? Buffer.alloc(0) : readFileSync(target).subarray(0, offset);
    if (offset === 0) writeFileSync(target, content);
    else if (before.length === offset) appendOrReplace(target, before, content);
  }
}

function appendOrReplace(target: string, before: Buffer, content: Buffer): void {
  writeFileSync(target, Buffer.concat([before, content]));
}
