// One long batch, as `rehearsal eval` runs it: whether a rollout costs the same at the end as at the start, and whether the
// used memory grows with the number of finished rollouts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { descendantsOf } from '../scripts/processTree.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../src/engine/shell/records/ledger.ts';
import { runBatch } from '../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { cpuSeconds, type Measured, pssOf, rounds } from './measure.ts';

/** Measurements after a number of rollouts. */
type Mark = { readonly done: number; readonly cpu: number; readonly live: number; readonly all: number };

const total = rounds(10_000, 1000);
const marks = [0.1, 0.2, 0.9, 1].map((share) => share * total);
const mebibyte = 2 ** 20;

/** Runs ten thousand rollouts of parcel-desk in one batch. */
export async function measureBatch(): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-bench-'));
  const domain = loadDomain('domains/parcel-desk');
  const supervisor = await openSupervisor(domain, { workers: 2 });
  const collect = collector();
  const found: Mark[] = [];
  let [done, right] = [0, 0];
  try {
    const processes = [process.pid, ...descendantsOf(process.pid)];
    const mark = () => {
      const cpu = cpuSeconds(processes);
      collect();
      return { done, cpu, live: process.memoryUsage().heapUsed / mebibyte, all: pssOf(processes) / mebibyte };
    };
    const from = performance.now();
    await runBatch(supervisor, {
      folder: join(folder, 'run'),
      tasks: domain.tasks,
      trials: Math.ceil(total / domain.tasks.length),
      seed: 'bench',
      basis: 'evaluate',
      agent: { type: 'gold' },
      user: { type: 'agenda' },
      concurrency: 32,
      key: signingKey(join(folder, 'key.pem')),
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked here')),
      onFinished: ({ reward }) => {
        done += 1;
        right += reward === 1 ? 1 : 0;
        if (marks.includes(done)) found.push(mark());
      },
    });
    const seconds = (performance.now() - from) / 1000;
    if (right !== done) throw new Error(`${done - right} of ${done} rollouts did not get reward 1`);
    return rowsOf(found, done, seconds);
  } finally {
    await supervisor.close();
    rmSync(folder, { recursive: true });
  }
}

function rowsOf(found: readonly Mark[], done: number, seconds: number): readonly Measured[] {
  const [first, second, third, last] = found;
  if (!first || !second || !third || !last) throw new Error('the batch ended before it was measured');
  const costOf = (one: Mark, other: Mark) => (1000 * (other.cpu - one.cpu)) / (other.done - one.done);
  const [early, late] = [costOf(first, second), costOf(third, last)];
  return [
    {
      name: `CPU of the last ${counted(total / 10)} of ${counted(total)} rollouts`,
      value: late / early,
      unit: 'times',
      note: `that of the second ${counted(total / 10)}: ${late.toFixed(2)} and ${early.toFixed(2)} ms each; ${done} in ${seconds.toFixed(0)} s`,
      promise: { at: 'most', value: 1.1 },
    },
    {
      name: `growth of the supervisor in ${counted(0.9 * total)} rollouts`,
      value: last.live - first.live,
      unit: 'MiB',
      note: `of live heap, from ${first.live.toFixed(1)}; the engine keeps a line of the table for each rollout`,
      promise: { at: 'most', value: 10 },
    },
    {
      name: `memory of supervisor and workers at ${counted(total)}`,
      value: last.all,
      unit: 'MiB',
      note: `summed PSS with what waits to be collected; ${first.all.toFixed(0)} at ${counted(total / 10)}`,
    },
  ];
}

const counted = (rollouts: number) => rollouts.toLocaleString('en');

/** Collects garbage in this process. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
