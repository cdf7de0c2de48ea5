import { expect, it } from 'vitest';
import { duration } from '../../../src/webview/models/duration.ts';

it.each([
  [0.04, '0 ms'],
  [0.25, '0.3 ms'],
  [999, '999 ms'],
  [1204, '1.2 s'],
  [59_400, '59.4 s'],
  [59_600, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
])('%d ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
