import { inRoot } from './repository.ts';
import { type Counts, withSecondRun } from './results.ts';
import { runStepProcess } from './stepProcess.ts';
import { announce, style, warn } from './terminal.ts';
import type { Step } from './testSteps.ts';
import { absent, describeCounts, type Outcome, reasonOf } from './testSummary.ts';

/** What a run of steps needs to know. */
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
  const { output, counts } = await processOf(step, 'run', run.filters, run.interruption, isLive);
  const ms = performance.now() - started;
  if (!isLive) console.log(`${heading}\n${output.trim()}`);
  if (!counts) return absent(step.name, 'not run', interrupted);
  const verdict = counts.failed > 0 ? style('red', 'failed') : style('green', 'passed');
  console.log(`${verdict} ${step.name}: ${describeCounts(counts)}`);
  return { step: step.name, counts, ms };
}

/** The reason for which a step did not run, or not to its end, after an interruption. */
export const interrupted = 'interrupted';

/** How often a file that failed runs again, at most. */
const mostRepeats = 2;

/**
 * Runs the files that failed again, alone, if what runs beside them can disturb them.
 * @param outcomes what the first run of the steps gave
 */
export async function runAgain(
  steps: readonly Step[],
  outcomes: readonly Outcome[],
  interruption: AbortSignal,
): Promise<readonly Outcome[]> {
  const results: Outcome[] = [];
  for (const outcome of outcomes) {
    const step = steps.find(({ name }) => name === outcome.step);
    results.push(step ? { ...outcome, counts: await repeated(step, outcome.counts, interruption) } : outcome);
  }
  return results;
}

async function repeated(step: Step, first: Counts, interruption: AbortSignal): Promise<Counts> {
  let counts = first;
  for (let repeat = 0; repeat < mostRepeats && !interruption.aborted; repeat += 1) {
    const files = filesToRepeat(step, counts);
    const again = files.length > 0 ? await repeatFiles(step, files, interruption) : undefined;
    if (!again) break;
    counts = withSecondRun(counts, files, again);
  }
  return counts;
}

function filesToRepeat({ secondRun }: Step, { failures = [] }: Counts): readonly string[] {
  const failed = new Set(failures.flatMap(({ file }) => file ?? []));
  return [...failed].filter((file) => secondRun?.isFor(file));
}

async function repeatFiles(
  step: Step,
  files: readonly string[],
  interruption: AbortSignal,
): Promise<Counts | undefined> {
  announce(`${step.name}: again, alone: ${files.join(', ')}`);
  const { output, counts } = await processOf(step, 'again', files, interruption, false);
  console.log(output.trim());
  return counts;
}

function processOf(
  { name, limitMinutes }: Step,
  mode: 'run' | 'again',
  filters: readonly string[],
  interruption: AbortSignal,
  isLive: boolean,
) {
  const script = inRoot('scripts', 'testStep.ts');
  const limitMs = 60_000 * limitMinutes;
  return runStepProcess({ script, args: [mode, name, ...filters], name, limitMs, isLive, interruption });
}
