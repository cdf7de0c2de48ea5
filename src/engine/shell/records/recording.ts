import { hash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { type Recorded, type RolloutEvent, recordedSchema, recordingFormat } from '../../core/events/event.ts';
import { withPresentReward } from '../../core/reward/earlierReward.ts';
import { issueText } from '../../core/text/issueText.ts';
import { jsonOf } from '../../core/values/json.ts';
import { losesDigits, rawJson } from '../../core/values/largeIntegers.ts';
import { readBoundedText } from '../files/boundedFile.ts';
import { deletedMeanwhile, fromDisk, onDisk, requireWritable, writeFault } from '../files/disk.ts';
import { Fault } from '../files/fault.ts';
import type { SideNote } from '../files/sideNote.ts';

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

/** A new recording at `path`; one that is there already is replaced. */
export function openRecording(path: string): ChainedFile<RecordedLine> {
  return openChained(path, recordedText);
}

function recordedText({ text, n, event, state }: RecordedLine): string {
  return text ?? JSON.stringify({ n, event, state });
}

/**
 * Writes a recording that is finished already as a new file, whole or not at all, and returns its chain head. A file
 * that is there already is a `Fault`.
 */
export async function writeRecording(path: string, lines: readonly RecordedLine[]): Promise<string> {
  const { text, head } = chainedLines(lines, recordedText, chainStart);
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(path, { force: true });
    throw writeFault(path, error);
  }
  return head;
}

/** Wall time, latency, retries, cost and the exact requests, keyed by event number; never part of a replay. */
export type SidecarLine = SideNote & {
  readonly n: number;
  readonly at: string;
  readonly note?: string;
  /** On the first line: the `id` in run.json of the run that the rollout belongs to. */
  readonly run?: string;
};

/** A new sidecar at `path`; one that is there already is replaced. */
export function openSidecar(path: string): ChainedFile<SidecarLine> {
  return openChained(path, (line) => JSON.stringify(line));
}

/** The sidecar that belongs to a recording. */
export function sidecarPath(recording: string): string {
  return recording.replace(/\.traj\.jsonl$/, '.sidecar.jsonl');
}

/** Returns lines as their text under the chain, and its head after them. */
function chainedLines<Line>(lines: readonly Line[], textOf: (line: Line) => string, before: string) {
  let head = before;
  const texts = lines.map((line) => {
    const text = textOf(line);
    head = chained(head, text);
    return `${sealed(text, head)}\n`;
  });
  return { text: texts.join(''), head };
}

