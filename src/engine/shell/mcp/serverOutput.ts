import { longestLine } from '../files/boundedLines.ts';
import { redactedPart } from '../keys/secrets.ts';
import { withLastOutput } from '../processes/lastOutput.ts';
import type { StdioEvents } from './stdioTransport.ts';

/** Characters of a key that may be waited for. */
const longestPart = 20_000;

/** Keeps what a program printed last, and what is wrong with its output, for the messages of its faults. */
export class ServerOutput implements StdioEvents {
  #last = '';
  #problem = '';
  readonly #maxMessageSize: number;

  constructor(maxMessageSize: number = longestLine) {
    this.#maxMessageSize = maxMessageSize;
  }

  onStderr(text: string): void {
    // A key may come in several parts.
    this.#last = redactedPart(this.#last + text, -longestPart);
  }

  onNoise(): void {
    this.#problem =
      '. It writes lines to standard output that are not MCP messages. Let it write its log to standard error';
  }

  onTooLong(): void {
    this.#problem = `. It printed more than ${this.#maxMessageSize} characters without a line feed`;
  }

  /** Adds what is known of the output to a message. */
  describe(message: string): string {
    return withLastOutput(`${message}${this.#problem}`, excerptOf(this.#last));
  }
}

/** Characters of the output that a message has. */
const shownLength = 400;

/** Returns the end of an output, or its last error where that begins earlier: Node prints the stack behind it. */
function excerptOf(text: string): string {
  const error = [...text.matchAll(/^(?:Uncaught )?[\w.]*(?:Error|Exception)(?: \[\w+\])?: /gm)].at(-1)?.index;
  const start = Math.max(0, text.length - shownLength);
  return error === undefined || error >= start ? text.slice(start) : text.slice(error, error + shownLength);
}
