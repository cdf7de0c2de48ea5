import { Transform } from 'node:stream';

/** The longest message before a client has named the token: a configuration takes much less. */
const beforeToken = 256 * 1024;
/** The longest message of a client that may launch: it may carry the text of a file. */
const afterToken = 64 * 1024 * 1024;
/** The longest header; the protocol knows one field. */
const longestHeader = 1024;

const end = Buffer.from('\r\n\r\n');

/**
 * Passes the messages of the Debug Adapter Protocol on, and fails at the first one that is announced longer than it may
 * be: the base class would collect it in memory.
 * @param isTrusted whether the client has named the token
 */
export function limitedMessages(isTrusted: () => boolean): Transform {
  let header = Buffer.alloc(0);
  let left = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let rest = chunk; rest.length > 0; ) {
        if (left > 0) {
          const body = rest.subarray(0, left);
          left -= body.length;
          rest = rest.subarray(body.length);
          continue;
        }
        const before = header.length;
        header = Buffer.concat([header, rest.subarray(0, longestHeader + end.length)]);
        const at = header.indexOf(end);
        if (at < 0 && header.length > longestHeader) return done(new Error('the header of a message is too long'));
        if (at < 0) break;
        const length = Number(/^Content-Length: *(\d{1,15})$/im.exec(header.toString('latin1', 0, at))?.[1] ?? 0);
        const most = isTrusted() ? afterToken : beforeToken;
        if (length > most) return done(new Error(`a message of ${length} bytes is longer than the ${most} allowed`));
        rest = rest.subarray(at + end.length - before);
        header = Buffer.alloc(0);
        left = length;
      }
      done(null, chunk);
    },
  });
}
