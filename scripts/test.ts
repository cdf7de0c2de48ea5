#!/usr/bin/env node
/**
 * `npm test`: all checks of the repository, one after the other, in one process tree.
 *
 *     npm test                                all steps
 *     npm test -- --only unit,python          some of them
 *     npm test -- --skip e2e,host             all but some
 *     npm test -- --only e2e debugger         files whose name holds "debugger"
 *     npm run test:full                       500 kills, 1,000 rollouts of the trainer, properties 20 times
 *                                             as often and by a new seed, the long stories in VS Code, the
 *                                             training recipe with a real model, and the benchmarks
 *
 * The last line is `N passed, N failed`, alone; the exit code is 1 when anything failed.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Counts, gateCounts, noTests, sumCounts } from './results.ts';
import { announce, elapsed, Failure, formatBytes, runMain, style, warn } from './terminal.ts';
import { type Step, steps } from './testSteps.ts';

type Outcome = { step: Step; counts: Counts; time: string; reason?: string };

/** What the full suite draws and counts otherwise; what is set already stays. */
const fullSettings = {
  REHEARSAL_KILLS: '500',
  REHEARSAL_RECIPE_MODEL: 'smollm2',
  REHEARSAL_ROLLOUTS: '1000',
  REHEARSAL_RUNS: '20',
  REHEARSAL_SEED: `${randomInt(2 ** 31)}`,
  REHEARSAL_SUITE: 'full',
};

function selectSteps(only: string | undefined, skip: string | undefined, full: boolean): Step[] {
  const names = steps.map(({ name }) => name);
  const asked = [only, skip].flatMap((list) => list?.split(',') ?? []);
  const unknown = asked.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Failure(`There is no step ${unknown.join(', ')}; the steps are ${names.join(', ')}.`);
  return steps.filter(
    ({ name, isFull = false }) =>
      (only ? only.split(',').includes(name) : full || !isFull) && !skip?.split(',').includes(name),
  );
}

/** Says what the steps will download before any of them starts. */
function announceDownloads(selected: readonly Step[], filters: readonly string[]): void {
  const downloads = new Map(
    selected.flatMap((step) => step.downloads?.(filters) ?? []).map((item) => [item.what, item]),
  );
  if (downloads.size === 0) return;
  const total = [...downloads.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  announce(`These will be downloaded once (about ${formatBytes(total)}):`);
  for (const { what, bytes, into } of downloads.values())
    console.log(`    ${what}: about ${formatBytes(bytes)}, into ${into}`);
}

async function runStep(step: Step, filters: readonly string[]): Promise<Outcome> {
  const started = performance.now();
  console.log(`\n${style('bold', `━━ ${step.name}`)} ${style('dim', step.title)}`);
  const obstacle = step.obstacle?.();
  if (obstacle) {
    warn(`SKIPPED: ${step.name}: ${obstacle}`);
    return { step, counts: noTests, time: elapsed(started), reason: obstacle };
  }
  const counts = await step.run(filters).catch((error: Error) => {
    console.error(style('red', error instanceof Failure ? error.message : String(error.stack)));
    return gateCounts(false);
  });
  const time = elapsed(started);
  const verdict = counts.failed > 0 ? style('red', 'FAILED') : style('green', 'ok');
  console.log(`${verdict} ${step.name}: ${describe(counts)} (${time})`);
  return { step, counts, time };
}

function describe({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function summarize(outcomes: readonly Outcome[]): void {
  console.log(`\n${style('bold', '━━ summary')}`);
  for (const { step, counts, time, reason } of outcomes) {
    const mark = reason
      ? style('yellow', 'skipped')
      : counts.failed > 0
        ? style('red', 'failed ')
        : style('green', 'passed ');
    console.log(`${mark} ${step.name.padEnd(8)} ${reason ?? describe(counts)} (${time})`);
    for (const failure of counts.failures ?? []) console.log(`          ${failure}`);
    for (const failure of counts.unsteady ?? [])
      console.log(`          ${style('yellow', 'unsteady, passed at the second attempt')}: ${failure}`);
  }
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { only: { type: 'string' }, skip: { type: 'string' }, full: { type: 'boolean', default: false } },
  });
  const selected = selectSteps(values.only, values.skip, values.full);
  if (values.full) Object.assign(process.env, { ...fullSettings, ...process.env });
  if (values.full) announce(`Properties draw by REHEARSAL_SEED=${process.env['REHEARSAL_SEED']}`);
  announceDownloads(selected, positionals);
  const outcomes: Outcome[] = [];
  for (const step of selected) outcomes.push(await runStep(step, positionals));
  summarize(outcomes);
  const { passed, failed } = sumCounts(outcomes.map(({ counts }) => counts));
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

await runMain(main);
