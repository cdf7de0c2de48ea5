// One batch of 10, 100, 1,000 and 10,000 rollouts: the time of each rollout stays the same, and the memory of all
// processes does not grow. Gold against agenda on ten tasks of order-desk, 2 lanes, with recording, sidecar, chain and
// signed receipt. A finished recording is removed, so that the disk does not fill; that is part of the time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBatch, type TrialResult } from '../src/engine/shell/batch.ts';
import { signingKey } from '../src/engine/shell/ledger.ts';
import { loadDomain } from '../src/engine/shell/load/loadDomain.ts';
import { sidecarPath } from '../src/engine/shell/recording.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { childrenOf, cpuSeconds, type Measured, pssOf } from './measure.ts';

const sizes = [10, 100, 1000, 10_000] as const;
const sampleEvery = 1000;
const mebibyte = 2 ** 20;

type Batch = {
  readonly size: number;
  /** Milliseconds of a rollout: of the clock, and of the processors in all processes. */
  readonly clock: number;
  readonly cpu: number;
  /** MiB of all processes after every thousand rollouts. */
  readonly memory: readonly number[];
};

/** Time of a rollout by size of its batch, and memory through the largest one. */
export async function measureBatches(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const loaded = loadDomain('domains/order-desk');
  const tasks = loaded.tasks.slice(0, 10);
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-bench-'));
  const supervisor = await openSupervisor(loaded, { lanes: 2 });
  const key = signingKey(join(folder, 'key.pem'));
  const play = (name: string, count: number, onFinished: (result: TrialResult) => void) =>
    runBatch(supervisor, {
      folder: join(folder, name),
      tasks,
      trials: count / tasks.length,
      seed: 'bench',
      basis: 'evaluate',
      agent: { type: 'gold' },
      user: { type: 'agenda' },
      concurrency: 32,
      key,
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('nobody is asked here')),
      onFinished,
    });
  const batches: Batch[] = [];
  try {
    await play('warm', 1000, removed);
    for (const size of sizes) {
      const batch = await measured(size, play);
      batches.push(batch);
      show({
        name: `a rollout in a batch of ${size.toLocaleString('en')}`,
        value: batch.clock,
        unit: 'ms',
        note: `${batch.cpu.toFixed(2)} ms of CPU; 10 tasks of order-desk, 2 lanes`,
      });
    }
  } finally {
    await supervisor.close();
    rmSync(folder, { recursive: true });
  }
  return [flatness(batches), growth(batches.at(-1)?.memory ?? [])];
}

/** A batch of ten is over before its time can be told, so small ones are played again and again. */
async function measured(
  size: number,
  play: (name: string, count: number, onFinished: (result: TrialResult) => void) => Promise<readonly TrialResult[]>,
): Promise<Batch> {
  const times = Math.max(1, 500 / size);
  const memory: number[] = [];
  const processes = [process.pid, ...childrenOf(process.pid)];
  let finished = 0;
  const onFinished = (result: TrialResult) => {
    removed(result);
    finished += 1;
    if (result.reward !== 1) throw new Error(`${result.task} trial ${result.trial}: ${result.reason}`);
    if (size > sampleEvery && finished % sampleEvery === 0) memory.push(pssOf(processes) / mebibyte);
  };
  const [from, cpu] = [performance.now(), cpuSeconds(processes)];
  for (let time = 0; time < times; time += 1) await play(`${size}-${time}`, size, onFinished);
  const count = times * size;
  return {
    size,
    clock: (performance.now() - from) / count,
    cpu: (1000 * (cpuSeconds(processes) - cpu)) / count,
    memory,
  };
}

function removed({ recording }: TrialResult): void {
  rmSync(recording);
  rmSync(sidecarPath(recording));
}

/** By CPU time, which other work on the machine disturbs least. A batch of ten also pays for opening a run. */
function flatness(batches: readonly Batch[]): Measured {
  const large = batches.filter(({ size }) => size >= 100).map(({ cpu }) => cpu);
  return {
    name: 'the dearest of them against the cheapest',
    value: Math.max(...large) / Math.min(...large),
    unit: 'times',
    note: 'CPU of a rollout, batches of 100 to 10,000',
    promise: { at: 'most', value: 1.25 },
  };
}

/** The least of the first three samples against that of the last three: garbage comes and goes between them. */
function growth(memory: readonly number[]): Measured {
  const [first, last] = [Math.min(...memory.slice(0, 3)), Math.min(...memory.slice(-3))];
  return {
    name: 'memory, from the first to the last of 10,000',
    value: last / first,
    unit: 'times',
    note: `summed PSS of supervisor and 2 lanes each 1,000: ${memory.map((each) => each.toFixed(0)).join(' ')} MiB`,
    promise: { at: 'most', value: 1.1 },
  };
}
