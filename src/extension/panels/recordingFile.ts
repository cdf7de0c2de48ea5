import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Recorded, RolloutEvent } from '../../engine/core/events/event.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { RecordingProblem } from '../../engine/shell/records/recording.ts';
import type { Note } from '../../webview/messages/protocol.ts';
import { debuggedRecording } from './debuggedRecording.ts';
import type { Channel } from './panel.ts';

/** Events that are brought first, so that a long recording shows its beginning at once, and those of each message. */
const firstEvents = 200;
const eventsPerMessage = 2000;

/** Sends a recording to its page, and later what was added to it. */
export type RecordingFile = {
  /** All of it: the page is new. */
  readonly show: () => Promise<void>;
  /** Shows what is new since the last time, or everything if the file was started again. */
  readonly showNew: () => Promise<void>;
};

/** Puts an event in the words of the policy. */
type InWords = (event: RolloutEvent) => RolloutEvent;

/**
 * Reads a recording and its sidecar for a page, with the engine's own readers.
 * @param layoutNow returns the layout that the user chose
 * @param domainOf reads the domain that it was recorded in; undefined where that is not here
 */
export function recordingFile(
  uri: vscode.Uri,
  channel: Channel,
  layoutNow: () => Layout,
  domainOf: (recording: string) => Promise<LoadedDomain | undefined>,
): RecordingFile {
  const openedNow = (): Opened => ({ name: basename(uri.path), ...stepIn(uri), ...layoutNow() });
  let posted: Posted | null = null;

  const post = async (known: Posted | null): Promise<void> => {
    try {
      const text = await textOf(uri);
      const opened = { ...openedNow(), isWritten: await isWritten(uri) };
      const inWords = await wordsFor(uri, text, domainOf);
      const begun = known ?? (await postBeginning(channel, opened, text, inWords));
      posted = await postRest(channel, opened, text, begun, inWords);
      const notes = await notesOf(uri);
      if (notes !== null) channel.post({ type: 'recordingNoted', notes });
    } catch (error) {
      posted = null;
      const problem = `${basename(uri.path)} can't be read: ${messageOf(error)}`;
      channel.post({ type: 'recordingOpened', ...openedNow(), total: 0, problem });
    }
  };
  // One after the other: the page would mix what two readings bring.
  let under: Promise<void> = Promise.resolve();
  const queued = (known: () => Posted | null): Promise<void> => {
    under = under.then(() => post(known()));
    return under;
  };
  return { show: () => queued(() => null), showNew: () => queued(() => posted) };
}

/** The domain is read only for a recording with a verdict that quotes an expression. */
async function wordsFor(
  uri: vscode.Uri,
  text: string,
  domainOf: (recording: string) => Promise<LoadedDomain | undefined>,
): Promise<InWords> {
  const { eventInWords, mayHaveExpression } = await import('../../engine/shell/domain/reasonInWords.ts');
  const domain = mayHaveExpression(text) ? await domainOf(uri.fsPath).catch(() => undefined) : undefined;
  return domain ? (event) => eventInWords(domain, event) : (event) => event;
}

/** Returns the text of a recording. Throws if it is not a regular file, or too large. */
async function textOf(uri: vscode.Uri): Promise<string> {
  const { fileLimits, readBoundedTextAsync, tooLarge } = await import('../../engine/shell/files/boundedFile.ts');
  if (uri.scheme === 'file') return readBoundedTextAsync(uri.fsPath);
  const { size, type } = await vscode.workspace.fs.stat(uri);
  if ((type & vscode.FileType.File) === 0) throw new Error('it is not a regular file');
  if (size > fileLimits.record) throw tooLarge(fileLimits.record);
  return Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('utf8');
}

/** Whether a debug session writes the recording, or a process its run. */
async function isWritten({ scheme, fsPath }: vscode.Uri): Promise<boolean> {
  if (scheme !== 'file') return false;
  const { isRunLocked } = await import('../../engine/shell/records/runLock.ts');
  return isRunLocked(dirname(fsPath)) || (await debuggedRecording()) === fsPath;
}

