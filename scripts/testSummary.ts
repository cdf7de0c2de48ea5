import type { Obstacle } from './obstacle.ts';
import { type Counts, noTests, sumByFile, sumCounts } from './results.ts';
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
  return counts.unsteady ? 'unsteady' : 'passed';
}

/** Returns the number of passed and failed tests, and of the others if there are any. */
export function describeCounts({ passed, failed, skipped, unsteady = [] }: Counts): string {
  const others = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(unsteady.length > 0 ? [`${unsteady.length} unsteady`] : []),
  ];
  return [`${passed} passed`, `${failed} failed`, ...others].join(', ');
}

/** Returns why something cannot run, with the command that installs what it needs. */
export function reasonOf({ reason, install }: Obstacle): string {
  return install ? `${reason}. Install it: ${install}` : reason;
}

/** Returns one line for each step: its status, its name, and its counts with the time or the reason why it did not run. */
export function summaryOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.map((outcome) => {
    const status = statusOf(outcome);
    const result = outcome.absence?.reason ?? `${describeCounts(outcome.counts)} (${formatDuration(outcome.ms)})`;
    return `${style(colours[status], status.padEnd(8))} ${outcome.step.padEnd(10)} ${result}`;
  });
}

/** Returns one line for each failure, unsteady test, skipped part of a step and leftover. */
export function findingsOf(outcomes: readonly Outcome[], leftovers: readonly string[]): readonly string[] {
  const ofSteps = (textsIn: (counts: Counts) => readonly string[] | undefined) =>
    outcomes.flatMap(({ step, counts }) => (textsIn(counts) ?? []).map((text) => `${step}: ${text}`));
  const failures = ofSteps((counts) => counts.failures?.map(({ text }) => text));
  return [
    ...ofSteps(({ omissions }) => omissions).map((text) => style('yellow', `SKIPPED: ${text}`)),
    ...failures.map((text) => style('red', `FAILED: ${text}`)),
    ...ofSteps(({ unsteady }) => unsteady).map((text) =>
      style('yellow', `UNSTEADY: failed, and passed when its file ran again: ${text}`),
    ),
    ...leftovers.map((text) => style('yellow', `LEFT BEHIND: ${text}`)),
  ];
}

/** Returns the total of passed and failed tests. In a strict run, unsteady tests and leftovers count as failed. */
export function totalOf(outcomes: readonly Outcome[], leftovers: readonly string[], isStrict: boolean) {
  const { passed, failed, unsteady = [] } = sumCounts(outcomes.map(({ counts }) => counts));
  if (!isStrict) return { passed, failed };
  return { passed: passed - unsteady.length, failed: failed + unsteady.length + leftovers.length };
}

/** Returns where the time goes: the 20 slowest tests, and the 10 files with the most time in tests. */
export function slowestOf(outcomes: readonly Outcome[]): readonly string[] {
  const tests = outcomes.flatMap(({ step, counts }) =>
    (counts.tests ?? []).map(({ name, file, ms }) => ({ ms, file: `${step.padEnd(6)} ${file}`, name })),
  );
  const files = sumByFile(tests);
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
