import { expect, it } from 'vitest';
import { trialTally } from '../../../src/extension/testing/trialTally.ts';

const [p, f, e] = ['passed', 'failed', 'errored'] as const;

it.each([
  [[p, p, p], 'passed', '3/3 passed, pass^3 1.00', '3 of 3 trials passed: pass^1 1.00, pass^3 1.00.'],
  [[p, f, p], 'failed', '2/3 passed, pass^3 0.00', '2 of 3 trials passed: pass^1 0.67, pass^3 0.00.'],
  [[f, f], 'failed', '0/2 passed, pass^2 0.00', '0 of 2 trials passed: pass^1 0.00, pass^2 0.00.'],
  [[p, e], 'errored', '1/1 passed, pass^1 1.00, 1 not scored', '1 of 1 trials passed, 1 not scored: pass^1 1.00.'],
  [[p, f, e], 'failed', '1/2 passed, pass^2 0.00, 1 not scored', /^1 of 2 trials passed, 1 not scored/],
  [[e, e], 'errored', '2 trials not scored', 'None of 2 trials was scored.'],
] as const)('%j', (outcomes, result, short, message) => {
  const tally = trialTally(outcomes);
  expect([tally.result, tally.short]).toEqual([result, short]);
  expect(tally.message).toMatch(message);
});
