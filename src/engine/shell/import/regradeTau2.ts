import { join } from 'node:path';
import type { Task } from '../../core/task.ts';
import { baseHash } from '../../core/world.ts';
import { openRunOf, receiptOf, rolloutName } from '../batch.ts';
import type { SigningKey } from '../ledger.ts';
import { settingOf } from '../replay.ts';
import type { RunRecord } from '../runRecord.ts';
import { startOf } from '../start.ts';
import type { Supervisor } from '../supervisor.ts';
import type { Simulation, Tau2Results } from './tau2Results.ts';
import { Tau2Trajectory } from './tau2Trajectory.ts';

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
  /** The reward in the file; null where its evaluator raised, or nobody evaluated it. */
  readonly official: number | null;
  readonly own: number | null;
  readonly reason: string;
  /** What the official evaluator raised. */
  readonly raised: string | null;
  /** Calls that return something else here than is recorded. */
  readonly changed: readonly string[];
};

export type OfficialRegrading = { readonly rollouts: readonly Compared[]; readonly refused: readonly string[] };

/** More than any simulation has, so that what ended it is what the file says. */
const endless = 1_000_000;

/**
 * Scores finished simulations of tau2 with this engine: both seats say again what they said, the tools run anew, and the
 * verifiers of the imported task decide. Each becomes a recording of a run, which report, replay and the debugger take.
 */
export async function regradeTau2(
  supervisor: Supervisor,
  { simulations }: Tau2Results,
  options: OfficialOptions,
): Promise<OfficialRegrading> {
  const { domain, loaded } = supervisor;
  const byOrigin = new Map(domain.tasks.map((task) => [task.origin?.id ?? task.id, task]));
  const database = baseHash(settingOf(loaded).world);
  const receive = openRunOf(options.folder, runFileFor(supervisor, simulations, options), options.key);
  const refused: string[] = [];
  const trials = new Map<string, number>();
  const waiting = simulations.flatMap((simulation) => {
    const task = byOrigin.get(simulation.task_id);
    const trial = simulation.trial ?? trials.get(simulation.task_id) ?? 0;
    trials.set(simulation.task_id, trial + 1);
    if (!task) refused.push(`${simulation.task_id}: the domain ${domain.name} has no task that was imported from it`);
    return task ? [{ task, trial, simulation }] : [];
  });
  const rollouts: Compared[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next && !options.signal.aborted; next = waiting.shift()) {
      const { task, trial, simulation } = next;
      rollouts.push(await compared(supervisor, { task, trial, simulation, database }, options, receive));
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  const order = new Map(simulations.map((simulation, at) => [simulation.id ?? `${simulation.task_id} ${at}`, at]));
  return { rollouts: rollouts.toSorted((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0)), refused };
}

type Waiting = {
  readonly task: Task;
  readonly trial: number;
  readonly simulation: Simulation;
  readonly database: string;
};

async function compared(
  supervisor: Supervisor,
  { task, trial, simulation, database }: Waiting,
  options: OfficialOptions,
  receive: ReturnType<typeof openRunOf>,
): Promise<Compared> {
  const { domain } = supervisor;
  const trajectory = new Tau2Trajectory(simulation, task.judge ?? []);
  const seat = { type: 'scripted' } as const;
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
    from: { ...start, toolErrorCap: endless, seats: { agent: 'tau2', user: 'tau2', judge: 'tau2' } },
    seats: { agent: 'remote', user: 'remote' },
    outside: {
      agent: async () => ({ reply: trajectory.agent() }),
      user: async () => ({ reply: trajectory.user() }),
      judge: async (question) => ({ reply: trajectory.judge(question) }),
      simulate: () => Promise.reject(new Error('an imported domain has no simulated tools')),
    },
    recording: join(options.folder, `${name}.traj.jsonl`),
  });
  const ended = await closed;
  const file = runFileFor(supervisor, [simulation], options);
  receive(receiptOf(domain.policy.hash, file, name, task, trial, ended));
  const rewarded = ended.events.findLast((event) => event.type === 'rewarded');
  return {
    task: task.id,
    trial,
    name: simulation.id ?? simulation.task_id,
    official: simulation.reward_info?.reward ?? null,
    own: ended.reward,
    reason: rewarded?.reason ?? '',
    raised: simulation.raised ?? null,
    changed: trajectory.changedResults(ended.events),
  };
}

function runFileFor(
  { domain, loaded }: Supervisor,
  simulations: readonly Simulation[],
  { key }: OfficialOptions,
): RunRecord['file'] {
  const ids = new Set(simulations.map(({ task_id: id }) => id));
  return {
    domain: domain.name,
    folder: loaded.folder,
    seed: '1',
    trials: 1 + Math.max(0, ...simulations.map(({ trial }) => trial ?? 0)),
    basis: 'evaluate',
    agent: 'tau2',
    user: 'tau2',
    tasks: domain.tasks.filter(({ id, origin }) => ids.has(origin?.id ?? id)).map(({ id }) => id),
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
 * How often both agree, how often not, and how often the official evaluator raised and this engine could not score either.
 * What has no official reward, and was not said to have raised, was never evaluated and counts for nothing.
 */
export function countsOf(rollouts: readonly Compared[]): {
  readonly agree: number;
  readonly differ: number;
  readonly raised: number;
} {
  const evaluated = rollouts.filter(({ official, raised }) => official !== null || raised !== null);
  const raised = evaluated.filter(({ official, own }) => official === null && own === null).length;
  const agree = evaluated.filter(
    ({ official, own }) => official !== null && own !== null && Math.abs(official - own) <= 1e-6,
  ).length;
  return { agree, differ: evaluated.length - agree - raised, raised };
}
