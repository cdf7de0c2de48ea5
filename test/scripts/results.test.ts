import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import {
  fileTimes,
  gateCounts,
  passedGate,
  readBench,
  readJunit,
  readVitest,
  sumCounts,
  withExitCode,
  withSecondRun,
} from '../../scripts/results.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('rehearsal-results');

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('counts of several runners add up', () => {
  const unit = { passed: 3, failed: 1, skipped: 2 };
  expect(sumCounts([unit, gateCounts(true, 'knip'), gateCounts(false, 'biome')])).toEqual({
    passed: 4,
    failed: 2,
    skipped: 2,
    failures: [{ text: 'biome failed; see its output above' }],
  });
});

test.each([
  ['no report', undefined, 0, { passed: 0, failed: 1, skipped: 0 }],
  ['an error without a failed test', { passed: 5, failed: 0, skipped: 0 }, 1, { passed: 5, failed: 1, skipped: 0 }],
  ['failed tests', { passed: 5, failed: 2, skipped: 0 }, 1, { passed: 5, failed: 2, skipped: 0 }],
  ['success', { passed: 5, failed: 0, skipped: 1 }, 0, { passed: 5, failed: 0, skipped: 1 }],
])('a runner that ends with %s', (_, counts, code, expected) => {
  expect(withExitCode(counts, code)).toMatchObject(expected);
});

test('the time of a file is the reported one, or that of its tests together', () => {
  const tests = [
    { name: 'one', file: 'a.test.ts', ms: 40 },
    { name: 'two', file: 'b.test.ts', ms: 7 },
    { name: 'three', file: 'a.test.ts', ms: 2 },
  ];
  expect(fileTimes({ ...passedGate, tests, files: [{ file: 'b.test.ts', ms: 900 }] })).toEqual([
    { file: 'a.test.ts: 2 tests', ms: 42 },
    { file: 'b.test.ts: 1 test', ms: 900 },
  ]);
});

test('an error outside of the tests stays beside a failure that passes at its second run', () => {
  const failures = [{ file: 'a', text: 'a: one' }];
  const first = withExitCode({ passed: 5, failed: 1, skipped: 0, failures }, 1, 'Vitest caught 1 unhandled error');
  const again = { passed: 6, failed: 0, skipped: 0 };
  expect(withSecondRun(first, 'a', again)).toEqual({
    passed: 6,
    failed: 1,
    skipped: 0,
    failures: [{ text: 'Vitest caught 1 unhandled error' }],
    unsteady: ['a: one'],
  });
});

const outcome = (status: string, fullName = 'a test', ...failureMessages: string[]) => ({
  status,
  fullName,
  failureMessages,
  duration: 40,
});
const file = (name: string, status: string, ...assertionResults: ReturnType<typeof outcome>[]) => ({
  name: `/clone/test/${name}`,
  status,
  message: assertionResults.length === 0 ? 'SyntaxError: x\n at y' : '',
  assertionResults,
});

test('vitest: a failure names the line of its test file, and what Playwright waited for', () => {
  const message = [
    'Error: locator.waitFor: Timeout 120000ms exceeded.',
    'Call log:',
    "\u001b[2m  - waiting for locator('.debug-toolbar')\u001b[22m",
    '    at DebugView.start (/clone/test/support/debugView.ts:60:5)',
    '    at /clone/test/story.e2e.ts:109:3',
  ].join('\n');
  const testResults = [{ ...file('story.e2e.ts', 'failed', outcome('failed', 'an edit', message)) }];
  expect(readVitest(written('located.json', JSON.stringify({ testResults })))?.failures).toMatchObject([
    {
      text: "story.e2e.ts:109: an edit: Error: locator.waitFor: Timeout 120000ms exceeded. (waiting for locator('.debug-toolbar'))",
    },
  ]);
});

test('vitest: todo tests count as skipped, and each failure is one line', () => {
  const testResults = [
    file('a.test.ts', 'failed'),
    file('b.test.ts', 'failed', outcome('passed'), outcome('failed', 'two', 'Error: it is 3\n    at b.test.ts')),
    file('c.test.ts', 'passed', outcome('pending', 'needs a display'), outcome('todo')),
  ];
  const report = written('vitest.json', JSON.stringify({ testResults }));
  vi.stubEnv('REHEARSAL_SUITE', undefined);
  expect(readVitest(report)?.omissions).toEqual([expect.stringMatching(/^2 tests for npm run test:full/)]);
  vi.stubEnv('REHEARSAL_SUITE', 'full');
  const counts = readVitest(report);
  vi.unstubAllEnvs();
  const failures = [{ text: 'a.test.ts: SyntaxError: x' }, { text: 'b.test.ts: two: Error: it is 3' }];
  const omissions = ['2 tests of c.test.ts: needs a display and 1 more'];
  expect(counts).toMatchObject({ passed: 1, failed: 2, skipped: 2, failures, omissions });
  expect(counts?.tests).toContainEqual({ name: 'two', file: 'b.test.ts', ms: 40 });
  expect(sumCounts([passedGate, ...(counts ? [counts] : [])])).toMatchObject({ passed: 2, failures });
  expect(readVitest(join(folder, 'absent.json'))).toBeUndefined();
});

