import { type Counts, type FilesNotRun, fileTimes, noTests, sumCounts } from './results.ts';
import { formatDuration, style } from './terminal.ts';

/** The result of a step. */
export type Outcome = {
  /** The name of the step. */
  readonly step: string;
  readonly counts: Counts;
  readonly ms: number;
  /** Why there is no result: `skipped` if this machine lacks something, otherwise `not run`. */
  readonly absence?: { readonly status: 'skipped' | 'not run'; readonly reason: string };
};

/** Returns the outcome of a step that did not run. */
export function absent(step: string, status: 'skipped' | 'not run', reason: string): Outcome {
  return { step, counts: noTests, ms: 0, absence: { status, reason } };
}

type Status = 'passed' | 'unsteady' | 'failed' | 'skipped' | 'not run';

const colours = { passed: 'green', unsteady: 'yellow', failed: 'red', skipped: 'yellow', 'not run': 'dim' } as const;

function statusOf({ counts, absence }: Outcome): Status {
  if (absence) return absence.status;
  if (counts.failed > 0) return 'failed';
  if (counts.notRun) return 'skipped';
  return counts.unsteady ? 'unsteady' : 'passed';
}

/** Returns the number of passed and failed tests, of the others if there are any, and of the files that did not run. */
export function describeCounts({ passed, failed, skipped, unsteady = [], notRun = [] }: Counts): string {
  const others = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(unsteady.length > 0 ? [`${unsteady.length} unsteady`] : []),
    ...notRun.map(describeNotRun),
  ];
  return [`${passed} passed`, `${failed} failed`, ...others].join(', ');
}

function describeNotRun({ files, reason }: FilesNotRun): string {
  return `${files === 1 ? '1 file' : `${files} files`} not run: ${reason}`;
}

/** Returns the status of a step as a word in its colour. */
export function styledStatus(outcome: Outcome): string {
  const status = statusOf(outcome);
  return style(colours[status], status.padEnd(8));
}

/** Returns one line for each step: its status, its name, and its counts with the time or the reason why it did not run. */
export function summaryOf(outcomes: readonly Outcome[]): readonly string[] {
  const width = Math.max(...outcomes.map(({ step }) => step.length));
  return outcomes.map((outcome) => {
    const result = outcome.absence?.reason ?? `${describeCounts(outcome.counts)} (${formatDuration(outcome.ms)})`;
    return `${styledStatus(outcome)} ${outcome.step.padEnd(width)} ${result}`;
  });
}

/** Returns one line for each failure, unsteady test, skipped part of a step and leftover. */
export function findingsOf(outcomes: readonly Outcome[], leftovers: readonly string[]): readonly string[] {
  const ofSteps = (textsIn: (counts: Counts) => readonly string[] | undefined) =>
    outcomes.flatMap(({ step, counts }) => (textsIn(counts) ?? []).map((text) => `${step}: ${text}`));
  const failures = ofSteps((counts) => counts.failures?.map(({ text }) => text));
  return [
    ...ofSteps(({ omissions = [], notRun = [] }) => [...omissions, ...notRun.map(describeNotRun)]).map((text) =>
      style('yellow', `SKIPPED: ${text}`),
    ),
    ...failures.map((text) => style('red', `FAILED: ${text}`)),
    ...ofSteps(({ unsteady }) => unsteady).map((text) =>
      style('yellow', `UNSTEADY: failed, and passed when its file ran again: ${text}`),
    ),
    ...leftovers.map((text) => style('yellow', `LEFT BEHIND: ${text}`)),
  ];
}

/** Returns one line if filters are given and no step found a test for them. A step that was skipped might have. */
export function unmatchedIn(outcomes: readonly Outcome[], filters: readonly string[]): readonly string[] {
  const mayMatch = ({ counts, absence }: Outcome) =>
    [counts.tests, counts.notRun].some((found) => found !== undefined) ||
    counts.failed + counts.skipped > 0 ||
    absence?.status === 'skipped';
  if (filters.length === 0 || outcomes.some(mayMatch)) return [];
  return [style('red', `FAILED: no test matches ${filters.join(', ')}`)];
}

/** Returns whether a line of the output, without colours, is one of `findingsOf`. */
export function isFinding(line: string): boolean {
  return /^(?:SKIPPED|FAILED|UNSTEADY|LEFT BEHIND): /.test(line);
}

/**
 * Returns how to continue a run that was interrupted.
 * @param step the first step that did not end
 * @param options the options of the run, by name
 */
export function continuationOf(
  step: string,
  { full, ...options }: Readonly<Record<string, string | boolean | undefined>>,
  filters: readonly string[],
): string {
  const given: typeof options = { ...options, from: step };
  const kept = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, quoted(`${value}`)];
  });
  return ['Continue:', full ? 'npm run test:full' : 'npm test', '--', ...kept, ...filters.map(quoted)].join(' ');
}

function quoted(word: string): string {
  return /^[\w./,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Conditions that fail a run in addition to failed tests. */
export type Strictness = {
  /** Unsteady tests and leftovers count as failed. */
  readonly isStrict: boolean;
  /** Test files that did not run because there is no sandbox count as failed. */
  readonly needsSandbox: boolean;
};

/** Returns the total of passed and failed tests. */
export function totalOf(
  outcomes: readonly Outcome[],
  leftovers: readonly string[],
  { isStrict, needsSandbox }: Strictness,
) {
  const { passed, failed, unsteady = [], notRun = [] } = sumCounts(outcomes.map(({ counts }) => counts));
  const filesNotRun = notRun.reduce((sum, { files }) => sum + files, 0);
  const tolerated = isStrict ? unsteady.length : 0;
  return {
    passed: passed - tolerated,
    failed: failed + tolerated + (isStrict ? leftovers.length : 0) + (needsSandbox ? filesNotRun : 0),
  };
}

/** Returns where the time goes: the 20 slowest tests, and the 10 slowest files, with their imports and hooks. */
export function slowestOf(outcomes: readonly Outcome[]): readonly string[] {
  const tests = outcomes.flatMap(({ step, counts }) =>
    (counts.tests ?? []).map(({ name, file, ms }) => ({ ms, file: `${step.padEnd(6)} ${file}`, name })),
  );
  const files = outcomes.flatMap(({ step, counts }) =>
    fileTimes(counts).map(({ file, ms }) => ({ ms, text: `${step.padEnd(6)} ${file}` })),
  );
  return [
    style('bold', `━━ the 20 slowest of ${tests.length} tests`),
    ...slowest(
      tests.map(({ ms, file, name }) => ({ ms, text: `${file}: ${name}` })),
      20,
    ),
    style('bold', `━━ the 10 slowest of ${files.length} files`),
    ...slowest(files, 10),
  ];
}

function slowest(times: readonly { readonly ms: number; readonly text: string }[], count: number): readonly string[] {
  const ordered = times.toSorted((a, b) => b.ms - a.ms).slice(0, count);
  return ordered.map(({ ms, text }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${text}`);
}
