import type { Readable } from 'node:stream';

/** Characters of a message in one line of a program's output: 64 Mi. */
export const longestLine = 64 * 1024 * 1024;
/** Characters of a line of what a program logs. */
const longestPiece = 64 * 1024;

type Limits = {
  readonly longest?: number;
  /** Called once where a line is longer, and nothing is read after it. Without it such a line is given in pieces. */
  readonly onTooLong?: () => void;
};

/**
 * Gives each line of a program's output as UTF-8 text without its line end (LF or CRLF), the last one too where it has
 * none. Node's readline keeps a line that never ends until the memory is full.
 */
export function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  { onTooLong, longest = onTooLong ? longestLine : longestPiece }: Limits = {},
): void {
  let pieces: string[] = [];
  let length = 0;
  const end = (last: string): void => {
    const line = pieces.join('') + last;
    pieces = [];
    length = 0;
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  };
  const keep = (text: string): void => {
    pieces.push(text);
    length += text.length;
    if (length <= longest) return;
    if (!onTooLong) {
      end('');
      return;
    }
    pieces = [];
    length = 0;
    stream.off('data', read);
    stream.resume();
    onTooLong();
  };
  const read = (text: string): void => {
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      end(text.slice(from, at));
      from = at + 1;
    }
    if (from < text.length) keep(text.slice(from));
  };
  stream.setEncoding('utf8').on('data', read);
  stream.on('end', () => {
    if (length > 0) end('');
  });
}
