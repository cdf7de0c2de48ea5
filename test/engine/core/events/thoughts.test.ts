import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutThoughts } from '../../../../src/engine/core/events/thoughts.ts';

const tags = ['<think>', '</think>', '[THINK]', '[/THINK]', '<Thoughts>', '</Thoughts>', '<analysis>', '</analysis>'];
const json = ['{', '}', '{"a": "', '"}', '{"a": ', '{"}', '":', '"', "'", '`', '<answer>', '</answer>'];
const words = [' ', '\n', 'a.', 'Thursday'];

test.each([
  ['tags and words', [...tags, '"', ...words]],
  ['tags and JSON', [...tags, ...json, ...words]],
])('the message has no thoughts left after one separation: %s', (_, pieces) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (text) => {
      const { content } = withoutThoughts(text.join(''));
      expect(withoutThoughts(content)).toEqual({ content, thoughts: null });
    }),
    { numRuns: 3000 },
  );
});

test('a tag that is in backticks only because of a thought counts as a tag without it', () => {
  expect(withoutThoughts('`a\n<think>t</think>b `<think>` c').content).toBe('`a b `');
});
