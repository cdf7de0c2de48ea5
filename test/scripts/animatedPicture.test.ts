import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { animate } from '../../scripts/animatedPicture.ts';
import { inRoot } from '../../scripts/repository.ts';

const png = (name: string) => readFileSync(inRoot('docs', 'pictures', `${name}.png`));

/** Returns the types of the chunks of a PNG file, in order. */
function chunksOf(file: Buffer): readonly string[] {
  const types: string[] = [];
  for (let at = 8; at < file.length; at += file.readUInt32BE(at) + 12)
    types.push(file.toString('latin1', at + 4, at + 8));
  return types;
}

test('an animation has a control chunk and pixels for each frame', () => {
  const frames = ['breakpoint', 'fork', 'reward'].map((name) => ({ png: png(name), milliseconds: 1000 }));
  const frame = ['fcTL', 'fdAT'];
  expect(chunksOf(animate(frames))).toEqual(['IHDR', 'acTL', 'fcTL', 'IDAT', ...frame, ...frame, 'IEND']);
});

test('the picture of the README is an animation', () => {
  expect(chunksOf(png('story'))).toContain('acTL');
});

test.each([
  [[png('fork'), png('icon')], 'Frame 2 has another size or kind.'],
  [[Buffer.from('not a picture')], 'A frame is not a PNG file.'],
  [[], 'An animation needs at least one frame.'],
])('frames that make no animation', (pictures, message) => {
  expect(() => animate(pictures.map((each) => ({ png: each, milliseconds: 1 })))).toThrow(message);
});
