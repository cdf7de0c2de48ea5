import { test } from 'vitest';

/** Whether this is `npm run test:full`, which also runs exhaustive variants. */
export const isFullSuite = process.env['REHEARSAL_SUITE'] === 'full';

/** A test that only `npm run test:full` runs: `npm test` has a smaller one of the same kind. */
export const inFullSuite = test.runIf(isFullSuite);

/** Returns every case in the full suite, otherwise the first case of each kind. */
export function oneOfEachKind<Case>(cases: readonly Case[], kindOf: (each: Case) => string): readonly Case[] {
  if (isFullSuite) return cases;
  const kinds = new Map<string, Case>();
  for (const each of cases) if (!kinds.has(kindOf(each))) kinds.set(kindOf(each), each);
  return [...kinds.values()];
}

/** Returns every case in the full suite, otherwise the first and then every `step`-th. */
export function sampled<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return isFullSuite ? cases : cases.filter((_, at) => at % step === 0);
}
