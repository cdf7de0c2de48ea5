import { expect, test } from 'vitest';
import { verdictOf } from '../../src/benchmarks/officialVerdict.ts';

test.each([
  [1, 1, 'agree'],
  [1, 1 - 1e-9, 'agree'],
  [1, 0.99, 'differ'],
  [0, 1, 'differ'],
  [null, 0, 'differ'],
  [1, null, 'unscored'],
  [null, null, 'raised'],
] as const)('an official reward of %s and an own one of %s %s', (official, own, verdict) => {
  expect(verdictOf(official, own)).toBe(verdict);
});
