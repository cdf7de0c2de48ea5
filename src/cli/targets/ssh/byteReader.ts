import type { Readable } from 'node:stream';
import { cutFault } from '../targetFaults.ts';

/** Reads lines and bytes in turn from one stream. */
export type ByteReader = {
  /** The next line without its line break; null at the end, also where a last line is torn. */
  readonly line: () => Promise<string | null>;
  /** The next bytes, in chunks. Throws a `Fault` where the stream ends before there were so many. */
  readonly bytes: (count: number) => AsyncGenerator<Buffer>;
};

const newline = 0x0a;

/** Returns a reader of a stream, which must not have other readers. */
export function bytesOf(stream: Readable): ByteReader {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const { value, done } = await chunks.next();
    if (done) return false;
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    return true;
  };
  return {
    line: async () => {
      let end = rest.indexOf(newline);
      while (end < 0) {
        if (!(await more())) return null;
        end = rest.indexOf(newline);
      }
      const text = rest.subarray(0, end).toString('utf8');
      rest = rest.subarray(end + 1);
      return text;
    },
    bytes: async function* (count) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw cutFault(`the connection ended ${left} bytes too early`);
        const chunk = rest.subarray(0, left);
        rest = rest.subarray(chunk.length);
        left -= chunk.length;
        yield chunk;
      }
    },
  };
}
