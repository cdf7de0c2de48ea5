import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLines } from '../../../../src/engine/shell/files/boundedLines.ts';

/** Reads chunks and returns the lines, with "too long" in place of lines that were reported as such. */
async function readOf(chunks: readonly Buffer[], longest?: number, isMessage = false): Promise<string[]> {
  const said: string[] = [];
  const stream = Readable.from(chunks, { objectMode: false });
  readLines(stream, (line) => said.push(line), {
    ...(longest === undefined ? {} : { longest }),
    ...(isMessage ? { onTooLong: () => said.push('too long') } : {}),
  });
  await finished(stream);
  return said;
}

test('lines are the same however the bytes arrive', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ä', '数', '\n', '\r\n', ' ') });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (written, size) => {
      const bytes = Buffer.from(written);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const lines = written.split(/\r?\n/);
      if (lines.at(-1) === '') lines.pop();
      expect(await readOf(chunks)).toEqual(lines);
    }),
  );
});

test.each([
  ['a message that is too long is left out', true, ['short', 'too long', 'last']],
  ['a log line that is too long comes in pieces', false, ['short', '01234567', '89012345', 'x', 'last']],
])('%s', async (_, isMessage, expected) => {
  const chunks = ['short\n0123', '4567', '89012345', 'x\nlast'].map((text) => Buffer.from(text));
  expect(await readOf(chunks, 7, isMessage)).toEqual(expected);
});
