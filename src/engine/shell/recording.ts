import { hash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Recorded, type RolloutEvent, recordedSchema, recordingFormat } from '../core/event.ts';
import { onDisk } from './disk.ts';

/** Chain head before the first line. */
export const chainStart = '0'.repeat(64);

/** The chain after a line: SHA-256 over the head before it and the line's own text without its chain. */
export function chained(head: string, text: string): string {
  return hash('sha256', head + text, 'hex');
}

/** An open, append-only file of JSON lines under a hash chain. */
export type ChainedFile<Line> = {
  /** Puts lines on the disk before it returns. A disk that refuses is a `Fault` that names the file. */
  readonly append: (...lines: readonly Line[]) => void;
  readonly head: () => string;
  readonly close: () => void;
};

export type RecordedLine = {
  readonly n: number;
  readonly event: RolloutEvent;
  readonly state: string;
  /** `{n, event, state}` as JSON text, where it is known already. */
  readonly text?: string;
};

/** A new recording at `path`; one that is there already is replaced. */
export function openRecording(path: string): ChainedFile<RecordedLine> {
  return openChained(path, (line) => {
    if (line.text !== undefined) return line.text;
    const { n, event, state } = line;
    return JSON.stringify({ n, event, state });
  });
}

/**
 * Wall time, latency, retries, cost and the exact requests, keyed by event number; never part of a replay. Events that
 * arrived at one moment, of which there is no more to say than how long each took, share a line: `ms` is then a list,
 * and `n` is the number of the first.
 */
export type SidecarLine = {
  readonly n: number;
  readonly at: string;
  readonly ms?: number | readonly number[];
  readonly retries?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  readonly request?: unknown;
  readonly note?: string;
};

/** A new sidecar at `path`; one that is there already is replaced. */
export function openSidecar(path: string): ChainedFile<SidecarLine> {
  return openChained(path, (line) => JSON.stringify(line));
}

/** What a sidecar says of each event, without its chain; ends at the first line that is torn. */
export function readSidecar(path: string): readonly EventNote[] {
  if (!existsSync(path)) return [];
  const notes: EventNote[] = [];
  for (const raw of readFileSync(path, 'utf8').split('\n')) {
    try {
      const { chain: _, n, ms, ...rest } = JSON.parse(raw) as SidecarLine & { readonly chain: string };
      if (typeof ms === 'object') notes.push(...ms.map((each, index) => ({ n: n + index, ms: each, ...rest })));
      else notes.push({ n, ...(ms === undefined ? {} : { ms }), ...rest });
    } catch {
      return notes;
    }
  }
  return notes;
}

/** What the sidecar says of one event. */
export type EventNote = Omit<SidecarLine, 'ms'> & { readonly ms?: number };

/** The sidecar that belongs to a recording. */
export function sidecarPath(recording: string): string {
  return recording.replace(/\.traj\.jsonl$/, '.sidecar.jsonl');
}

function openChained<Line>(path: string, textOf: (line: Line) => string): ChainedFile<Line> {
  const file = onDisk(path, () => openSync(path, 'w'));
  let size = 0;
  let head = chainStart;
  return {
    append: (...lines) => {
      const sealed = lines.map((line) => {
        const text = textOf(line);
        head = chained(head, text);
        return `${text.slice(0, -1)},"chain":"${head}"}\n`;
      });
      size += onDisk(path, () => writeLines(file, size, sealed.join('')));
    },
    head: () => head,
    close: () => closeSync(file),
  };
}

/** Writes lines at the end of a file and gives their bytes. A full disk leaves the whole lines that it had room for. */
function writeLines(file: number, size: number, text: string): number {
  const bytes = Buffer.from(text);
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(file, bytes, done);
  } catch (error) {
    if (fstatSync(file).isFile()) ftruncateSync(file, size + bytes.subarray(0, done).lastIndexOf('\n') + 1);
    throw error;
  }
  return bytes.length;
}

export type RecordingProblem = { readonly line: number; readonly message: string };

export type ReadRecording = {
  readonly path: string;
  readonly lines: readonly Recorded[];
  /** Empty for a whole recording. A torn last line is a problem, and everything before it is kept. */
  readonly problems: readonly RecordingProblem[];
};

/** Reads a recording and checks its chain. Throws only when the file can't be read at all. */
export function readRecording(path: string): ReadRecording {
  return parseRecording(path, readFileSync(path, 'utf8'));
}

export function parseRecording(path: string, text: string): ReadRecording {
  const lines: Recorded[] = [];
  const problems: RecordingProblem[] = [];
  let head = chainStart;
  for (const [index, raw] of text.split('\n').entries()) {
    if (raw === '') continue;
    const parsed = parseLine(raw);
    if (typeof parsed === 'string') {
      problems.push({ line: index + 1, message: parsed });
      break;
    }
    const { chain, ...rest } = parsed.raw;
    if (parsed.recorded.n !== lines.length)
      problems.push({
        line: index + 1,
        message: `event ${parsed.recorded.n} stands where event ${lines.length} belongs: events were dropped, added or swapped`,
      });
    else if (chained(head, JSON.stringify(rest)) !== chain)
      problems.push({
        line: index + 1,
        message: `event ${parsed.recorded.n} (${parsed.recorded.event.type}) was changed after it was recorded: its chain does not fit`,
      });
    head = parsed.recorded.chain;
    lines.push(parsed.recorded);
  }
  return { path, lines, problems };
}

function parseLine(raw: string): { readonly recorded: Recorded; readonly raw: Record<string, unknown> } | string {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(raw);
  } catch {
    return 'is not JSON: the recording was cut short here, or is not a recording';
  }
  const format = (value['event'] as { format?: unknown } | undefined)?.format;
  if (value['n'] === 0 && format !== undefined && format !== recordingFormat) {
    return `has recording format ${String(format)}; this version reads format ${recordingFormat}`;
  }
  const result = recordedSchema.safeParse(value);
  if (result.success) return { recorded: result.data, raw: value };
  const issue = result.error.issues[0];
  return `is no event of a recording: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
}
