import { reasonOf } from './obstacle.ts';
import { inRoot } from './repository.ts';
import { type Counts, isEmpty, withSecondRun } from './results.ts';
import type { Step } from './step.ts';
import { runStepProcess } from './stepProcess.ts';
import { announce, style, warn } from './terminal.ts';
import { absent, describeCounts, type Outcome, styledStatus } from './testSummary.ts';

/** Describes a run of steps. */
export type StepsRun = {
  /** Parts of test file names. */
  readonly filters: readonly string[];
  /** Once aborted, running steps are killed and no other one starts. */
  readonly interruption: AbortSignal;
};

/** Runs the steps in order, whatever fails. A background step runs beside the ones that follow it. */
export async function runSteps(steps: readonly Step[], run: StepsRun): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  for (const step of steps) {
    if (step.isFull) await Promise.all(outcomes);
    const outcome = runStep(step, run, steps.length === 1);
    outcomes.push(outcome);
    if (!step.isBackground) await outcome;
  }
  return Promise.all(outcomes);
}

async function runStep(step: Step, run: StepsRun, isLive: boolean): Promise<Outcome> {
  if (run.interruption.aborted) return absent(step.name, 'not run', interrupted);
  const heading = `\n${style('bold', `━━ ${step.name}`)} ${style('dim', step.title)}`;
  const obstacle = step.obstacle?.();
  if (obstacle) {
    console.log(heading);
    warn(`SKIPPED: ${reasonOf(obstacle)}`);
    return absent(step.name, 'skipped', reasonOf(obstacle));
  }
  if (isLive) console.log(heading);
  else announce(`${step.name} started`);
  const started = performance.now();
  const { output, counts } = await processOf(step, ['run', step.name, ...run.filters], run, isLive);
  const ms = performance.now() - started;
  if (!isLive) console.log(`${heading}\n${output.trim()}`);
  if (!counts) return absent(step.name, 'not run', interrupted);
  if (run.filters.length > 0 && isEmpty(counts)) return absent(step.name, 'not run', unmatched);
  const outcome = { step: step.name, counts, ms };
  console.log(`${styledStatus(outcome).trim()} ${step.name}: ${describeCounts(counts)}`);
  return outcome;
}

/** Names the reason for which a step did not run to its end after an interruption. */
export const interrupted = 'interrupted';

/** Names the reason for which a step did not run with filters. */
const unmatched = 'no test file matches';

/**
 * Runs each failed file once more, alone, if other processes can disturb it.
 * @param outcomes the outcomes of the first run of the steps
 */
export async function runAgain(
  steps: readonly Step[],
  outcomes: readonly Outcome[],
  run: StepsRun,
): Promise<readonly Outcome[]> {
  const results: Outcome[] = [];
  for (const outcome of outcomes) {
    const step = steps.find(({ name }) => name === outcome.step);
    results.push(step ? { ...outcome, counts: await repeated(step, outcome.counts, run) } : outcome);
  }
  return results;
}

async function repeated(step: Step, first: Counts, run: StepsRun): Promise<Counts> {
  let counts = first;
  for (const file of filesToRepeat(step, first)) {
    if (run.interruption.aborted) break;
    announce(`${step.name}: again, alone: ${file}`);
    const again = await processOf(step, ['again', step.name, file], run, false);
    console.log(again.output.trim());
    if (again.counts) counts = withSecondRun(counts, file, again.counts);
  }
  return counts;
}

function filesToRepeat({ secondRun }: Step, { failures = [] }: Counts): readonly string[] {
  const failed = new Set(failures.flatMap(({ file }) => file ?? []));
  return [...failed].filter((file) => secondRun?.isFor(file));
}

function processOf(
  { name, limitMinutes, fullLimitMinutes = limitMinutes, environment }: Step,
  args: readonly string[],
  { filters, interruption }: StepsRun,
  isLive: boolean,
) {
  const script = inRoot('scripts', 'testStep.ts');
  const limitMs = 60_000 * (process.env.REHEARSAL_SUITE === 'full' ? fullLimitMinutes : limitMinutes);
  const env = { ...environment?.(filters), ...process.env };
  return runStepProcess({ script, args, name, limitMs, isLive, interruption, env });
}
