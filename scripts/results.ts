import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inRoot, root } from './repository.ts';

/** One test with its duration in milliseconds. */
export type TimedTest = { readonly name: string; readonly file: string; readonly ms: number };

/** The time of a test file in milliseconds, with its imports and hooks. */
export type FileTime = { readonly file: string; readonly ms: number };

/** A test that failed: one line about it, and its file as the runner takes it, where the failure is of one file. */
export type TestFailure = { readonly text: string; readonly file?: string };

/** Some test files that did not run, and the reason. */
export type FilesNotRun = { readonly files: number; readonly reason: string };

/** Passed, failed and skipped tests of a runner, with each failure and the duration of each test. */
export type Counts = {
  passed: number;
  failed: number;
  skipped: number;
  failures?: readonly TestFailure[];
  /** One line for each test that failed first and passed when its file ran again, alone. */
  unsteady?: readonly string[];
  /** One line for each skipped part, with the command that installs what it needs. */
  omissions?: readonly string[];
  /** Test files that did not run because this machine has no sandbox. */
  notRun?: readonly FilesNotRun[];
  /** One line for each process that was left behind and kept the output of a command or a step open. */
  leftovers?: readonly string[];
  tests?: readonly TimedTest[];
  /** The times of the files, where they are more than those of the tests together. */
  files?: readonly FileTime[];
};

export const noTests: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Adds counts up. */
export function sumCounts(all: readonly Counts[]): Counts {
  const failures = all.flatMap((counts) => counts.failures ?? []);
  const unsteady = all.flatMap((counts) => counts.unsteady ?? []);
  const omissions = all.flatMap((counts) => counts.omissions ?? []);
  const notRun = all.flatMap((counts) => counts.notRun ?? []);
  const leftovers = all.flatMap((counts) => counts.leftovers ?? []);
  const tests = all.flatMap((counts) => counts.tests ?? []);
  const files = all.flatMap((counts) => counts.files ?? []);
  return {
    passed: sum(all.map(({ passed }) => passed)),
    failed: sum(all.map(({ failed }) => failed)),
    skipped: sum(all.map(({ skipped }) => skipped)),
    ...(failures.length > 0 && { failures }),
    ...(unsteady.length > 0 && { unsteady }),
    ...(omissions.length > 0 && { omissions }),
    ...(notRun.length > 0 && { notRun }),
    ...(leftovers.length > 0 && { leftovers }),
    ...(tests.length > 0 && { tests }),
    ...(files.length > 0 && { files }),
  };
}

/** Reports whether counts include neither a test nor a test file that did not run. */
export function isEmpty({ passed, failed, skipped, notRun }: Counts): boolean {
  return passed + failed + skipped === 0 && !notRun;
}

/**
 * Returns the counts of a run after a file ran again. If tests of the file passed and none failed, its failures become
 * unsteady tests, which count as passed. Every other failure stays.
 */
export function withSecondRun(first: Counts, file: string, second: Counts): Counts {
  const passes = second.failed === 0 && second.passed > 0;
  const passesNow = (failure: TestFailure) => passes && failure.file === file;
  const unsteady = first.failures?.filter(passesNow).map(({ text }) => text) ?? [];
  const { failures = [], ...rest } = first;
  const leftovers = [...(first.leftovers ?? []), ...(second.leftovers ?? [])];
  const left = failures.filter((failure) => !passesNow(failure));
  return {
    ...rest,
    passed: first.passed + unsteady.length,
    failed: first.failed - unsteady.length,
    ...(left.length > 0 && { failures: left }),
    ...(unsteady.length > 0 && { unsteady: [...(first.unsteady ?? []), ...unsteady] }),
    ...(leftovers.length > 0 && { leftovers }),
  };
}