/** The layout of the page that the user chose, for every recording. */
type Layout = { readonly isTimelineOpen?: boolean | undefined };

/** The data that a page receives about the file, the step at which it is opened, and the layout. */
type Opened = Layout & { readonly name: string; readonly step?: number; readonly isWritten?: boolean };

/** The address of a step in a recording ends with `#step-16`. */
function stepIn({ fragment }: vscode.Uri): { readonly step?: number } {
  const [, step] = /^step-(\d+)$/.exec(fragment) ?? [];
  return step === undefined ? {} : { step: Number(step) };
}

/** Number of the events that a page has, and the chain head after the last of them. */
type Posted = { readonly count: number; readonly last: string };

/** The first events of a long recording, before all of it is parsed; null for a short one. */
async function postBeginning(channel: Channel, opened: Opened, text: string, inWords: InWords): Promise<Posted | null> {
  let end = 0;
  for (let line = 0; line < firstEvents; line += 1) {
    end = text.indexOf('\n', end) + 1;
    if (end === 0) return null;
  }
  const { parseRecording } = await import('../../engine/shell/records/recording.ts');
  const { lines } = parseRecording(opened.name, text.slice(0, end));
  if (lines.length < firstEvents) return null;
  channel.post({ type: 'recordingOpened', ...opened, total: text.split('\n').length - 1, problem: null });
  // Messages leave this process only when it has nothing else to do, and the rest takes a while to parse.
  await postEvents(channel, lines, 0, inWords);
  return { count: lines.length, last: lines.at(-1)?.chain ?? '' };
}

/** Returns what a page does not have yet; all of it where what it has is not what the file begins with. */
async function postRest(
  channel: Channel,
  opened: Opened,
  text: string,
  known: Posted | null,
  inWords: InWords,
): Promise<Posted> {
  const { parseRecording } = await import('../../engine/shell/records/recording.ts');
  const { lines, problems } = parseRecording(opened.name, text);
  const has = known !== null && lines[known.count - 1]?.chain === known.last ? known.count : 0;
  const total = lines.length;
  const problem = problemOf(opened.name, problems);
  channel.post(
    has > 0
      ? { type: 'recordingGrew', total, problem, isWritten: opened.isWritten }
      : { type: 'recordingOpened', ...opened, total, problem },
  );
  void postEvents(channel, lines, has, inWords);
  return { count: total, last: lines.at(-1)?.chain ?? '' };
}

/** Resolves once the page has them. */
async function postEvents(channel: Channel, lines: readonly Recorded[], from: number, inWords: InWords): Promise<void> {
  const posted: Thenable<unknown>[] = [];
  for (let start = from; start < lines.length; start += eventsPerMessage) {
    const events = lines.slice(start, start + eventsPerMessage).map(({ n, event }) => ({ n, event: inWords(event) }));
    posted.push(channel.post({ type: 'recordingRead', events }));
  }
  await Promise.all(posted);
}

/** Returns the complete notes of the sidecar of a recording; null if it does not exist. */
async function notesOf(uri: vscode.Uri): Promise<Note[] | null> {
  if (uri.scheme !== 'file') return null;
  const { readSidecar, sidecarPath } = await import('../../engine/shell/records/recording.ts');
  const path = sidecarPath(uri.fsPath);
  if (!existsSync(path)) return null;
  return readSidecar(path).lines.map(({ n, ms, usage, retries, mismatch, flaws = [] }) => ({
    n,
    ...(ms === undefined ? {} : { ms }),
    ...(usage === undefined ? {} : { input: usage.input, output: usage.output }),
    ...(retries === undefined ? {} : { retries }),
    ...(mismatch === undefined ? {} : { mismatch }),
    refused: flaws.map(({ content, message }) => ({ content, reason: message })),
  }));
}

function problemOf(name: string, problems: readonly RecordingProblem[]): string | null {
  const [first] = problems;
  return first ? `${name}, line ${first.line}: ${first.message}` : null;
}
