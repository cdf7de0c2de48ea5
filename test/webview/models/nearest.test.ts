import { expect, test } from 'vitest';
import { nearestPoint } from '../../../src/webview/models/nearest.ts';

const points = [
  { curve: 0, index: 0, x: 0, y: 10 },
  { curve: 0, index: 1, x: 50, y: 10 },
  { curve: 1, index: 1, x: 50, y: 90 },
  { curve: 1, index: 2, x: 100, y: 90 },
];

test.each([
  [5, 99, 0, 0],
  [48, 20, 0, 1],
  [52, 80, 1, 1],
  [99, 0, 1, 2],
])('at %d, %d a person means curve %d at %d', (x, y, curve, index) => {
  expect(nearestPoint(points, x, y)).toMatchObject({ curve, index });
});

test('where nothing is drawn, none is meant', () => {
  expect(nearestPoint([], 1, 1)).toBeNull();
});
