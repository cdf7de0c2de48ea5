import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Random, randomStream } from '../../src/engine/core/values/random.ts';
import { commandLine } from '../support/commandLine.ts';
import { killIfRunning } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';

/** The number of processes to kill: 2, or the number that the full suite sets in REHEARSAL_KILLS. */
const kills = Number(process.env['REHEARSAL_KILLS'] ?? 2);
/** Chooses which process is killed, and in which observed state. */
const seed = process.env['REHEARSAL_SEED'] ?? '1';
const trials = 1;
/** Few kills need few rollouts: the 32 tasks of one split in place of all 96. */
const [split, tasks] = kills > 10 ? ([[], 96] as const) : ([['--split', 'test'], 32] as const);
/** About the size of a recording of parcel-desk. */
const bytesOfRollout = 9_000;

const home = temporaryFolder('rehearsal-kills');
const environment = { ...process.env, REHEARSAL_HOME: join(home, 'keys') };

function command(...argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', commandLine, ...argv], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Starts an evaluation, or resumes one. */
function evaluation(run: string): ChildProcess {
  const options = ['--agent', 'gold', '--trials', String(trials), '--concurrency', '6', '--out', run, '--json'];
  return command('eval', 'domains/parcel-desk', ...split, ...options);
}

const finished = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.once('exit', (code) => resolve(code));
  });

function receiptsIn(run: string): readonly string[] {
  const path = join(run, 'ledger.jsonl');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  return lines.filter((line) => line.startsWith('{"receipt"'));
}

function recordingNames(run: string): readonly string[] {
  return existsSync(run) ? readdirSync(run).filter((name) => name.endsWith('.traj.jsonl')) : [];
}

/** Returns the contents of the recordings by name. */
const recordings = (run: string) =>
  new Map(recordingNames(run).map((name) => [name, readFileSync(join(run, name), 'utf8')]));

/** Returns the total size of the recordings. */
function recordedBytes(run: string): number {
  const sizes = recordingNames(run).map((name) => statSync(join(run, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function workersOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid));

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 'State:\tZ';
  }
}

type Receipt = { readonly rollout: string; readonly recording: string; readonly endReason: string };
type Kills = { supervisor: number; worker: number };

/** Waits for a state that the seed chooses: mostly in the middle of work, sometimes while workers start. */
async function moment(run: string, child: ChildProcess, random: Random): Promise<void> {
  const untilOrOver = (what: string, is: () => boolean) =>
    until(`${what} (seed ${seed})`, () => child.exitCode !== null || is());
  if (random.chance(0.2)) {
    const workers = random.integer(3);
    await untilOrOver(`${workers} workers`, () => workersOf(child.pid ?? 0).length >= workers);
    return;
  }
  const receipts = receiptsIn(run).length + random.integer(12);
  await untilOrOver(`${receipts} receipts`, () => receiptsIn(run).length >= receipts);
  const bytes = recordedBytes(run) + random.integer(bytesOfRollout);
  await untilOrOver(`${bytes} bytes of recordings`, () => recordedBytes(run) >= bytes);
}

/** Starts an evaluation repeatedly, and kills it or one of its workers, until it is done or enough processes were killed. */
async function killed(run: string, random: Random, made: Kills): Promise<readonly string[]> {
  let child = evaluation(run);
  let receipts: readonly string[] = [];
  while (made.supervisor + made.worker < kills) {
    await moment(run, child, random);
    const now = receiptsIn(run);
    expect(now.slice(0, receipts.length), `seed ${seed}: receipts stay as they were`).toEqual(receipts);
    receipts = now;
    if (child.exitCode === 0) return receipts;
    // A worker that is killed while it starts ends the batch.
    if (child.exitCode !== null) child = evaluation(run);
    const workers = workersOf(child.pid ?? 0);
    const worker = workers[random.integer(Math.max(workers.length, 1))];
    const isHalf = made.supervisor + made.worker >= kills / 2;
    // With few kills, chance could choose one kind only.
    const isWorker = isHalf && made.worker === 0 ? true : random.chance(0.4) && !(isHalf && made.supervisor === 0);
    if (worker !== undefined && isWorker) {
      killIfRunning(worker);
      made.worker += 1;
    } else {
      child.kill('SIGKILL');
      await finished(child);
      await until(`the end of the workers (seed ${seed})`, () => !workers.some(isAlive));
      child = evaluation(run);
      made.supervisor += 1;
    }
  }
  if ((await finished(child)) !== 0) expect(await finished(evaluation(run)), `seed ${seed}`).toBe(0);
  return receipts;
}

/** Expects each rollout once, finished ones unchanged, and all others as if no process had been killed. */
async function check(run: string, whole: string, receipts: readonly string[], workersKilled: number): Promise<void> {
  const end = receiptsIn(run).map((line) => (JSON.parse(line) as { receipt: Receipt }).receipt);
  expect(receiptsIn(run).slice(0, receipts.length), `seed ${seed}`).toEqual(receipts);
  expect(end.length, `seed ${seed}: each rollout has one receipt`).toBe(tasks * trials);
  expect(new Set(end.map(({ rollout }) => rollout)).size).toBe(tasks * trials);
  expect(await finished(command('verify', run)), `seed ${seed}: the record is whole`).toBe(0);
  // A rollout whose worker was killed in the middle of its work has that failure; the others are not affected.
  const hit = new Set(end.filter(({ endReason }) => endReason === 'environmentFailed').map((each) => each.recording));
  expect(hit.size, `seed ${seed}`).toBeLessThanOrEqual(workersKilled);
  const made = recordings(run);
  const different = [...recordings(whole)].filter(([name, text]) => made.get(name) !== text && !hit.has(name));
  expect(
    different.map(([name]) => name),
    `seed ${seed}`,
  ).toEqual([]);
}

test.runIf(process.platform === 'linux')(
  `${kills} kills of supervisor and workers repeat no finished rollout and lose none`,
  async () => {
    const whole = join(home, 'whole');
    expect(await finished(evaluation(whole))).toBe(0);
    const random = randomStream('kills', seed);
    const made: Kills = { supervisor: 0, worker: 0 };
    for (let round = 0; made.supervisor + made.worker < kills; round++) {
      const run = join(home, `run-${round}`);
      const workersBefore = made.worker;
      const receipts = await killed(run, random, made);
      await check(run, whole, receipts, made.worker - workersBefore);
      rmSync(run, { recursive: true });
      if (kills > 10) console.log(`round ${round}: ${made.supervisor} supervisors and ${made.worker} workers killed`);
    }
    expect(made.supervisor + made.worker, `seed ${seed}`).toBe(kills);
    expect(Math.min(made.supervisor, made.worker), `seed ${seed}: both kinds were killed`).toBeGreaterThan(0);
    rmSync(home, { recursive: true });
  },
  // Every kill costs a start, which takes seconds on a busy machine.
  600_000 + kills * 60_000,
);
