import type { ImportProblem, Read } from './conversation.ts';
import type { LogFile } from './logFile.ts';

/** The sources of conversations from outside: logs of chats, or traces of the agent's program. */
export type Source = 'chats' | 'spans';

/** Reads the conversations of one format. */
export type ConversationReader = {
  /** The value of `--format`. */
  readonly name: string;
  /** The name that people know it by. */
  readonly label: string;
  readonly source: Source;
  /** The keys of a value of this format, for the message about a file of no known format. */
  readonly keys: readonly string[];
  /** The keys under which it reads messages, where a value has these by itself. */
  readonly messageKeys?: readonly string[];
  /** Returns whether a value of a file has the shape of this format. */
  readonly matches: (value: unknown, log: LogFile) => boolean;
  /** Whether a file of it also has values of another shape, such as lines about the session or rows of plain text. */
  readonly isWhole?: boolean;
  /** Reads all files of this format that are imported together. */
  readonly read: (logs: readonly LogFile[]) => Read;
};

/** Joins what was read from several files. */
export function joinedReads(reads: readonly Read[]): Read {
  return {
    conversations: reads.flatMap(({ conversations }) => conversations),
    problems: reads.flatMap(({ problems }) => problems),
    notes: reads.flatMap(({ notes }) => notes),
  };
}

/** Returns a read with the conversations in which something was said; what the others lost becomes a problem. */
export function readOf(
  all: Read['conversations'],
  problems: readonly ImportProblem[],
  notes: Read['notes'] = [],
): Read {
  const [said, silent] = [
    all.filter(({ messages }) => messages.length > 0),
    all.filter(({ messages }) => messages.length === 0),
  ];
  const empty = silent.filter(({ lost }) => lost.length === 0);
  const left = empty.map(({ file, line }) => ({ file, line, message: 'a conversation without messages is left out' }));
  return {
    conversations: said,
    problems: [...problems, ...silent.flatMap(({ lost }) => lost)],
    notes: [...notes, ...left],
  };
}

/**
 * Reads files of conversations.
 * @param readLog reads one, and adds to the notes what it leaves out
 */
export function readFiles(
  logs: readonly LogFile[],
  readLog: (log: LogFile, notes: ImportProblem[]) => Read['conversations'],
): Read {
  return joinedReads(
    logs.map((log) => {
      const notes: ImportProblem[] = [];
      return readOf(readLog(log, notes), [], notes);
    }),
  );
}

/**
 * Reads files of which each value is a conversation.
 * @param readValue reads one, and adds to the notes what it leaves out
 */
export const readEach = (
  logs: readonly LogFile[],
  readValue: (file: string, value: LogFile['values'][number], notes: ImportProblem[]) => Read['conversations'][number],
): Read => readFiles(logs, ({ path, values }, notes) => values.map((value) => readValue(path, value, notes)));
