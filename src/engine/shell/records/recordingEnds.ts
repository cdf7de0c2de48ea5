import type { FileHandle } from 'node:fs/promises';
import { fileLimits, openRegular, tooLarge } from '../files/boundedFile.ts';

const pieceBytes = 64 * 1024;
/** Bytes at the end of a recording in which its end and its reward usually are. */
const tailBytes = 256 * 1024;

/** The first line of a recording, whatever its length; the rest is not read. Rejects for a file that can't be read. */
export function firstLine(path: string): Promise<string> {
  return withFile(path, async (file) => {
    const pieces: Buffer[] = [];
    for (let at = 0; ; at += pieceBytes) {
      if (at > fileLimits.text) throw tooLarge(fileLimits.text);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes, at);
      const piece = buffer.subarray(0, bytesRead);
      const end = piece.indexOf('\n');
      pieces.push(end < 0 ? piece : piece.subarray(0, end));
      if (end >= 0 || bytesRead < pieceBytes) return Buffer.concat(pieces).toString('utf8');
    }
  });
}

/**
 * The last whole lines of a recording, one at least: the more a report card says, the longer that is. What follows the
 * last line's end is being written, and left out. Rejects for a file that can't be read.
 */
export function lastLines(path: string): Promise<readonly string[]> {
  return withFile(path, async (file) => {
    const { size } = await file.stat();
    for (let bytes = tailBytes; ; bytes *= 4) {
      if (bytes > 4 * fileLimits.text) throw tooLarge(fileLimits.text);
      const from = Math.max(0, size - bytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n').slice(0, -1);
      if (from === 0) return lines;
      if (lines.length > 1) return lines.slice(1);
    }
  });
}

async function withFile<Read>(path: string, read: (file: FileHandle) => Promise<Read>): Promise<Read> {
  const file = await openRegular(path);
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}
