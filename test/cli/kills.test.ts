import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomStream } from '../../src/engine/core/random.ts';

/** How many processes are killed: 20, or REHEARSAL_KILLS of the full suite. */
const kills = Number(process.env['REHEARSAL_KILLS'] ?? 20);
const seed = process.env['REHEARSAL_SEED'] ?? String(Date.now());
const trials = Math.max(2, Math.ceil(kills / 10));

const home = mkdtempSync(join(tmpdir(), 'rehearsal-kills-'));
const environment = { ...process.env, REHEARSAL_HOME: join(home, 'keys') };

function command(...argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', 'src/cli/rehearsal.ts', ...argv], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** An evaluation under way, or the rest of one. */
function evaluation(run: string): ChildProcess {
  const options = ['--agent', 'gold', '--trials', String(trials), '--concurrency', '6', '--out', run, '--json'];
  return command('eval', 'domains/parcel-desk', ...options);
}

const finished = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.once('exit', (code) => resolve(code));
  });

function receiptsIn(run: string): readonly string[] {
  const path = join(run, 'ledger.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

/** Recordings and receipts as they were written, by name. */
const recordings = (run: string) =>
  new Map(
    readdirSync(run)
      .filter((name) => name.endsWith('.traj.jsonl'))
      .map((name) => [name, readFileSync(join(run, name), 'utf8')]),
  );

function lanesOf(pid: number): readonly number[] {
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

async function until(is: () => boolean): Promise<void> {
  for (let waited = 0; !is(); waited += 10) {
    if (waited > 60_000) throw new Error('waited for a minute');
    await sleep(10);
  }
}

test.runIf(process.platform === 'linux')(
  `${kills} kills of supervisor and lanes repeat no finished rollout and lose none`,
  async () => {
    const [whole, run] = [join(home, 'whole'), join(home, 'run')];
    expect(await finished(evaluation(whole))).toBe(0);
    const random = randomStream('kills', seed);
    let child = evaluation(run);
    let [ofSupervisor, ofLane, receipts] = [0, 0, [] as readonly string[]];
    while (ofSupervisor + ofLane < kills) {
      // Mostly in the middle of work, now and then while everything still starts up.
      const goal = receiptsIn(run).length + random.integer(12);
      if (random.chance(0.8)) await until(() => receiptsIn(run).length >= goal || child.exitCode !== null);
      await sleep(random.integer(200));
      const now = receiptsIn(run);
      expect(now.slice(0, receipts.length), `seed ${seed}: receipts stay as they were`).toEqual(receipts);
      receipts = now;
      if (child.exitCode !== null) {
        // A lane that is killed before it came up takes the batch along; anything else ends only when all is done.
        child = evaluation(run);
        if (receipts.length >= 96 * trials) break;
        continue;
      }
      const lanes = lanesOf(child.pid ?? 0);
      const lane = lanes[random.integer(Math.max(lanes.length, 1))];
      if (lane !== undefined && random.chance(0.4)) {
        process.kill(lane, 'SIGKILL');
        ofLane += 1;
      } else {
        child.kill('SIGKILL');
        await finished(child);
        await until(() => !lanes.some(isAlive));
        child = evaluation(run);
        ofSupervisor += 1;
      }
    }
    if ((await finished(child)) !== 0) expect(await finished(evaluation(run))).toBe(0);
    const end = receiptsIn(run).map((line) => (JSON.parse(line) as { receipt: Receipt }).receipt);
    expect(receiptsIn(run).slice(0, receipts.length), `seed ${seed}`).toEqual(receipts);
    expect(end.length, `seed ${seed}: each rollout has one receipt`).toBe(96 * trials);
    expect(new Set(end.map(({ rollout }) => rollout)).size).toBe(96 * trials);
    expect(await finished(command('verify', run)), `seed ${seed}: the record is whole`).toBe(0);
    // A rollout whose own lane was killed in the middle of its work says so; every other one is as if nothing had been.
    const hit = new Set(end.filter(({ endReason }) => endReason === 'environmentFailed').map((each) => each.recording));
    expect(hit.size).toBeLessThanOrEqual(ofLane);
    const [expected, made] = [recordings(whole), recordings(run)];
    const different = [...expected].filter(([name, text]) => made.get(name) !== text && !hit.has(name));
    expect(
      different.map(([name]) => name),
      `seed ${seed}`,
    ).toEqual([]);
    expect(ofSupervisor, `seed ${seed}: both kinds were killed`).toBeGreaterThan(0);
    expect(ofLane).toBeGreaterThan(0);
  },
  60_000 + kills * 6000,
);

type Receipt = { readonly rollout: string; readonly recording: string; readonly endReason: string };
