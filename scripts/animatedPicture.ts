import { crc32 } from 'node:zlib';

/** One picture of an animation. */
export type Frame = { readonly png: Buffer; readonly milliseconds: number };

type Chunk = { readonly type: string; readonly data: Buffer };

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Returns an animated PNG that repeats forever, from PNG files of one size and kind, such as screenshots of one window.
 * Throws an `Error` if a frame is not such a file. The format is in the third edition of the PNG specification.
 */
export function animate(frames: readonly Frame[]): Buffer {
  const chunked = frames.map(({ png }) => readChunks(png));
  const [header] = chunked[0] ?? [];
  if (header === undefined) throw new Error('An animation needs at least one frame.');
  let sequence = 0;
  const body = chunked.flatMap((chunks, index) => {
    if (!chunks[0]?.data.equals(header.data)) throw new Error(`Frame ${index + 1} has another size or kind.`);
    const control = frameControl(sequence++, header.data, frames[index]?.milliseconds ?? 0);
    const pixels = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
    const data = index === 0 ? { type: 'IDAT', data: pixels } : { type: 'fdAT', data: numbered(sequence++, pixels) };
    return [control, data];
  });
  const animation = { type: 'acTL', data: Buffer.alloc(8) };
  animation.data.writeUInt32BE(frames.length, 0);
  return Buffer.concat([
    signature,
    ...[header, animation, ...body, { type: 'IEND', data: Buffer.alloc(0) }].map(write),
  ]);
}

/** Returns the header and the pixels of a PNG file. */
function readChunks(png: Buffer): readonly Chunk[] {
  if (!png.subarray(0, 8).equals(signature)) throw new Error('A frame is not a PNG file.');
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks.filter(({ type }) => type === 'IHDR' || type === 'IDAT');
}

function write({ type, data }: Chunk): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return chunk;
}

/** Returns the control chunk of a frame that replaces the whole picture. */
function frameControl(sequence: number, header: Buffer, milliseconds: number): Chunk {
  const data = Buffer.alloc(26);
  data.writeUInt32BE(sequence, 0);
  header.copy(data, 4, 0, 8);
  data.writeUInt16BE(milliseconds, 20);
  data.writeUInt16BE(1000, 22);
  return { type: 'fcTL', data };
}

function numbered(sequence: number, pixels: Buffer): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(sequence, 0);
  return Buffer.concat([number, pixels]);
}
