import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gateCounts, readJunit, readVitest, sumCounts, withExitCode } from '../../scripts/results.ts';

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

test('vitest: todo tests count as skipped', () => {
  const report = { numPassedTests: 7, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 };
  expect(readVitest(written('vitest.json', JSON.stringify(report)))).toEqual({ passed: 7, failed: 1, skipped: 3 });
  expect(readVitest(join(folder, 'absent.json'))).toBeUndefined();
});

test('pytest: errors count as failures', () => {
  const report =
    '<?xml version="1.0"?><testsuites name="pytest tests">' +
    '<testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.5"><testcase/></testsuite></testsuites>';
  expect(readJunit(written('pytest.xml', report))).toEqual({ passed: 4, failed: 3, skipped: 3 });
});
