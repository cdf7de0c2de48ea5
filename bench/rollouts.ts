// Rollouts with evaluation through workers, as `rehearsal eval` runs them: gold against agenda on order-desk, with
// recording, sidecar, chain and signed receipt. Also measures the memory of 256 concurrent rollouts.
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descendantsOf } from '../scripts/processTree.ts';
import { useNativeHash } from '../src/engine/core/values/hash.ts';
import { draft, hashOf, openDatabase, toJson } from '../src/engine/core/world/database.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from '../src/engine/shell/externalSeats.ts';
import { signingKey } from '../src/engine/shell/records/ledger.ts';
import { baseHashOf } from '../src/engine/shell/replay.ts';
import { runBatch } from '../src/engine/shell/runs/batch.ts';
import { startOf } from '../src/engine/shell/start.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { cpuSeconds, type Measured, pssOf } from './measure.ts';
import { openRetail } from './retail.ts';

const gold = { type: 'gold' } as const;
const scripted = { type: 'scripted' } as const;
const agenda = { type: 'agenda' } as const;
const nobody = () => Promise.reject(new Error('no person is asked here'));
const domain = loadDomain('domains/order-desk');

/** Measures complete rollouts per second, and the CPU time of all processes for each. */
export async function measureRollouts(trials: number): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-bench-'));
  const supervisor = await openSupervisor(domain, { workers: 2 });
  const base = {
    tasks: domain.tasks,
    basis: 'evaluate',
    agent: gold,
    user: agenda,
    concurrency: 32,
    key: signingKey(join(folder, 'key.pem')),
    readKey: () => undefined,
    askPerson: nobody,
  } as const;
  try {
    await runBatch(supervisor, { ...base, folder: join(folder, 'warm'), trials: 5, seed: 'warm' });
    const processes = [process.pid, ...descendantsOf(process.pid)];
    const [from, cpu] = [performance.now(), cpuSeconds(processes)];
    const results = await runBatch(supervisor, { ...base, folder: join(folder, 'run'), trials, seed: 'bench' });
    const [seconds, spent] = [(performance.now() - from) / 1000, cpuSeconds(processes) - cpu];
    const right = results.filter(({ reward }) => reward === 1).length;
    if (right !== results.length)
      throw new Error(`${results.length - right} of ${results.length} rollouts did not get reward 1`);
    return [
      {
        name: 'rollouts with evaluation',
        value: results.length / seconds,
        unit: 'a second',
        note: `${results.length} rollouts of order-desk, 2 workers`,
      },
      {
        name: 'CPU of a rollout with evaluation',
        value: (1000 * spent) / results.length,
        unit: 'ms',
        note: 'all processes',
      },
    ];
  } finally {
    await supervisor.close();
    rmSync(folder, { recursive: true });
  }
}

/** Measures the memory of the supervisor and its workers while `count` retail rollouts wait at a turn of the agent. */
export async function measureLive(count: number, turn: number): Promise<readonly Measured[]> {
  const { supervisor, close } = await openRetail(2);
  const { domain: retail, loaded } = supervisor;
  const seats = workerSeats(scripted, agenda);
  const externalSeats = externalSeatsOf(scripted, agenda, () => undefined, nobody);
  try {
    const arrived = Array.from({ length: count }, (_, trial) => {
      const task = retail.tasks[trial % retail.tasks.length] as (typeof retail.tasks)[number];
      const options = { seed: 'live', trial, basis: 'evaluate', agent: scripted, user: agenda } as const;
      const from = startOf(retail, baseHashOf(loaded), task, options);
      let turns = 0;
      return new Promise<void>((there, ended) => {
        const live = supervisor.start({ task, from, seats, externalSeats, recording: null, pace: 'step' }, (batch) => {
          turns += batch.filter(({ type }) => type === 'agentReplied').length;
          if (turns < turn) for (const _ of batch) live.step();
          else there();
        });
        live.closed.then(() => ended(new Error(`a rollout was over before turn ${turn}`)), ended);
        live.step();
      });
    });
    await Promise.all(arrived);
    const processes = [process.pid, ...descendantsOf(process.pid)];
    return [
      {
        name: `memory of ${count} live rollouts`,
        value: pssOf(processes) / 1e6,
        unit: 'MB',
        note: `at turn ${turn}, on 2.9 MB; summed PSS of supervisor and 2 workers`,
        promise: { at: 'most', value: 300 },
      },
    ];
  } finally {
    await close();
  }
}

/** Compares one write and its hash with copying the database and hashing its text, in the same process. */
export function measureWrite(): readonly Measured[] {
  useNativeHash((text) => hash('sha256', text, 'hex'));
  const json = JSON.parse(readFileSync('domains/order-desk/database.json', 'utf8'));
  let database = openDatabase(json);
  hashOf(database);
  const orders = Object.keys(json.orders);
  const ours = timed(3000, (n) => {
    const open = draft(database);
    (open.view['orders'] as unknown as Record<string, { status: string }>)[
      orders[n % orders.length] as string
    ]!.status = `s${n}`;
    database = open.finish().db;
    return hashOf(database).length;
  });
  let copy = structuredClone(toJson(database)) as Record<string, Record<string, { status: string }>>;
  const plain = timed(60, (n) => {
    copy = structuredClone(copy);
    copy['orders']![orders[n % orders.length] as string]!.status = `p${n}`;
    return JSON.stringify(copy).length;
  });
  return [
    { name: 'a write and its state hash', value: ours, unit: 'us', note: 'order-desk' },
    {
      name: 'copying the database and dumping it instead',
      value: plain / ours,
      unit: 'times as long',
      note: 'structuredClone and JSON.stringify, same run',
    },
  ];
}

function timed(count: number, act: (n: number) => number): number {
  let sink = 0;
  for (let n = 0; n < count / 10; n += 1) sink += act(n);
  const from = performance.now();
  for (let n = 0; n < count; n += 1) sink += act(n);
  if (sink === 0) throw new Error('nothing was done');
  return (1000 * (performance.now() - from)) / count;
}
