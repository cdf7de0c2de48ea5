import { join } from 'node:path';
import type { Task } from '../engine/core/domain/task.ts';
import { counted } from '../engine/core/text/counted.ts';
import { forEach } from '../engine/shell/files/forEach.ts';
import type { SigningKey } from '../engine/shell/records/ledger.ts';
import { recordingName, rolloutName } from '../engine/shell/records/recordingName.ts';
import type { RunFile } from '../engine/shell/records/runFile.ts';
import { baseHashOf } from '../engine/shell/replay.ts';
import { type OpenRun, openRunOf, receiptOf } from '../engine/shell/runs/batch.ts';
import { startOf } from '../engine/shell/start.ts';
import type { Supervisor } from '../engine/shell/supervisor.ts';
import { unimportable } from './importReport.ts';
import type { OfficialSimulation } from './officialSimulation.ts';
import { type OfficialVerdict, verdictOf } from './officialVerdict.ts';

export type OfficialOptions = {
  readonly folder: string;
  readonly concurrency: number;
  readonly key: SigningKey;
  readonly signal: AbortSignal;
};

/** A finished simulation by its own evaluator and by this engine. */
export type Compared = {
  readonly task: string;
  readonly trial: number;
  readonly name: string;
  /** The reward in the file; null if its evaluator raised an error, or did not run. */
  readonly official: number | null;
  readonly own: number | null;
  readonly reason: string;
  /** The error that the official evaluator raised. */
  readonly raised: string | null;
  /** Calls that return something else here than is recorded. */
  readonly changed: readonly string[];
};

export type OfficialRegrading = { readonly rollouts: readonly Compared[]; readonly refused: readonly string[] };

/** More than any simulation has, so that what ended it is what the file says. */
const endless = 1_000_000;

/**
 * Scores finished simulations of a benchmark with this engine: both seats say again what they said, the tools run
 * again, and the verifiers of the imported task decide. Each becomes a recording of a run, which report, replay and the
 * debugger take.
 */
export async function regradeOfficial(
  supervisor: Supervisor,
  simulations: readonly OfficialSimulation[],
  options: OfficialOptions,
): Promise<OfficialRegrading> {
  const { waiting, refused } = waitingOf(supervisor, simulations);
  if (waiting.length === 0)
    throw unimportable('nothing', `none of ${counted(simulations.length, 'simulation')} can be scored; ${refused[0]}`);
  const file = runFileFor(supervisor, waiting, options);
  const planned = waiting.map(({ task, trial }) => rolloutName(task, trial));
  const open = openRunOf(options.folder, file, planned, options.key);
  const run = { file, database: baseHashOf(supervisor.loaded), open };
  const rollouts = new Map<Waiting, Compared>();
  const score = async (each: Waiting) => {
    rollouts.set(each, await compared(supervisor, each, run, options.folder));
  };
  await forEach(waiting, options.concurrency, score, options.signal);
  open.finish();
  return { rollouts: waiting.flatMap((each) => rollouts.get(each) ?? []), refused };
}

type Waiting = { readonly task: Task; readonly trial: number; readonly simulation: OfficialSimulation };

/** Returns what can be played, each under a task and its own trial, and why the others can't. */
function waitingOf(
  { domain }: Supervisor,
  simulations: readonly OfficialSimulation[],
): { readonly waiting: readonly Waiting[]; readonly refused: readonly string[] } {
  const taken = new Set<string>();
  const refused: string[] = [];
  const placed = simulations.flatMap((simulation) => {
    const { task: named, name, trial, obstacle } = simulation;
    const task = obstacle === null ? taskOf(domain.tasks, simulation) : undefined;
    if (!task) {
      refused.push(`${named}: ${obstacle ?? `the domain ${domain.name} has no task that was imported from it`}`);
      return [];
    }
    if (trial !== null && taken.has(rolloutName(task, trial))) {
      const twice = `trial ${trial} of ${task.id} appears in the file twice`;
      refused.push(`${name}: ${twice}; renumber the trials of merged files`);
      return [];
    }
    if (trial !== null) taken.add(rolloutName(task, trial));
    return [{ task, simulation, trial }];
  });
  // Those without a number take what the numbered ones leave free.
  const waiting = placed.map(({ task, simulation, trial: own }) => {
    let trial = own ?? 0;
    while (own === null && taken.has(rolloutName(task, trial))) trial += 1;
    taken.add(rolloutName(task, trial));
    return { task, simulation, trial };
  });
  return { waiting, refused };
}

