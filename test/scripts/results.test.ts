import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  countVitest,
  failedFiles,
  gateCounts,
  readJunit,
  readVitest,
  sumCounts,
  withExitCode,
} from '../../scripts/results.ts';

const folder = mkdtempSync(join(tmpdir(), 'rehearsal-results-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('counts of several runners add up', () => {
  const unit = { passed: 3, failed: 1, skipped: 2 };
  expect(sumCounts([unit, gateCounts(true), gateCounts(false)])).toEqual({ passed: 4, failed: 2, skipped: 2 });
});

test.each([
  ['no report', undefined, 0, { passed: 0, failed: 1, skipped: 0 }],
  ['an error without a failed test', { passed: 5, failed: 0, skipped: 0 }, 1, { passed: 5, failed: 1, skipped: 0 }],
  ['failed tests', { passed: 5, failed: 2, skipped: 0 }, 1, { passed: 5, failed: 2, skipped: 0 }],
  ['success', { passed: 5, failed: 0, skipped: 1 }, 0, { passed: 5, failed: 0, skipped: 1 }],
])('a runner that ends with %s', (_, counts, code, expected) => {
  expect(withExitCode(counts, code)).toEqual(expected);
});

const outcome = (status: string, fullName = 'a test', ...failureMessages: string[]) => ({
  status,
  fullName,
  failureMessages,
});
const file = (name: string, status: string, ...assertionResults: ReturnType<typeof outcome>[]) => ({
  name: `/clone/test/${name}`,
  status,
  message: assertionResults.length === 0 ? 'SyntaxError: x\n at y' : '',
  assertionResults,
});
const report = (name: string, ...testResults: ReturnType<typeof file>[]) =>
  readVitest(written(name, JSON.stringify({ testResults }))) ?? [];

test('vitest: todo tests count as skipped, and what failed is told in a line each', () => {
  const files = report(
    'vitest.json',
    file('a.test.ts', 'failed'),
    file('b.test.ts', 'failed', outcome('passed'), outcome('failed', 'two', 'Error: it is 3\n    at b.test.ts')),
    file('c.test.ts', 'passed', outcome('pending'), outcome('todo')),
  );
  const failures = ['a.test.ts: SyntaxError: x', 'b.test.ts: two: Error: it is 3'];
  expect(failedFiles(files)).toEqual(['/clone/test/a.test.ts', '/clone/test/b.test.ts']);
  expect(countVitest(files)).toEqual({ passed: 1, failed: 2, skipped: 2, failures });
  expect(sumCounts([gateCounts(true), countVitest(files)])).toMatchObject({ passed: 2, failures });
  expect(readVitest(join(folder, 'absent.json'))).toBeUndefined();
});

test('a file that passes at its second attempt is unsteady; one that fails again has failed', () => {
  const steady = file('a.e2e.ts', 'passed', outcome('passed'));
  const first = report(
    'first.json',
    steady,
    file('b.e2e.ts', 'failed', outcome('passed'), outcome('failed', 'clicks', 'Timeout')),
    file('c.e2e.ts', 'failed', outcome('failed', 'draws', 'Timeout')),
  );
  const second = report(
    'second.json',
    file('b.e2e.ts', 'passed', outcome('passed'), outcome('passed', 'clicks')),
    file('c.e2e.ts', 'failed', outcome('failed', 'draws', 'it is red')),
  );
  expect(countVitest(first, second)).toEqual({
    passed: 3,
    failed: 1,
    skipped: 0,
    failures: ['c.e2e.ts: draws: it is red'],
    unsteady: ['b.e2e.ts: clicks: Timeout'],
  });
});

test('pytest: errors count as failures', () => {
  const report =
    '<?xml version="1.0"?><testsuites name="pytest tests">' +
    '<testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.5"><testcase/></testsuite></testsuites>';
  expect(readJunit(written('pytest.xml', report))).toEqual({ passed: 4, failed: 3, skipped: 3 });
});
