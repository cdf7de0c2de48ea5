import { fileLimits, openRegular, tooLarge } from './boundedFile.ts';

/** Reads the lines that a growing file has gained since the last read. */
export type LineTail = {
  /**
   * Returns new complete lines with their line numbers (the first is 1). `reset` reports that the file was started
   * again.
   */
  readonly read: () => Promise<{ readonly lines: readonly NumberedLine[]; readonly reset: boolean }>;
};

export type NumberedLine = { readonly number: number; readonly text: string };

const newline = 0x0a;
const chunkSize = 256 * 1024;

/**
 * A tail of the file at `path`. A last line without its line break is still being written: it waits for the rest.
 * A file that does not exist has no lines yet; one that became shorter is read from its start.
 */
export function tailLines(path: string): LineTail {
  let position = 0;
  let number = 0;
  let torn = Buffer.alloc(0);
  return {
    read: async () => {
      const file = await openIfPresent(path);
      if (file === null) return { lines: [], reset: false };
      try {
        const { size } = await file.stat();
        if (size - position > fileLimits.record) throw tooLarge(fileLimits.record);
        const reset = size < position;
        if (reset) [position, number, torn] = [0, 0, Buffer.alloc(0)];
        const lines: NumberedLine[] = [];
        while (position < size) {
          const chunk = Buffer.alloc(Math.min(chunkSize, size - position));
          const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
          if (bytesRead === 0) break;
          position += bytesRead;
          torn = Buffer.concat([torn, chunk.subarray(0, bytesRead)]);
          for (let end = torn.indexOf(newline); end >= 0; end = torn.indexOf(newline)) {
            number += 1;
            lines.push({ number, text: torn.subarray(0, end).toString('utf8') });
            torn = torn.subarray(end + 1);
          }
          if (torn.length > fileLimits.text) throw tooLarge(fileLimits.text);
        }
        return { lines, reset };
      } finally {
        await file.close();
      }
    },
  };
}

async function openIfPresent(path: string) {
  try {
    return await openRegular(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
