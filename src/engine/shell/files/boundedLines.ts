import type { Readable } from 'node:stream';

/** Characters of a message in one line of a program's output. */
export const longestLine = 64_000_000;
/** Characters of a line of what a program logs. */
const longestPiece = 64 * 1024;

type Limits = {
  readonly longest?: number;
  /** Called with the start of a line that is longer; its rest is left out. Without it such a line is given in pieces. */
  readonly onTooLong?: (start: string) => void;
  /** Called with the start and the end of such a line when it has ended. */
  readonly onLeftOut?: (start: string, end: string) => void;
};

/** Characters that are kept of each end of a line that is left out. */
const keptLength = 1000;

/**
 * Gives each line of a program's output as UTF-8 text without its line end (LF or CRLF), the last one too where it has
 * none. Node's readline keeps a line that never ends until the memory is full.
 */
export function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  { onTooLong, onLeftOut, longest = onTooLong ? longestLine : longestPiece }: Limits = {},
): void {
  let pieces: string[] = [];
  let length = 0;
  let isLeftOut = false;
  /** Both ends of the line that is left out. */
  let kept = { start: '', end: '' };
  const taken = (): string => {
    const text = pieces.join('');
    pieces = [];
    length = 0;
    return text;
  };
  const give = (line: string): void => onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  const keep = (text: string): void => {
    if (isLeftOut) {
      kept.end = (kept.end + text).slice(-keptLength);
      return;
    }
    pieces.push(text);
    length += text.length;
    if (length <= longest) return;
    if (onTooLong) {
      isLeftOut = true;
      const line = taken();
      kept = { start: line.slice(0, keptLength), end: line.slice(-keptLength) };
      onTooLong(kept.start);
    } else give(taken());
  };
  const end = (last: string): void => {
    if (onTooLong) keep(last);
    else pieces.push(last);
    if (isLeftOut) onLeftOut?.(kept.start, kept.end);
    else give(taken());
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
    if (length > 0 || isLeftOut) end('');
  });
}
