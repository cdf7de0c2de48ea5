import { expect, test } from 'vitest';
import { zoomedBy, zoomedTo } from '../../../src/webview/models/zoom.ts';

const steps = Array.from({ length: 101 }, (_, index) => index);

test('a zoom in keeps the centre where it is, and stays within the steps', () => {
  expect(zoomedBy(null, steps, 50, 0.5)).toEqual([25, 75]);
  expect(zoomedBy([25, 75], steps, 75, 0.5)).toEqual([50, 75]);
  expect(zoomedBy(null, steps, 0, 0.5)).toEqual([0, 50]);
  expect(zoomedBy([10, 11], steps, 10, 0.5)).toEqual([10, 11]);
});

test('a zoom out ends where all is shown', () => {
  expect(zoomedBy([25, 75], steps, 50, 2)).toBeNull();
  expect(zoomedBy([0, 20], steps, 0, 2)).toEqual([0, 40]);
  expect(zoomedBy(null, [3], 3, 0.5)).toBeNull();
});

test('what is drawn from right to left is the same, and a part outside of the steps is left out', () => {
  expect(zoomedTo(null, steps, 30, 10)).toEqual([10, 30]);
  expect(zoomedTo(null, steps, -20, 10)).toEqual([0, 10]);
  expect(zoomedTo([5, 9], steps, 7, 7.2)).toEqual([5, 9]);
});
