import { expect, test } from 'vitest';
import { reasonOf } from '../../scripts/obstacle.ts';
import type { Counts } from '../../scripts/results.ts';
import {
  continuationOf,
  findingsOf,
  isFinding,
  type Outcome,
  summaryOf,
  totalOf,
  unmatchedIn,
} from '../../scripts/testSummary.ts';

const nothing = { passed: 0, failed: 0, skipped: 0 };
const outcomes: readonly Outcome[] = [
  { step: 'build', counts: nothing, ms: 0, absence: { status: 'not run', reason: 'it is before --from unit' } },
  { step: 'unit', counts: { passed: 9, failed: 0, skipped: 2, omissions: ['2 tests of a'] }, ms: 1234 },
  { step: 'host', counts: { passed: 5, failed: 0, skipped: 0, unsteady: ['b'] }, ms: 119_999 },
  {
    step: 'e2e',
    counts: { passed: 1, failed: 2, skipped: 0, failures: [{ text: 'c' }, { text: 'd' }], unsteady: ['e'] },
    ms: 600_000,
  },
  {
    step: 'ray',
    counts: nothing,
    ms: 0,
    absence: { status: 'skipped', reason: reasonOf({ reason: 'no Ray', install: 'pip install ray' }) },
  },
];

test('the summary has one line for each step', () => {
  expect(summaryOf(outcomes)).toEqual([
    'not run  build it is before --from unit',
    'passed   unit  9 passed, 0 failed, 2 skipped (1.2 s)',
    'unsteady host  5 passed, 0 failed, 1 unsteady (120.0 s)',
    'failed   e2e   1 passed, 2 failed, 1 unsteady (10.0 min)',
    'skipped  ray   no Ray. Install it: pip install ray',
  ]);
});

test('every failure, unsteady test, skipped part and leftover is one line, which a run under load repeats', () => {
  const findings = findingsOf(outcomes, ['x in the temporary folder']);
  expect(findings.filter(isFinding)).toEqual(findings);
  expect(findings).toEqual([
    'SKIPPED: unit: 2 tests of a',
    'FAILED: e2e: c',
    'FAILED: e2e: d',
    'UNSTEADY: failed, and passed when its file ran again: host: b',
    'UNSTEADY: failed, and passed when its file ran again: e2e: e',
    'LEFT BEHIND: x in the temporary folder',
  ]);
});

test.each<[string, Counts, boolean]>([
  ['a test', { ...nothing, passed: 1, tests: [{ name: 'mock', file: 'benchmarks', ms: 1 }] }, true],
  ['a skipped test', { ...nothing, skipped: 1 }, true],
  ['files that did not run', { ...nothing, notRun: [{ files: 1, reason: 'no sandbox' }] }, true],
  ['nothing beside a gate, which has no tests', { ...nothing, passed: 1 }, false],
])('a filter that matches %s', (_, counts, isMatch) => {
  expect(unmatchedIn([{ step: 'benchmarks', counts, ms: 1 }], ['mock'])).toHaveLength(isMatch ? 0 : 1);
});

test.each([
  [false, { passed: 15, failed: 2 }],
  [true, { passed: 13, failed: 5 }],
])('unsteady tests and leftovers count as failed only in a strict run (%s)', (isStrict, total) => {
  expect(totalOf(outcomes, ['x in the temporary folder'], { isStrict, needsSandbox: true })).toEqual(total);
});

test.each([
  [{ full: false }, [], 'npm test -- --from e2e'],
  [{ full: true, from: 'unit', slowest: true }, [], 'npm run test:full -- --from e2e --slowest'],
  [
    { only: 'unit,e2e', skip: 'lint', strict: true, slowest: false, settle: undefined },
    ['rollout', 'a story'],
    "npm test -- --only unit,e2e --skip lint --strict --from e2e rollout 'a story'",
  ],
])('an interrupted run continues with the same options and filters (%j)', (options, filters, command) => {
  expect(continuationOf('e2e', options, filters)).toBe(`Continue: ${command}`);
});