/** Returns the time of each file: the reported one, or that of its tests together. */
export function fileTimes({ tests = [], files = [] }: Counts): readonly FileTime[] {
  const times = Map.groupBy(files, ({ file }) => file);
  return [...Map.groupBy(tests, ({ file }) => file)].map(([file, each]) => ({
    file: `${file}: ${counted(each.length)}`,
    ms: sum((times.get(file) ?? each).map(({ ms }) => ms)),
  }));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The counts of a check that passes. */
export const passedGate: Counts = { ...noTests, passed: 1 };

/**
 * Counts a check that either passes or fails as one test.
 * @param what the name of the check
 */
export function gateCounts(passes: boolean, what: string): Counts {
  return passes ? passedGate : failedWith(`${what} failed; see its output above`);
}

/** Returns the path of a report in dist/test, which does not exist yet. */
export function freshReport(name: string): string {
  const report = inRoot('dist', 'test', name);
  mkdirSync(inRoot('dist', 'test'), { recursive: true });
  rmSync(report, { force: true });
  return report;
}

/** Counts something that ended without a report as one failure. */
export function failedWith(text: string): Counts {
  return { ...noTests, failed: 1, failures: [{ text }] };
}

/**
 * Adds a failure to a runner that reports no failed test and still ends with an error: a file that cannot be loaded,
 * a crash, or no report at all.
 * @param error an error that the runner reports outside of its tests, also beside tests that failed
 */
export function withExitCode(counts: Counts | undefined, code: number, error?: string): Counts {
  if (!counts) return failedWith(`no report was written (exit code ${code})`);
  if (error === undefined && (code === 0 || counts.failed > 0)) return counts;
  const text = error ?? `no test failed, but the runner ended with exit code ${code}`;
  return { ...counts, failed: counts.failed + 1, failures: [...(counts.failures ?? []), { text }] };
}

type VitestFile = {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; fullName: string; failureMessages: string[]; duration?: number }[];
};

/**
 * Reads a report of vitest's JSON reporter if it exists.
 * @param times the times of the files, as scripts/fileTimes.ts writes them
 */
export function readVitest(file: string, times?: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  const files = times !== undefined && existsSync(times) ? (JSON.parse(readFileSync(times, 'utf8')) as FileTime[]) : [];
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: VitestFile[] };
  const statuses = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const failures = testResults.flatMap(failuresIn);
  const skipped = count(...skippedStatuses);
  const omissions = process.env.REHEARSAL_SUITE === 'full' ? testResults.flatMap(skippedIn) : skippedOf(skipped);
  return {
    passed: count('passed'),
    failed: failures.length,
    skipped,
    ...(failures.length > 0 && { failures }),
    ...(omissions.length > 0 && { omissions }),
    ...(files.length > 0 && { files: files.map(({ file: name, ms }) => ({ file: basename(name), ms })) }),
    tests: testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, duration = 0 }) => ({ name: fullName, file: basename(name), ms: duration })),
    ),
  };
}

const skippedStatuses = ['pending', 'skipped', 'todo', 'disabled'];

/** Returns one line about the skipped tests of a file. Vitest does not know why a test is skipped. */
function skippedIn({ name, assertionResults }: VitestFile): string[] {
  const [first, ...more] = assertionResults.filter(({ status }) => skippedStatuses.includes(status));
  if (!first) return [];
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return [`${counted(1 + more.length)} of ${basename(name)}: ${first.fullName}${others}`];
}

/** Returns one line about all skipped tests, most of which are variants of the full suite. */
function skippedOf(tests: number): string[] {
  if (tests === 0) return [];
  return [`${counted(tests)} for npm run test:full, or for another machine; npm run test:full lists what it skips`];
}

function counted(tests: number): string {
  return tests === 1 ? '1 test' : `${tests} tests`;
}

function failuresIn({ name, status, message, assertionResults }: VitestFile): TestFailure[] {
  const file = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (status === 'failed' && failed.length === 0) return [{ file, text: `${basename(name)}: ${firstLine(message)}` }];
  return failed.map(({ fullName, failureMessages: [message = ''] }) => ({
    file,
    text: `${basename(name)}${lineIn(name, message)}: ${fullName}: ${firstLine(message)}${awaitedIn(message)}`,
  }));
}

/** Returns the line of a test file, as `:12`, where an error's stack last leaves it. */
function lineIn(file: string, message: string): string {
  const frame = message.split('\n').find((line) => /^\s*at /.test(line) && line.includes(`${file}:`));
  const [line] = frame?.split(`${file}:`)[1]?.split(':') ?? [];
  return line === undefined ? '' : `:${Number.parseInt(line, 10)}`;
}

