import { hash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Recorded, type RolloutEvent, recordedSchema, recordingFormat } from '../core/event.ts';
import { onDisk } from './disk.ts';
import type { SideNote } from './sideNote.ts';

/** Chain head before the first line. */
export const chainStart = '0'.repeat(64);

/** The chain after a line: SHA-256 over the head before it and the line's own text without its chain. */
function chained(head: string, text: string): string {
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

/** A new recording at `path`, or one that goes on after `head` when the file is there already. */
export function openRecording(path: string, head = chainStart): ChainedFile<RecordedLine> {
  return openChained(path, head, (line) => {
    if (line.text !== undefined) return line.text;
    const { n, event, state } = line;
    return JSON.stringify({ n, event, state });
  });
}

/** Wall time, latency, retries, cost and the exact requests, keyed by event number; never part of a replay. */
export type SidecarLine = SideNote & { readonly n: number; readonly at: string; readonly note?: string };

/** A new sidecar at `path`, or one that goes on after `head` when the file is there already. */
export function openSidecar(path: string, head = chainStart): ChainedFile<SidecarLine> {
  return openChained(path, head, (line) => JSON.stringify(line));
}

/** The sidecar that belongs to a recording. */
export function sidecarPath(recording: string): string {
  return recording.replace(/\.traj\.jsonl$/, '.sidecar.jsonl');
}

/** A sidecar as it stands on the disk. */
export type ReadSidecar = {
  /** The whole lines before the first one that is no JSON. */
  readonly lines: readonly SidecarLine[];
  readonly problems: readonly RecordingProblem[];
  /** The chain head after the last line. */
  readonly head: string;
};

/** Reads the sidecar of a recording and checks its chain. One that is missing is a problem. */
export function readSidecar(path: string): ReadSidecar {
  if (!existsSync(path))
    return { lines: [], problems: [{ line: 1, message: 'the sidecar is missing' }], head: chainStart };
  const lines: SidecarLine[] = [];
  const problems: RecordingProblem[] = [];
  let head = chainStart;
  for (const [index, raw] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (raw === '') continue;
    const sealed = parseSealed(raw);
    if (!sealed) {
      problems.push({ line: index + 1, message: 'is not JSON' });
      break;
    }
    if (!follows(head, sealed))
      problems.push({
        line: index + 1,
        message: 'was changed, dropped, added or swapped: its chain does not fit',
      });
    const { chain, ...line } = sealed;
    head = chain ?? '';
    lines.push(line as SidecarLine);
  }
  return { lines, problems, head };
}

/** A line of either file: what it says, and the chain that seals it. */
type Sealed = { readonly chain?: string } & Readonly<Record<string, unknown>>;

function parseSealed(raw: string): Sealed | null {
  try {
    return JSON.parse(raw) as Sealed;
  } catch {
    return null;
  }
}

/** Whether a line is the one that was written after a chain head. */
function follows(head: string, { chain, ...rest }: Sealed): boolean {
  return chained(head, JSON.stringify(rest)) === chain;
}

function openChained<Line>(path: string, start: string, textOf: (line: Line) => string): ChainedFile<Line> {
  const file = onDisk(path, () => openSync(path, 'a'));
  let size = fstatSync(file).size;
  let head = start;
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

/** The same of a text that was read already; `path` is where it is from. */
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
    if (parsed.recorded.n !== lines.length)
      problems.push({
        line: index + 1,
        message: `event ${parsed.recorded.n} stands where event ${lines.length} belongs: events were dropped, added or swapped`,
      });
    else if (!follows(head, parsed.sealed))
      problems.push({
        line: index + 1,
        message: `event ${parsed.recorded.n} (${parsed.recorded.event.type}) was changed after it was recorded: its chain does not fit`,
      });
    head = parsed.recorded.chain;
    lines.push(parsed.recorded);
  }
  return { path, lines, problems };
}

function parseLine(raw: string): { readonly recorded: Recorded; readonly sealed: Sealed } | string {
  const value = parseSealed(raw);
  if (!value) return 'is not JSON: the recording was cut short here, or is not a recording';
  const format = (value['event'] as { format?: unknown } | undefined)?.format;
  if (value['n'] === 0 && format !== undefined && format !== recordingFormat) {
    return `has recording format ${String(format)}; this version reads format ${recordingFormat}`;
  }
  const result = recordedSchema.safeParse(value);
  if (result.success) return { recorded: result.data, sealed: value };
  const issue = result.error.issues[0];
  return `is no event of a recording: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
}
