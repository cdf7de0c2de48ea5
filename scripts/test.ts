#!/usr/bin/env node
/**
 * `npm test`: all checks of the repository.
 *
 *     npm test                                all steps
 *     npm test -- --only unit,python          some of them, in this order
 *     npm test -- --skip e2e,host             all but some
 *     npm test -- --only e2e debugger         files whose name contains "debugger"
 *     npm test -- --slowest                   also list the slowest tests, files and steps
 *     npm test -- --strict                    unsteady tests and leftovers fail the run
 *     npm run test:full                       500 kills, 30 of a trainer, 1,000 trainer rollouts, 20 times as many
 *                                             property runs with a new seed, all stories in VS Code, targets, Ray,
 *                                             vLLM, benchmarks
 *     npm run test:full -- --within 60        only the steps that fit into 60 minutes
 *
 * The unit tests run beside the other steps, so that no core waits. A file that drives VS Code, or that kills or watches
 * other processes, runs once more, alone, when it fails; what passes then is reported as unsteady. The temporary files
 * of all tests are in one folder, which is removed at the end. The last line is `N passed, N failed`; the exit code is 1
 * when anything failed. The full suite is strict.
 */
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bubblewrapDownloads, putBubblewrapOnPath } from './bubblewrap.ts';
import { findLeftovers } from './leftovers.ts';
import type { Obstacle } from './obstacle.ts';
import { inRoot } from './repository.ts';
import { type Counts, gateCounts, noTests, sumByFile, sumCounts, withSecondRun } from './results.ts';
import { reportRunningSteps, runInChild, sendResult } from './stepProcess.ts';
import { announce, elapsed, Failure, formatBytes, runMain, style, warn } from './terminal.ts';
import { type Step, steps } from './testSteps.ts';

/** The result of a step. `obstacle` is set when it was skipped, `notRun` when there was no time for it. */
type Outcome = { step: Step; counts: Counts; time: string; ms: number; obstacle?: Obstacle; notRun?: string };

/** Settings of the full suite. A variable that is already set keeps its value. */
const fullSettings = {
  REHEARSAL_KILLS: '500',
  REHEARSAL_ROLLOUTS: '1000',
  REHEARSAL_TRAINER_KILLS: '30',
  REHEARSAL_RUNS: '20',
  REHEARSAL_SEED: `${randomInt(2 ** 31)}`,
  REHEARSAL_SUITE: 'full',
};

function selectSteps(only: string | undefined, skip: string | undefined, full: boolean): Step[] {
  const names = steps.map(({ name }) => name);
  const usual = steps.filter(({ isFull = false, isPlanted = false }) => (full || !isFull) && !isPlanted);
  const skipped = skip?.split(',') ?? [];
  const chosen = only?.split(',') ?? usual.map(({ name }) => name);
  const unknown = [...chosen, ...skipped].filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Failure(`There is no step ${unknown.join(', ')}. The steps are ${names.join(', ')}.`);
  return chosen.flatMap((name) => (skipped.includes(name) ? [] : steps.filter((step) => step.name === name)));
}