/** Returns what Playwright waited for, from the call log of its error. */
function awaitedIn(message: string): string {
  const awaited = /^\s*- (waiting for .+)$/m.exec(stripVTControlCharacters(message))?.[1];
  return awaited === undefined ? '' : ` (${awaited})`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] as string;
}

type BenchReport = {
  readonly seconds: Readonly<Record<string, number>>;
  readonly absent: readonly {
    readonly part: string;
    readonly what: 'SKIPPED' | 'FAILED';
    readonly why: string;
    readonly install?: string;
  }[];
};

/** Reads the report of the bench, if there is one. Each part counts as one test. */
export function readBench(file: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  const { seconds, absent } = JSON.parse(readFileSync(file, 'utf8')) as BenchReport;
  const parts = Object.entries(seconds);
  const failures = absent.flatMap(({ part, what, why }) => (what === 'FAILED' ? [{ text: `${part}: ${why}` }] : []));
  return {
    passed: parts.length - absent.length,
    failed: failures.length,
    skipped: absent.length - failures.length,
    ...(failures.length > 0 && { failures }),
    omissions: absent.flatMap(({ part, what, why, install }) =>
      what === 'SKIPPED' ? [`${part}: ${why}.${install ? ` Install it: ${install}` : ''}`] : [],
    ),
    tests: parts.map(([part, time]) => ({ name: part, file: 'bench', ms: 1000 * time })),
  };
}

/** Reads pytest's JUnit report, if there is one. */
export function readJunit(file: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const suites = text.match(/<testsuite\b[^>]*>/g) ?? [];
  const counts = suites.map((suite) => {
    const failed = number(suite, 'failures') + number(suite, 'errors');
    const skipped = number(suite, 'skipped');
    return { passed: number(suite, 'tests') - failed - skipped, failed, skipped };
  });
  const cases = [...text.matchAll(/<testcase\b[^>]*?(?:\/>|>(?:\s*<(?:failure|error|skipped)\b[^>]*>)?)/g)].map(
    ([tag]) => tag,
  );
  const failures = cases.flatMap((tag) => {
    const message = messageIn(tag, 'failure') ?? messageIn(tag, 'error');
    const file = fileOf(tag);
    return message === undefined ? [] : [{ file, text: `${file}: ${attribute(tag, 'name')}: ${firstLine(message)}` }];
  });
  const omissions = skippedWithReason(cases);
  return {
    ...sumCounts(counts),
    ...(failures.length > 0 && { failures }),
    ...(omissions.length > 0 && { omissions }),
    tests: cases.map((tag) => ({
      name: attribute(tag, 'name') ?? '',
      file: fileOf(tag),
      ms: 1000 * number(tag, 'time'),
    })),
  };
}

/** Returns the message of a test's failure, error or skip. */
function messageIn(tag: string, result: 'failure' | 'error' | 'skipped'): string | undefined {
  return attribute(tag.match(new RegExp(`<${result}\\b[^>]*>$`))?.[0] ?? '', 'message');
}

/** Returns one line for each reason for which tests were skipped. */
function skippedWithReason(cases: readonly string[]): string[] {
  const skipped = cases.flatMap((tag) => {
    const reason = messageIn(tag, 'skipped');
    return reason === undefined ? [] : [{ file: fileOf(tag), reason: firstLine(reason) }];
  });
  return [...Map.groupBy(skipped, ({ reason }) => reason)].map(([reason, tests]) => {
    const files = new Set(tests.map(({ file }) => file));
    return `${counted(tests.length)} of ${[...files].join(', ')}: ${reason}`;
  });
}

/** The file of a test, from its class name: `tests.test_grpo` is `test_grpo.py`. */
function fileOf(tag: string): string {
  const module = attribute(tag, 'classname')
    ?.split('.')
    .find((part) => part.startsWith('test_'));
  return `${module ?? 'pytest'}.py`;
}

function number(tag: string, name: string): number {
  return Number(attribute(tag, name) ?? 0);
}

function attribute(tag: string, name: string): string | undefined {
  const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  const value = tag.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1];
  return value
    ?.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/&(\w+);/g, (whole, entity: string) => entities[entity] ?? whole);
}
