import { WriteStream } from 'node:tty';
import type { FileLine } from '../../engine/shell/files/diagnostic.ts';
import { statusLine } from './statusLine.ts';

/** The words that can be in the place of the end of what was typed, and that end. */
export type Completed = readonly [words: readonly string[], end: string];
export type Completer = (typed: string) => Promise<Completed>;

/** Everything a command may touch of the terminal; tests give it buffers. */
export type Io = {
  /** @param isPage whether the text is a page of the documentation, whose commands stay as they are written */
  readonly out: (text: string, isPage?: boolean) => void;
  readonly err: (text: string) => void;
  /** The status line is for terminals only, and so are colours; see `hasColours`. */
  readonly terminal: boolean;
  /** The width of the terminal; undefined where the output is not one. */
  readonly columns?: number | undefined;
  /** Whether a person can be asked a question: the input and the prompts are those of a terminal. */
  readonly interactive: boolean;
  readonly cwd: string;
  /** The words behind the name of the program, for texts that repeat the command. */
  readonly typed?: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Aborts when the person presses Ctrl+C. The process ends a few seconds later, whatever still runs. */
  readonly signal: AbortSignal;
  /** Lets a command take as long as it needs to end. */
  readonly endLater?: () => void;
  /** @param complete completes what is typed when the person presses Tab */
  readonly readLine: (prompt: string, signal: AbortSignal, complete?: Completer) => Promise<string>;
};

/** Whether the output has colours: that of a terminal which shows them, unless NO_COLOR is set. */
export const hasColours = ({ terminal, environment }: Pick<Io, 'terminal' | 'environment'>): boolean =>
  terminal && WriteStream.prototype.hasColors(environment);

/** 0: done. 1: findings (a failing check, a reward below 1 under --gate, a broken chain). 2: could not be done. */
export type ExitCode = 0 | 1 | 2;

/** Bad usage or an input that can't be used; printed as one message, exit code 2. */
export class UsageError extends Error {
  /** The line to fix, if a line of a file is the cause. */
  readonly at: FileLine | null;
  /** The message for a dialog, where it differs from that for a terminal. */
  readonly inDialog: string | null;

  constructor(message?: string, at: FileLine | null = null, inDialog: string | null = null) {
    super(message);
    this.at = at;
    this.inDialog = inDialog;
  }
}

/** A progress bar in the last line of a terminal; without one, a word every tenth step. */
export function progress(io: Io, line = statusLine(io)): (done: number, total: number, note: string) => void {
  return (done, total, note) => {
    if (!io.terminal) {
      if (done === total || done % Math.ceil(total / 10) === 0) io.err(`${done}/${total} ${note}\n`);
      return;
    }
    const bar = '#'.repeat(Math.round((20 * done) / total)).padEnd(20, '.');
    line.show('progress', `[${bar}] ${done}/${total} ${note}`);
    if (done === total) line.end();
  };
}