/** Announces what the steps will download before any of them starts. */
function announceDownloads(selected: readonly Step[], filters: readonly string[]): void {
  const downloads = new Map(
    [...bubblewrapDownloads(), ...selected.flatMap((step) => step.downloads?.(filters) ?? [])].map((item) => [
      item.what,
      item,
    ]),
  );
  if (downloads.size === 0) return;
  const total = [...downloads.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  announce(`These will be downloaded once (about ${formatBytes(total)}):`);
  for (const { what, bytes, into } of downloads.values())
    console.log(`    ${what}: about ${formatBytes(bytes)}, into ${into}`);
}

/** Runs a step in this process. An error of the step is one failure. */
async function runHere(step: Step, filters: readonly string[]): Promise<Counts> {
  return step.run(filters).catch((error: Error) => {
    console.error(style('red', error instanceof Failure ? error.message : String(error.stack)));
    return { ...gateCounts(false), failures: [{ text: error.message.split('\n', 1)[0] ?? '' }] };
  });
}

/** Runs a step: alone in this process with live output, otherwise in a child whose output is shown at its end. */
async function runStep(step: Step, filters: readonly string[], isAlone: boolean, endsAt: number): Promise<Outcome> {
  const heading = `\n${style('bold', `━━ ${step.name}`)} ${style('dim', step.title)}`;
  const obstacle = step.obstacle?.();
  if (obstacle) {
    console.log(heading);
    warn(`SKIPPED: ${step.name}: ${obstacle.reason}`);
    return { step, counts: noTests, time: '0 s', ms: 0, obstacle };
  }
  const started = performance.now();
  let counts: Counts | undefined;
  if (isAlone) {
    console.log(heading);
    counts = await runHere(step, filters);
  } else {
    announce(`${step.name} started`);
    const finished = await runInChild(import.meta.filename, ['--step', step.name, ...filters], endsAt);
    console.log(`${heading}\n${finished.output.trim()}`);
    counts = finished.counts;
  }
  const time = elapsed(started);
  const ms = performance.now() - started;
  if (!counts) return { step, counts: noTests, time, ms, notRun: `stopped after ${time}, at the time limit` };
  const verdict = counts.failed > 0 ? style('red', 'FAILED') : style('green', 'ok');
  console.log(`${verdict} ${step.name}: ${describe(counts)} (${time})`);
  return { step, counts, time, ms };
}

/** Runs the steps in order. A background step runs beside the ones that follow it. */
async function runSteps(selected: readonly Step[], filters: readonly string[], endsAt: number): Promise<Outcome[]> {
  const isAlone = selected.length === 1 && endsAt === Number.POSITIVE_INFINITY;
  const outcomes: Promise<Outcome>[] = [];
  for (const step of selected) {
    if (step.isFull) await Promise.all(outcomes);
    const minutesLeft = Math.floor((endsAt - performance.now()) / 60_000);
    if (step.minutes !== undefined && step.minutes > minutesLeft) {
      const notRun = `takes about ${step.minutes} min, and ${Math.max(minutesLeft, 0)} were left`;
      outcomes.push(Promise.resolve({ step, counts: noTests, time: '0 s', ms: 0, notRun }));
      continue;
    }
    const running = runStep(step, filters, isAlone, endsAt);
    outcomes.push(running);
    if (!step.isBackground) await running;
  }
  return Promise.all(outcomes);
}

/** Runs the files that failed once more, alone, where they may be disturbed by what runs beside them. */
async function runAgain(outcomes: readonly Outcome[]): Promise<readonly Outcome[]> {
  const finished: Outcome[] = [];
  for (const outcome of outcomes) {
    const { name, secondRun } = outcome.step;
    const failed = outcome.counts.failures?.flatMap(({ file }) => file ?? []) ?? [];
    const files = [...new Set(failed)].filter((file) => secondRun?.isFor(file));
    if (files.length === 0) {
      finished.push(outcome);
      continue;
    }
    announce(`${name}: once more, alone: ${files.join(', ')}`);
    const { output, counts } = await runInChild(
      import.meta.filename,
      ['--step', name, '--again', ...files],
      Number.POSITIVE_INFINITY,
    );
    console.log(output.trim());
    finished.push(counts ? { ...outcome, counts: withSecondRun(outcome.counts, files, counts) } : outcome);
  }
  return finished;
}

function describe({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function printSummary(outcomes: readonly Outcome[]): void {
  console.log(`\n${style('bold', '━━ summary')}`);
  for (const { step, counts, time } of outcomes.filter(({ obstacle, notRun }) => !obstacle && !notRun)) {
    const mark = counts.failed > 0 ? style('red', 'failed') : style('green', 'passed');
    console.log(`${mark} ${step.name.padEnd(10)} ${describe(counts)} (${time})`);
    for (const { text } of counts.failures ?? []) console.log(`         ${text}`);
  }
}

/** Lists where the time goes: the slowest tests, the files with the most time in tests, and all steps. */
function printSlowest(outcomes: readonly Outcome[]): void {
  const tests = outcomes.flatMap(({ step, counts }) =>
    (counts.tests ?? []).map(({ name, file, ms }) => ({ ms, name, file: `${step.name.padEnd(6)} ${file}` })),
  );
  const files = sumByFile(tests);
  printTimes(
    `the 20 slowest of ${tests.length} tests`,
    tests.map(({ ms, name, file }) => ({ ms, text: `${file}: ${name}` })),
    20,
  );
  printTimes(`the 10 slowest of ${files.length} files`, files, 10);
  printTimes(
    'the steps',
    outcomes.map(({ ms, step }) => ({ ms, text: step.name })),
    outcomes.length,
  );
}

function printTimes(
  title: string,
  times: readonly { readonly ms: number; readonly text: string }[],
  count: number,
): void {
  console.log(`\n${style('bold', `━━ ${title}`)}`);
  for (const { ms, text } of times.toSorted((a, b) => b.ms - a.ms).slice(0, count))
    console.log(`${(ms / 1000).toFixed(1).padStart(6)} s  ${text}`);
}

/** Lists what did not run, and the command that makes it run. */
function printOmissions(outcomes: readonly Outcome[]): void {
  for (const { step, counts, obstacle, notRun } of outcomes) {
    for (const omission of counts.omissions ?? []) warn(`SKIPPED: ${step.name}: ${omission}`);
    if (notRun) warn(`NOT RUN: ${step.name}: ${notRun}. Run it: npm run test:full -- --only ${step.name}`);
    if (!obstacle) continue;
    warn(`SKIPPED: ${step.name}: ${obstacle.reason}.${obstacle.install ? ` Install it: ${obstacle.install}` : ''}`);
  }
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      skip: { type: 'string' },
      full: { type: 'boolean', default: false },
      slowest: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      /** Minutes in which the steps have to end. */
      within: { type: 'string' },
      /** Used by this script: runs one step and sends its counts to the process that started it. */
      step: { type: 'string' },
      /** With `--step`: the named files run once more. */
      again: { type: 'boolean', default: false },
    },
  });
  if (values.step !== undefined) {
    const [step] = selectSteps(values.step, undefined, true);
    const run = values.again ? step?.secondRun?.run : step?.run;
    if (step && run) await sendResult(await runHere({ ...step, run }, positionals));
    return 0;
  }
  const selected = selectSteps(values.only, values.skip, values.full);
  if (values.full) Object.assign(process.env, { ...fullSettings, ...process.env });
  if (values.full) announce(`Property tests use REHEARSAL_SEED=${process.env['REHEARSAL_SEED']}`);
  announceDownloads(selected, positionals);
  const endsAt =
    values.within === undefined ? Number.POSITIVE_INFINITY : performance.now() + 60_000 * Number(values.within);
  const started = performance.now();
  // The name is short because sockets are made in this folder, and a socket's path has at most 107 characters.
  const temporary = mkdtempSync(join(tmpdir(), 'rt-'));
  // Some tests start a program as another user, who has to reach what is in it.
  chmodSync(temporary, 0o711);
  process.env['TMPDIR'] = temporary;
  // Node's cache of compiled code lasts from run to run; it would otherwise be in the temporary folder.
  process.env['NODE_COMPILE_CACHE'] ??= inRoot('dist', 'test', 'compile-cache');
  const stopReports = reportRunningSteps();
  await putBubblewrapOnPath();
  let leftovers: readonly string[] = [];
  const outcomes = await runSteps(selected, positionals, endsAt)
    .then(runAgain)
    .finally(async () => {
      stopReports();
      leftovers = await findLeftovers(temporary);
      rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
    });
  printSummary(outcomes);
  if (values.slowest) printSlowest(outcomes);
  announce(`${outcomes.length} steps took ${elapsed(started)}`);
  printOmissions(outcomes);
  const { passed, failed, unsteady = [] } = sumCounts(outcomes.map(({ counts }) => counts));
  for (const text of unsteady) warn(`UNSTEADY: failed, and passed when its file ran once more: ${text}`);
  for (const text of leftovers) warn(`LEFT BEHIND: ${text}`);
  const isStrict = values.strict || values.full;
  const strictly = isStrict ? unsteady.length + leftovers.length : 0;
  console.log(`${passed - (isStrict ? unsteady.length : 0)} passed, ${failed + strictly} failed`);
  return failed + strictly > 0 ? 1 : 0;
}

await runMain(main);
