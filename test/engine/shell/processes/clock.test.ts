import { expect, test } from 'vitest';
import { pauseAfter } from '../../../../src/engine/shell/processes/clock.ts';

test('a pause doubles with each failure in a row, up to the longest', () => {
  const pauses = [1, 2, 3, 4, 5, 1100].map((failures) => pauseAfter(failures, { first: 100, longest: 1000 }));
  expect(pauses).toEqual([100, 200, 400, 800, 1000, 1000]);
});
