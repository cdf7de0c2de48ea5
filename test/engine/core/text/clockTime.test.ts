import { expect, test } from 'vitest';
import { clockTimesIn } from '../../../../src/engine/core/text/clockTime.ts';

test.each([
  ['at 9:30, or 2 pm', ['09:30', '14:00']],
  ['12 a.m. and 12 p.m.', ['00:00', '12:00']],
  ['at 9.15 p.m.', ['21:15']],
  ["9 o'clock", ['09:00', '21:00']],
  ['12 o’clock', ['00:00', '12:00']],
  ["9 o'clock in the morning", ['09:00']],
  ["9 o'clock at night", ['21:00']],
  ["14 o'clock", ['14:00']],
  ['for 9 people, 9.30 euros', []],
])('the times of day in: %s', (text, times) => {
  expect(clockTimesIn(text)).toEqual(times);
});