function openChained<Line>(path: string, textOf: (line: Line) => string): ChainedFile<Line> {
  requireWritable(path);
  const file = onDisk(path, () => openSync(path, 'w'));
  let size = 0;
  let head = chainStart;
  return {
    append: (...lines) => {
      const next = chainedLines(lines, textOf, head);
      head = next.head;
      size += onDisk(path, () => writeLines(file, size, next.text));
      if (fstatSync(file).nlink === 0) throw deletedMeanwhile(path);
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

/** Reads a recording and checks its chain. A file that can't be read at all is a `Fault`. */
export function readRecording(path: string): ReadRecording {
  return parseRecording(
    path,
    fromDisk(path, () => readBoundedText(path)),
  );
}

/**
 * The same of a text that was read already; `path` is where it is from. The chain is checked on what is recorded; the
 * reward of an earlier version is returned as this version records it.
 */
export function parseRecording(path: string, text: string): ReadRecording {
  const { lines, problems } = readChain(text, parseLine, {
    misplaced: ({ n }, next) => `event ${n} is in the place of event ${next}: events were dropped, added or swapped`,
    changed: ({ n, event }) => `event ${n} (${event.type}) was changed after it was recorded: its chain does not fit`,
  });
  return { path, lines: withPresentReward(lines), problems };
}

/** A sidecar as it is on the disk. */
export type ReadSidecar = {
  /** The whole lines before the first one that is not one. */
  readonly lines: readonly SidecarLine[];
  /** The chain head after each of them. */
  readonly chains: readonly string[];
  readonly problems: readonly RecordingProblem[];
};

/** Reads the sidecar of a recording and checks it like one. One that is missing is a problem. */
export function readSidecar(path: string): ReadSidecar {
  if (!existsSync(path)) return { lines: [], chains: [], problems: [{ line: 1, message: 'the sidecar is missing' }] };
  const text = fromDisk(path, () => readBoundedText(path));
  const { lines, problems } = readChain(text, parseSidecarLine, {
    misplaced: ({ n }, next) =>
      `the line of event ${n} is in the place of event ${next}: lines were dropped, added or swapped`,
    changed: ({ n }) => `the line of event ${n} was changed after it was written: its chain does not fit`,
  });
  return { lines: lines.map(({ chain: _, ...line }) => line), chains: lines.map(({ chain }) => chain), problems };
}

/** Gives the sidecar's line of an event of a recording, also while it is being written; undefined for an event without a line. */
export function sideNotes(recording: string): (n: number) => SidecarLine | undefined {
  const path = sidecarPath(recording);
  let known: readonly SidecarLine[] = [];
  return (n) => {
    if (n >= known.length && existsSync(path)) known = readSidecar(path).lines;
    return known[n];
  };
}

function parseSidecarLine(raw: string): z.infer<typeof sidecarLineSchema> | string {
  // The requests in it are shown as they were sent.
  const { success, data } = sidecarLineSchema.safeParse(losesDigits(raw) ? rawJson(raw) : jsonOf(raw));
  return success ? data : 'is not a line of a sidecar';
}

type Chained = { readonly n: number; readonly chain: string };

/** Lines that are numbered and chained, up to the first that is not one, and what is wrong with them. */
function readChain<Line extends Chained>(
  text: string,
  parse: (raw: string) => Line | string,
  says: { readonly misplaced: (line: Line, next: number) => string; readonly changed: (line: Line) => string },
): { readonly lines: readonly Line[]; readonly problems: readonly RecordingProblem[] } {
  const lines: Line[] = [];
  const problems: RecordingProblem[] = [];
  const { whole, problem } = wholeLines(text);
  let [head, next] = [chainStart, 0];
  for (const [index, raw] of whole.entries()) {
    const line = parse(raw);
    if (typeof line === 'string') return { lines, problems: [...problems, { line: index + 1, message: line }] };
    if (line.n !== next) problems.push({ line: index + 1, message: says.misplaced(line, next) });
    else if (!isSealed(raw, head)) problems.push({ line: index + 1, message: says.changed(line) });
    [head, next] = [line.chain, line.n + 1];
    lines.push(line);
  }
  return { lines, problems: problem ? [...problems, problem] : problems };
}

const sidecarLineSchema = z.looseObject({ n: z.int(), at: z.string(), chain: z.string() });

/**
 * The lines of a text, up to the first thing that no writer of a chained file leaves: an empty line, or a last line
 * without its end.
 */
export function wholeLines(text: string): {
  readonly whole: readonly string[];
  readonly problem: RecordingProblem | null;
} {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  const empty = lines.indexOf('');
  if (empty >= 0)
    return { whole: lines.slice(0, empty), problem: { line: empty + 1, message: 'is empty: lines were changed' } };
  if (rest === '') return { whole: lines, problem: null };
  return { whole: lines, problem: { line: lines.length + 1, message: 'has no end: the file was cut short here' } };
}

/** The problem of a recording whose start is missing. */
export const noStart = { line: 1, message: 'a recording begins with rolloutStarted' };

/** Returns the fault of a recording that cannot be used. */
export function brokenRecording(
  file: string,
  { line, message }: { readonly line: number; readonly message: string },
): Fault {
  return new Fault({
    who: 'environment',
    code: 'recording/broken',
    message: `${file}:${line}: ${message}`,
    file,
    line,
  });
}

/** Whether a line is, byte for byte, what was written after this head. */
function isSealed(raw: string, head: string): boolean {
  const text = `${raw.slice(0, -sealLength)}}`;
  return raw === sealed(text, chained(head, text));
}

function sealed(text: string, chain: string): string {
  return `${text.slice(0, -1)},"chain":"${chain}"}`;
}

const sealLength = sealed('{}', chainStart).length - '{'.length;

function parseLine(raw: string): Recorded | string {
  const value = jsonOf(raw) as { readonly n?: unknown; readonly event?: { readonly format?: unknown } } | undefined;
  if (value === undefined) return 'is not JSON: the recording was cut short here, or is not a recording';
  const format = value?.event?.format;
  if (value?.n === 0 && format !== undefined && format !== recordingFormat) {
    return `has recording format ${String(format)}; this version reads format ${recordingFormat}`;
  }
  const result = recordedSchema.safeParse(value);
  if (result.success) return result.data;
  return `is not an event of a recording (${issueText(result.error, 'the line')})`;
}