const failure = (file: string, name: string) => ({ file, text: `${file}: ${name}` });

test('a failure in a file that passes when it runs again is unsteady, and every other failure stays', () => {
  const first = {
    passed: 4,
    failed: 3,
    skipped: 1,
    failures: [failure('a', 'one'), failure('a', 'two'), failure('b', 'three')],
  };
  const passes = { passed: 5, failed: 0, skipped: 0 };
  expect(withSecondRun(first, 'a', passes)).toEqual({
    passed: 6,
    failed: 1,
    skipped: 1,
    failures: [failure('b', 'three')],
    unsteady: ['a: one', 'a: two'],
  });
  const again = { passed: 4, failed: 1, skipped: 0, failures: [failure('a', 'two')] };
  expect(withSecondRun(first, 'a', again)).toEqual(first);
  // A file in which no test ran shows nothing.
  expect(withSecondRun(first, 'a', { passed: 0, failed: 0, skipped: 2 })).toEqual(first);
  const broken = withExitCode(undefined, 7);
  expect(withSecondRun(first, 'a', broken)).toEqual(first);
});

test.each([
  'vitest.config.ts',
  'test/e2e/vitest.config.ts',
  'test/targets/vitest.config.ts',
  'test/scripts/planted/vitest.config.ts',
  'scripts/vitest.ts',
  'test/e2e/host/index.ts',
  'trainer/pyproject.toml',
  ...readdirSync(inRoot('trainer', 'rehearsal_trainer', 'requirements')).map(
    (name) => `trainer/rehearsal_trainer/requirements/${name}`,
  ),
])('%s lets no runner repeat a test', (file) => {
  expect(readFileSync(inRoot(file), 'utf8')).not.toMatch(/retr(?:y|ies)|rerun|flaky/);
});

test('pytest: errors count as failures, and each test has its duration', () => {
  const report = `<?xml version="1.0"?><testsuites name="pytest tests">
<testsuite name="pytest" errors="1" failures="1" skipped="3" tests="10" time="1.5">
<testcase classname="tests.test_grpo" name="test_a[&lt;1&gt;]" time="1.250" />
<testcase classname="tests.test_grpo" name="test_b" time="0.5"><failure message="assert 1 == 2&#10;more">x</failure></testcase>
<testcase classname="tests.test_vllm" name="test_c" time="0"><skipped type="pytest.skip" message="vLLM is not installed">x</skipped></testcase>
<testcase classname="tests.test_vllm" name="test_d" time="0"><skipped type="pytest.skip" message="vLLM is not installed">x</skipped></testcase>
<testcase classname="tests.test_devices" name="test_e" time="0"><skipped type="pytest.skip" message="there is no GPU">x</skipped></testcase>
</testsuite></testsuites>`;
  expect(readJunit(written('pytest.xml', report))).toEqual({
    passed: 5,
    failed: 2,
    skipped: 3,
    failures: [{ file: 'test_grpo.py', text: 'test_grpo.py: test_b: assert 1 == 2' }],
    omissions: ['2 tests of test_vllm.py: vLLM is not installed', '1 test of test_devices.py: there is no GPU'],
    tests: [
      { name: 'test_a[<1>]', file: 'test_grpo.py', ms: 1250 },
      { name: 'test_b', file: 'test_grpo.py', ms: 500 },
      ...['c', 'd'].map((letter) => ({ name: `test_${letter}`, file: 'test_vllm.py', ms: 0 })),
      { name: 'test_e', file: 'test_devices.py', ms: 0 },
    ],
  });
});

test('bench: each part is one test, and a skipped part has the command that installs what it needs', () => {
  const seconds = { memory: 3, tau2: 0, batch: 1 };
  const absent = [
    { part: 'tau2', what: 'SKIPPED', why: 'tau2 is not installed', install: 'pip install tau2' },
    { part: 'batch', what: 'FAILED', why: 'no worker' },
  ];
  expect(readBench(written('bench.json', JSON.stringify({ seconds, absent })))).toMatchObject({
    passed: 1,
    failed: 1,
    skipped: 1,
    failures: [{ text: 'batch: no worker' }],
    omissions: ['tau2: tau2 is not installed. Install it: pip install tau2'],
  });
});
