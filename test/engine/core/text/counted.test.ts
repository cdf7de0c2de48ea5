import { expect, test } from 'vitest';
import { counted } from '../../../../src/engine/core/text/counted.ts';

test('only the count 1 is singular', () => {
  expect([0, 1, 2].map((count) => counted(count, 'task'))).toEqual(['0 tasks', '1 task', '2 tasks']);
});
