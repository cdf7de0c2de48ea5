import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Passed, failed and skipped tests of a runner. Where it tells them, a line for each test that needs a look. */
export type Counts = {
  passed: number;
  failed: number;
  skipped: number;
  failures?: readonly string[];
  /** What failed at the first attempt and passed at the second. */
  unsteady?: readonly string[];
};

export const noTests: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Adds counts up. */
export function sumCounts(all: readonly Counts[]): Counts {
  const failures = all.flatMap((counts) => counts.failures ?? []);
  const unsteady = all.flatMap((counts) => counts.unsteady ?? []);
  return {
    passed: sum(all.map(({ passed }) => passed)),
    failed: sum(all.map(({ failed }) => failed)),
    skipped: sum(all.map(({ skipped }) => skipped)),
    ...(failures.length > 0 && { failures }),
    ...(unsteady.length > 0 && { unsteady }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
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

/** What vitest reports of a file. */
export type VitestFile = {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
};

/** Reads a report of vitest's JSON reporter; nothing where there is none. */
export function readVitest(file: string): VitestFile[] | undefined {
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { testResults: VitestFile[] }).testResults;
}

/** The paths of the files with a failure. */
export function failedFiles(files: readonly VitestFile[]): string[] {
  return files.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/** Counts the tests of files, of which some ran a second time: what they failed with the first time is unsteady. */
export function countVitest(first: readonly VitestFile[], second: readonly VitestFile[] = []): Counts {
  const again = new Set(second.map(({ name }) => name));
  const last = [...first.filter(({ name }) => !again.has(name)), ...second];
  const statuses = last.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const failures = failuresIn(last);
  const steadied = new Set(second.filter(({ status }) => status !== 'failed').map(({ name }) => name));
  const unsteady = failuresIn(first.filter(({ name }) => steadied.has(name)));
  return {
    passed: count('passed'),
    failed: failures.length,
    skipped: count('pending', 'skipped', 'todo', 'disabled'),
    ...(failures.length > 0 && { failures }),
    ...(unsteady.length > 0 && { unsteady }),
  };
}

function failuresIn(files: readonly VitestFile[]): string[] {
  return files.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`${basename(name)}: ${firstLine(message)}`];
    return failed.map(
      ({ fullName, failureMessages: [words = ''] }) => `${basename(name)}: ${fullName}: ${firstLine(words)}`,
    );
  });
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] as string;
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