/** Returns the task of a simulation: by its id, or else by comparing the contents of the task. */
function taskOf(tasks: readonly Task[], { task: named, isOf }: OfficialSimulation): Task | undefined {
  return tasks.find((task) => (task.origin?.id ?? task.id) === named) ?? tasks.find((task) => isOf?.(task));
}

type Run = {
  readonly file: RunFile;
  /** The hash of the domain's base database. */
  readonly database: string;
  readonly open: OpenRun;
};

async function compared(
  supervisor: Supervisor,
  { task, trial, simulation }: Waiting,
  { file, database, open }: Run,
  folder: string,
): Promise<Compared> {
  const { domain } = supervisor;
  const recorded = simulation.seats(task);
  const seat = { type: 'scripted' } as const;
  const { by } = simulation;
  const start = startOf(domain, database, task, {
    seed: '1',
    trial,
    basis: 'evaluate',
    agent: seat,
    user: seat,
    turnCap: endless,
  });
  const name = rolloutName(task, trial);
  const { closed } = supervisor.start({
    task,
    from: { ...start, toolErrorCap: endless, seats: { agent: by, user: by, judge: by } },
    seats: { agent: 'remote', user: 'remote' },
    externalSeats: {
      agent: async () => ({ reply: recorded.agent() }),
      user: async () => ({ reply: recorded.user() }),
      judge: async (question) => ({ reply: recorded.judge(question) }),
      simulate: () => Promise.reject(new Error('an imported domain has no simulated tools')),
    },
    recording: join(folder, recordingName(name)),
    run: open.id,
  });
  const ended = await closed;
  open.receive(receiptOf(domain.policy.hash, file, name, task, trial, ended));
  const rewarded = ended.events.findLast((event) => event.type === 'rewarded');
  return {
    task: task.id,
    trial,
    name: simulation.name,
    official: simulation.official,
    own: ended.reward,
    reason: rewarded?.reason ?? '',
    raised: simulation.raised,
    changed: recorded.changedResults(ended.events),
  };
}

/** Returns what `run.json` says: the tasks and trials that are played, and none that were refused. */
function runFileFor({ domain, loaded }: Supervisor, waiting: readonly Waiting[], { key }: OfficialOptions): RunFile {
  const tasks = new Set(waiting.map(({ task }) => task.id));
  const by = waiting[0]?.simulation.by ?? '';
  return {
    domain: domain.name,
    folder: loaded.folder,
    seed: '1',
    trials: 1 + waiting.reduce((most, { trial }) => Math.max(most, trial), 0),
    basis: 'evaluate',
    agent: by,
    user: by,
    tasks: domain.tasks.map(({ id }) => id).filter((id) => tasks.has(id)),
    tools: domain.tools.map(({ name, effect, generic = false, handsOff = false }) => ({
      name,
      effect,
      generic,
      handsOff,
    })),
    prices: undefined,
    policyHash: domain.policy.hash,
    publicKey: key.publicKey,
  };
}

/**
 * Counts how often both agree, how often not, how often the official evaluator raised and this engine could not score
 * either, and how often only this engine could not score.
 * What has no official reward, and was not said to have raised, was never evaluated and counts for nothing.
 */
export function countsOf(rollouts: readonly Compared[]): Readonly<Record<OfficialVerdict, number>> {
  const evaluated = rollouts.filter(({ official, raised }) => official !== null || raised !== null);
  const counts = { agree: 0, differ: 0, raised: 0, unscored: 0 };
  for (const { official, own } of evaluated) counts[verdictOf(official, own)] += 1;
  return counts;
}
