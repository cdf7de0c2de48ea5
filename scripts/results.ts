import { existsSync, readFileSync } from 'node:fs';

/** Passed, failed and skipped tests of a runner. */
export type Counts = { passed: number; failed: number; skipped: number };

export const noTests: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Adds counts up. */
export function sumCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, { passed, failed, skipped }) => ({
      passed: sum.passed + passed,
      failed: sum.failed + failed,
      skipped: sum.skipped + skipped,
    }),
    noTests,
  );
}

/** A gate that either holds or does not counts as one test. */
export function gateCounts(held: boolean): Counts {
  return held ? { ...noTests, passed: 1 } : { ...noTests, failed: 1 };
}

/**
 * A runner that reports no failed test and still ends with an error (a file that cannot be loaded, a crash, no
 * report at all) counts as one failure.
 */
export function withExitCode(counts: Counts | undefined, code: number): Counts {
  if (!counts) return { ...noTests, failed: 1 };
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

type VitestReport = { numPassedTests: number; numFailedTests: number; numPendingTests: number; numTodoTests: number };

/** Reads the report of vitest's JSON reporter. */
export function readVitest(file: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  const skipped = report.numPendingTests + report.numTodoTests;
  return { passed: report.numPassedTests, failed: report.numFailedTests, skipped };
}

/** Reads a report in JUnit's format, as pytest writes it. */
export function readJunit(file: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  const suites = readFileSync(file, 'utf8').match(/<testsuite\b[^>]*>/g) ?? [];
  return sumCounts(
    suites.map((suite) => {
      const attribute = (name: string) => Number(suite.match(new RegExp(`\\b${name}="(\\d+)"`))?.[1] ?? 0);
      const failed = attribute('failures') + attribute('errors');
      const skipped = attribute('skipped');
      return { passed: attribute('tests') - failed - skipped, failed, skipped };
    }),
  );
}
