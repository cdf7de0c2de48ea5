import { expect, test } from 'vitest';
import { counted, firstNames } from '../../../../src/engine/core/text/counted.ts';

test('only the count 1 is singular', () => {
  expect([0, 1, 2].map((count) => counted(count, 'task'))).toEqual(['0 tasks', '1 task', '2 tasks']);
});

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd'], 'a, b, c and 1 more'],
])('the first names of %j', (names, text) => {
  expect(firstNames(names)).toBe(text);
});
