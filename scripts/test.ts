#!/usr/bin/env node
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bubblewrapDownloads, putBubblewrapOnPath } from './bubblewrap.ts';
import { findLeftovers } from './leftovers.ts';
import { interruptionSignal } from './process.ts';
import { inRoot } from './repository.ts';
import { interrupted, runAgain, runSteps } from './runSteps.ts';
import type { Step } from './step.ts';
import { reportRunningSteps } from './stepProcess.ts';
import { announce, elapsed, Failure, formatBytes, runMain, style, warn } from './terminal.ts';
import { selectSteps } from './testSelection.ts';
import { steps } from './testSteps.ts';
import {
  absent,
  continuationOf,
  findingsOf,
  type Outcome,
  slowestOf,
  summaryOf,
  totalOf,
  unmatchedIn,
} from './testSummary.ts';

const usage = `Usage: npm test -- [options] [FILTER...]
       npm run test:full -- [options] [FILTER...]

Runs the steps in a fixed order. A step that fails, or that is stopped at its time limit, does not end the run.
test:full also runs the long steps, and more kills, rollouts and property runs with a new seed. It is strict.
A FILTER is a part of a test file's name. A step without such a file is not run, and a filter without any fails. The exit code is 1 if something failed.

  --only A,B     run these steps only
  --skip A,B     run all steps except these
  --from A       run the step A and those after it
  --slowest      list the slowest tests and files
  --strict       fail if a test is unsteady or leaves a file or a process behind, and without a sandbox
  --without-sandbox
                 with --strict, pass although tests that need a sandbox did not run
  --settle S     wait at most S seconds until nothing is left behind (10)

The steps: ${steps.flatMap(({ name, isFull, isPlanted }) => (isFull || isPlanted ? [] : name)).join(', ')}
Only in test:full: ${steps.flatMap(({ name, isFull }) => (isFull ? name : [])).join(', ')}`;

/** Settings of the full suite. A variable that is already set keeps its value. */
const fullSettings = {
  REHEARSAL_KILLS: '500',
  REHEARSAL_ROLLOUTS: '1000',
  REHEARSAL_FAULTS: '10000',
  REHEARSAL_TRAINER_KILLS: '30',
  REHEARSAL_RUNS: '20',
  REHEARSAL_SEED: `${randomInt(2 ** 31)}`,
  REHEARSAL_SUITE: 'full',
};

/** Announces what the steps will download before any of them starts. */
async function announceDownloads(chosen: readonly Step[], filters: readonly string[]): Promise<void> {
  const ofSteps = await Promise.all(chosen.map((step) => step.downloads?.(filters) ?? []));
  const all = [...bubblewrapDownloads(), ...ofSteps.flat()];
  const downloads = [...new Map(all.map((each) => [each.what, each])).values()];
  if (downloads.length === 0) return;
  const total = downloads.reduce((sum, { bytes }) => sum + bytes, 0);
  announce(`These will be downloaded once (about ${formatBytes(total)}):`);
  for (const { what, bytes, into } of downloads) console.log(`    ${what}: about ${formatBytes(bytes)}, into ${into}`);
}

/** Makes the temporary folder of all tests. It is removed when this process ends. */
function makeTemporaryFolder(): string {
  // The name is short because sockets are made in this folder, and a socket's path has at most 107 characters.
  const folder = mkdtempSync(join(tmpdir(), 'rt-'));
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      warn(`${folder} could not be removed: ${(error as Error).message}`);
    }
  });
  // Some tests start a program as another user, who must be able to reach what is in it.
  chmodSync(folder, 0o711);
  // Windows reads TEMP or TMP.
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  // The cache of compiled code must outlive the run, so it is not in the temporary folder.
  process.env['NODE_COMPILE_CACHE'] ??= inRoot('dist', 'test', 'compile-cache');
  return folder;
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0)) throw new Failure(`--settle must be a number of seconds: ${text}`);
  return seconds;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals: filters } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      skip: { type: 'string' },
      from: { type: 'string' },
      full: { type: 'boolean', default: false },
      slowest: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      'without-sandbox': { type: 'boolean', default: false },
      settle: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const interruption = interruptionSignal();
  const { chosen, leftOut } = selectSteps(steps, values);
  const settleMs = 1000 * secondsIn(values.settle ?? '10');
  if (values.full) Object.assign(process.env, { ...fullSettings, ...process.env });
  if (values.full) announce(`Property tests use REHEARSAL_SEED=${process.env['REHEARSAL_SEED']}`);
  await announceDownloads(chosen, filters);
  const started = performance.now();
  const temporary = makeTemporaryFolder();
  await putBubblewrapOnPath();
  const stopReports = reportRunningSteps();
  const run = { filters, interruption };
  const ran = await runAgain(chosen, await runSteps(chosen, run), run);
  stopReports();
  const held = ran.flatMap(({ counts }) => counts.leftovers ?? []);
  const leftovers = [...held, ...(await findLeftovers(temporary, settleMs))];
  const notRun = leftOut.map(({ step, reason }) => absent(step.name, 'not run', reason));
  const position = ({ step }: Outcome) => steps.findIndex(({ name }) => name === step);
  const outcomes = [...notRun, ...ran].toSorted((a, b) => position(a) - position(b));
  const isStrict = values.strict || values.full;
  const needsSandbox = isStrict && !values['without-sandbox'];
  const { passed, failed } = totalOf(outcomes, leftovers, { isStrict, needsSandbox });
  const first = outcomes.find(({ absence }) => absence?.reason === interrupted);
  const unmatched = first ? [] : unmatchedIn(outcomes, filters);
  const lines = [
    ...(values.slowest ? slowestOf(outcomes) : []),
    ...findingsOf(outcomes, leftovers),
    ...unmatched,
    style('bold', `━━ summary after ${elapsed(started)}`),
    ...summaryOf(outcomes),
    ...(first ? [continuationOf(first.step, values, filters)] : []),
    `${passed} passed, ${failed} failed`,
  ];
  console.log(`\n${lines.join('\n')}`);
  return failed > 0 || unmatched.length > 0 || interruption.aborted ? 1 : 0;
}

await runMain(main, usage);
