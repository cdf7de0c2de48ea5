import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { boundedPieces, fileLimits, linesBeforeFault } from '../../engine/shell/files/boundedFile.ts';
import { readFault } from '../../engine/shell/files/disk.ts';
import { Fault, messageOf } from '../../engine/shell/files/fault.ts';

/** Reports why a file is not a text that can be read. */
export class UnreadText extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Yields the text of a file in UTF-8 or UTF-16, also if it is packed with gzip, in pieces. Throws an `UnreadText`. */
export async function* textOf(path: string): AsyncGenerator<string> {
  try {
    yield* decoded(boundedPieces(path, fileLimits.record));
  } catch (error) {
    const fault = readFault(path, error);
    throw fault instanceof Fault ? new UnreadText(1, fault.message.replace(`${path}: `, '')) : fault;
  }
}

/** The start of a file that shows its kind, in bytes. */
const markLength = 4;

async function* decoded(given: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<string> {
  const { start, pieces } = await startOf(given, (bytes) => Buffer.concat(bytes).length >= markLength);
  const mark = Buffer.concat(start).subarray(0, markLength);
  if (mark[0] === 0x1f && mark[1] === 0x8b) yield* decoded(unpacked(pieces));
  else if (mark.equals(Buffer.from('PK\x03\x04')))
    throw new UnreadText(1, 'is a zip archive. Unpack it, and import the files in it');
  else if (mark.equals(Buffer.from('PAR1')))
    throw new UnreadText(1, 'is a Parquet file. Write its rows as JSON lines, and import these');
  else if (mark[0] === 0xff && mark[1] === 0xfe) yield* utf16(pieces, 'utf-16le');
  else if (mark[0] === 0xfe && mark[1] === 0xff) yield* utf16(pieces, 'utf-16be');
  else yield* utf8(pieces);
}

/** Returns the first pieces that are enough, and all pieces with these. */
export async function startOf<Piece>(
  given: Iterable<Piece> | AsyncIterable<Piece>,
  isEnough: (start: readonly Piece[]) => boolean,
): Promise<{ readonly start: readonly Piece[]; readonly pieces: AsyncGenerator<Piece> }> {
  const start: Piece[] = [];
  const all = allOf(given);
  while (!isEnough(start)) {
    const { done, value } = await all.next();
    if (done) break;
    start.push(value);
  }
  const pieces = (async function* () {
    try {
      yield* start;
      yield* all;
    } finally {
      await all.return(undefined);
    }
  })();
  return { start: [...start], pieces };
}

async function* allOf<Piece>(given: Iterable<Piece> | AsyncIterable<Piece>): AsyncGenerator<Piece> {
  yield* given;
}

async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  try {
    const gunzip = createGunzip();
    pipeline(Readable.from(packed), gunzip, () => undefined);
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > fileLimits.record) throw new Error(`it is more than ${fileLimits.record / 1e6} MB`);
      yield piece;
    }
  } catch (error) {
    throw new UnreadText(1, `cannot be unpacked with gzip (${messageOf(error)}). Check that the file is complete`);
  }
}

async function* utf16(pieces: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

async function* utf8(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let [line, isStart] = [1, true];
  let rest: Buffer = Buffer.alloc(0);
  const decode = (bytes: Buffer): string => {
    const hasMark = isStart && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    isStart = false;
    // A text that is decoded in this way has one byte for each character where all are of Latin-1.
    if (isUtf8(bytes)) return bytes.toString('utf8', hasMark ? byteOrderMark.length : 0);
    const at = line + linesBeforeFault(bytes);
    throw new UnreadText(at, 'is not a text in UTF-8. Save the file with the encoding UTF-8');
  };
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = bytes.length - cutOff(bytes);
    const text = decode(bytes.subarray(0, end));
    rest = bytes.subarray(end);
    yield text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) line += 1;
  }
  yield decode(rest);
}

const byteOrderMark = Buffer.from('\uFEFF');

/** Returns the number of bytes at the end that are the start of a character. */
function cutOff(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return count < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0;
  }
  return 0;
}
