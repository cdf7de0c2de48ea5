/** The entry that VS Code loads in its extension host: runs the test files of this folder with mocha. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import { testMark } from '../../../scripts/vscode/testMark.ts';

/** The duration of one test. */
type TimedTest = { name: string; ms: number; file: string };

/** A test that failed, for scripts/results.ts. */
type TestFailure = { text: string; file: string };

/** The results of one run; written as JSON to the file that REHEARSAL_HOST_RESULTS names. */
type HostResults = { passed: number; failed: number; skipped: number; tests: TimedTest[]; failures?: TestFailure[] };

/** Runs all tests and rejects when one failed, which is how VS Code learns the exit code. */
export async function run(): Promise<void> {
  // The limit only ends a test that hangs; each wait inside a test has its own, shorter limit.
  const mocha = new Mocha({ ui: 'bdd', timeout: 300_000, color: false, forbidOnly: true });
  const files = (process.env.REHEARSAL_HOST_FILES ?? '').split(',').sort();
  for (const file of files) mocha.addFile(join(__dirname, bundled(file)));
  const results = await runMarked(mocha);
  const file = process.env.REHEARSAL_HOST_RESULTS;
  if (file) writeFileSync(file, JSON.stringify(results));
  if (results.failed > 0) throw new Error(`${results.failed} tests failed in the extension host`);
  if (results.passed === 0) throw new Error('No test ran in the extension host');
}

/** Runs mocha with each printed line marked. */
function runMarked(mocha: Mocha): Promise<HostResults> {
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => {
    for (const line of format(...args).split('\n')) console.log(`${testMark}${line}`);
  };
  const tests: TimedTest[] = [];
  const failures: TestFailure[] = [];
  return new Promise((resolve) => {
    const runner = mocha.run((failed) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      resolve({ passed: passes, failed, skipped: pending, tests, ...(failures.length > 0 && { failures }) });
    });
    const timed = (test: Mocha.Runnable) => tests.push(timedTest(test));
    runner.on('test end', (test) => {
      if (!test.isPending()) timed(test);
    });
    runner.on('hook end', timed);
    runner.on('fail', (test, error: Error) => {
      const file = sourceOf(test);
      failures.push({ file, text: `${file}: ${test.fullTitle()}: ${error.message.split('\n', 1)[0]}` });
    });
  });
}

function timedTest(test: Mocha.Runnable): TimedTest {
  return { name: test.fullTitle(), ms: test.duration ?? 0, file: sourceOf(test) };
}

/** The name of the source of a test's file, and the name of its bundle. */
const sourceOf = (test: Mocha.Runnable) => basename(test.file ?? '').replace(/\.cjs$/, '.ts');
const bundled = (source: string) => source.replace(/\.ts$/, '.cjs');
