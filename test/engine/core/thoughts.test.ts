import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutThoughts } from '../../../src/engine/core/thoughts.ts';

const piece = fc.constantFrom(
  '<think>',
  '</think>',
  '[THINK]',
  '[/THINK]',
  '<Thoughts>',
  '</Thoughts>',
  ' ',
  '\n',
  'a.',
  'Thursday',
  '"',
);

test('what is said has no thoughts left, so it is separated once', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const { content } = withoutThoughts(pieces.join(''));
      expect(withoutThoughts(content)).toEqual({ content, thoughts: null });
    }),
    { numRuns: 2000 },
  );
});
