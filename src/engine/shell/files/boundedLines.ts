import type { Readable } from 'node:stream';

/** Characters of a message in one line of a program's output. */
export const longestLine = 64_000_000;
/** Characters of a line of what a program logs. */
const longestPiece = 64 * 1024;

type Limits = {
  readonly longest?: number;
  /** Called with the start of a line that is longer; its rest is left out. Without it such a line is given in pieces. */
  readonly onTooLong?: (start: string) => void;
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
  let isLeftOut = false;
  const taken = (): string => {
    const text = pieces.join('');
    pieces = [];
    length = 0;
    return text;
  };
  const give = (line: string): void => onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  const keep = (text: string): void => {
    if (isLeftOut) return;
    pieces.push(text);
    length += text.length;
    if (length <= longest) return;
    if (onTooLong) {
      isLeftOut = true;
      onTooLong(taken().slice(0, 1000));
    } else give(taken());
  };
  const end = (last: string): void => {
    if (onTooLong) keep(last);
    else pieces.push(last);
    if (!isLeftOut) give(taken());
    isLeftOut = false;
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
