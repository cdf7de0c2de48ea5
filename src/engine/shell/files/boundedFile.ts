import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { sep } from 'node:path';

const mega = 1_000_000;

/** The largest sizes of files in bytes. A text above about 500 MB does not fit into a string of V8. */
export const fileLimits = {
  /** A file that people write, or a setting. */
  text: 16 * mega,
  /** A file that may have a row or a task for each of many thousands. */
  data: 256 * mega,
  /** A record that a program appends to: recordings, ledgers, logs. */
  record: 500 * mega,
} as const;

export type BoundedOptions = {
  /** In bytes. */
  readonly limit: number;
  /** The folder that the file must be in when all links are followed. */
  readonly within?: string;
};

/** Why a file is not read although it is there. It has a code, like every error of the file system. */
export class RefusedFile extends Error {
  readonly code = 'EREFUSED';
  readonly hint: string;

  /** @param message what the file is, to follow its path */
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/**
 * Reads a regular file of at most `limit` bytes. All files that others may have written are read here: domains, runs,
 * recordings and settings. A device, a pipe, a link out of the folder or a larger file is a `RefusedFile`, and none of
 * them is waited for. Throws what the file system throws for a file that is missing or not readable.
 */
export function readBounded(path: string, { limit, within }: BoundedOptions): Buffer {
  if (within !== undefined && !isWithin(realpathSync(within), realpathSync(path)))
    throw new RefusedFile(`is a link to ${realpathSync(path)}, outside of ${within}`, 'Copy the file into the folder.');
  const file = openSync(path, readFlags);
  try {
    const stat = fstatSync(file);
    throwUnlessRegular(stat);
    if (stat.size > limit) throw tooLarge(limit);
    // Files of /proc have the size 0 and content, and a file may grow while it is read.
    let bytes = Buffer.allocUnsafe(Math.min(stat.size, limit) + 1);
    let length = 0;
    for (;;) {
      if (length > limit) throw tooLarge(limit);
      const count = readSync(file, bytes, length, bytes.length - length, null);
      if (count === 0) return bytes.subarray(0, length);
      length += count;
      if (length === bytes.length)
        bytes = Buffer.concat([bytes], Math.min(2 * length + 4096, Math.max(limit + 1, length + 1)));
    }
  } finally {
    closeSync(file);
  }
}

/** Yields the bytes of a regular file of at most `limit` bytes in pieces. Throws as `readBounded` does. */
export function* boundedPieces(path: string, limit: number): Generator<Buffer> {
  const file = openSync(path, readFlags);
  try {
    const stat = fstatSync(file);
    throwUnlessRegular(stat);
    if (stat.size > limit) throw tooLarge(limit);
    let length = 0;
    for (;;) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(stat.size - length, 0) + 4096));
      const count = readSync(file, piece, 0, piece.length, null);
      if (count === 0) return;
      length += count;
      if (length > limit) throw tooLarge(limit);
      yield piece.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

/** Reads a regular file as UTF-8 without checking it; see `readBounded`. */
export function readBoundedText(path: string, limit: number = fileLimits.record): string {
  return readBounded(path, { limit }).toString('utf8');
}

/** Opens a regular file for reading. Rejects like `readBounded`. */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, readFlags);
  try {
    throwUnlessRegular(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a regular file as UTF-8 like `readBoundedText`, and lets others have this thread meanwhile. */
export async function readBoundedTextAsync(path: string, limit: number = fileLimits.record): Promise<string> {
  const file = await openRegular(path);
  try {
    if ((await file.stat()).size > limit) throw tooLarge(limit);
    const pieces: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return Buffer.concat(pieces).toString('utf8');
      length += bytesRead;
      if (length > limit) throw tooLarge(limit);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const pieceBytes = 1 << 20;

/** Opening a pipe without O_NONBLOCK waits for its writer. Windows has neither. */
const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

function throwUnlessRegular(stat: Stats): void {
  if (stat.isDirectory())
    throw new RefusedFile('is a folder, but a file is expected here', 'Name a file, or move the folder away.');
  if (!stat.isFile()) throw new RefusedFile('is a device, a pipe or a socket', 'Put a regular file in its place.');
}

/** Says that a file has more bytes than are read. */
export function tooLarge(limit: number): RefusedFile {
  return new RefusedFile(`has more than ${limit / mega} MB`, 'Split it, or remove what is not needed.');
}

export function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Returns the SHA-256 of a file that `readBounded` reads, in hexadecimal digits. Throws as it does. */
export function digestOfBounded(path: string, limit: number): string {
  return createHash('sha256').update(readBounded(path, { limit })).digest('hex');
}

const lineEnd = 0x0a;

/** Returns the number of lines before the first one that is not in UTF-8. */
export function linesBeforeFault(bytes: Buffer): number {
  let [count, start] = [0, 0];
  for (let end = bytes.indexOf(lineEnd); end >= 0 && isUtf8(bytes.subarray(start, end)); count += 1) {
    start = end + 1;
    end = bytes.indexOf(lineEnd, start);
  }
  return count;
}
