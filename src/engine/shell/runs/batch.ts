import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type DomainFile, userSeatFor } from '../../core/domain/domain.ts';
import { describeSettings } from '../../core/domain/modelSettings.ts';
import { type AskedSettings, type SeatSpec, seatName } from '../../core/domain/seatSpec.ts';
import { type Task, taskHash } from '../../core/domain/task.ts';
import type { ModelRole } from '../../core/evaluation/measure.ts';
import type { Prices } from '../../core/evaluation/metrics.ts';
import type { EventType } from '../../core/events/event.ts';
import { contentHash } from '../../core/values/hash.ts';
import { effectsOfAgent, hashOfEffects } from '../approvals/effects.ts';
import { hashOfPrograms } from '../approvals/programFiles.ts';
import type { LoadedDomain } from '../domain/loadDomain.ts';
import { policyChangeSince } from '../domain/policyChange.ts';
import { type AskPerson, type ExternalSeats, externalSeatsOf, type OnModel, workerSeats } from '../externalSeats.ts';
import { makeRunFolder } from '../files/disk.ts';
import { Fault, messageOf } from '../files/fault.ts';
import { forEach } from '../files/forEach.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import type { ReadKey } from '../models/modelSettings.ts';
import { parseSeat } from '../models/parseSeat.ts';
import { isLost, newestReceipts, openLedger, type Receipt, type SigningKey } from '../records/ledger.ts';
import { recordingName, rolloutName } from '../records/recordingName.ts';
import { type RunFile, toolKinds, writeRunFile } from '../records/runFile.ts';
import { lockRun } from '../records/runLock.ts';
import { runToGoOn } from '../records/runRecord.ts';
import { baseHashOf } from '../replay.ts';
import { isUnverified } from '../rollout/effectEvents.ts';
import { startOf } from '../start.ts';
import { lastOf } from '../supervisedRollout.ts';
import type { Supervisor } from '../supervisor.ts';
import type { WorkerEvent } from '../workers/workerMessage.ts';
import type { Meter } from './meter.ts';
import { resumePoint } from './resume.ts';

export type BatchOptions = {
  /** The run's folder; recordings, sidecars and the ledger go there. */
  readonly folder: string;
  readonly tasks: readonly Task[];
  readonly trials: number;
  readonly seed: string;
  readonly basis: 'evaluate' | 'train';
  readonly agent: SeatSpec;
  /** Returns the seat without a model that a task names, else `agent`; absent where `agent` plays every task. */
  readonly agentFor?: ((task: Task) => SeatSpec) | undefined;
  readonly user: SeatSpec;
  /** Answers what rules and tasks leave to a judge; without one those answers are unknown. */
  readonly judge?: SeatSpec;
  /** Overrides the settings of the domain for simulated tools. */
  readonly toolSettings?: AskedSettings | undefined;
  readonly concurrency: number;
  /** The number of times that rollouts without a reward are rerun. */
  readonly retryUnscored?: number | undefined;
  readonly turnCap?: number;
  readonly key: SigningKey;
  readonly readKey: ReadKey;
  readonly askPerson: AskPerson;
  readonly signal?: AbortSignal;
  readonly prices?: Prices;
  /** Counts what models use, and says when that is enough. */
  readonly meter?: Meter;
  readonly onEvents?: (task: Task, trial: number, events: readonly WorkerEvent[]) => void;
  readonly onFinished?: (result: TrialResult) => void;
  /** Receives every call to a model. */
  readonly onModel?: OnModel;
};

/** One finished rollout of a run, as tables and metrics read it. */
export type TrialResult = {
  readonly task: string;
  readonly split: Task['split'];
  readonly trial: number;
  readonly reward: number | null;
  readonly endReason: string;
  readonly failure: RolloutClosed['failure'];
  readonly turns: number;
  readonly toolCalls: number;
  readonly violations: number;
  readonly recording: string;
  readonly reason: string;
  /** The rollout did not reach a recorded end, so it has no receipt; `failure` says why. */
  readonly crashed?: true;
};

/**
 * Runs every trial of every task, a bounded number at once, and returns the last result of each. Rollouts that have a
 * final receipt in the folder's ledger are not run again. One that was interrupted, or that infrastructure ended,
 * continues from its events. An error of one rollout is its own result and never stops the others.
 */
export async function runBatch(supervisor: Supervisor, options: BatchOptions): Promise<readonly TrialResult[]> {
  const release = lockRun(options.folder);
  try {
    return await runLocked(supervisor, options);
  } finally {
    release();
  }
}

async function runLocked(supervisor: Supervisor, options: BatchOptions): Promise<readonly TrialResult[]> {
  const run = openRun(options.folder, supervisor.loaded, options);
  const ledger = join(options.folder, 'ledger.jsonl');
  const database = baseHashOf(supervisor.loaded);
  const { agent, user, readKey, askPerson, judge, onModel } = options;
  const externalSeats = externalSeatsOf(agent, user, readKey, askPerson, judge, onModel, options.toolSettings);
  const metered = options.meter?.metered(externalSeats) ?? externalSeats;
  const all = options.tasks.flatMap((task) =>
    Array.from({ length: options.trials }, (_, trial) => ({ task, trial, name: rolloutName(task, trial) })),
  );
  const results = new Map<string, TrialResult>();
  const play = async ({ task, trial, name }: PlannedTrial, hasReceipt: boolean) => {
    if (options.meter?.isSpent()) return;
    if (hasReceipt) run.reopen(name);
    const ofTask = { ...options, agent: options.agentFor?.(task) ?? agent };
    const result = await runTrial(supervisor, ofTask, metered, database, task, trial, run).catch((error: unknown) =>
      crashedResult(task, trial, join(options.folder, recordingName(name)), error),
    );
    results.set(name, result);
    options.onFinished?.(result);
  };
  const playWithout = (done: (receipt: Receipt) => boolean) => {
    const newest = new Map(newestReceipts(ledger).map((receipt) => [receipt.rollout, receipt]));
    const open = all.filter(({ name }) => {
      const receipt = newest.get(name);
      return !receipt || !done(receipt);
    });
    return forEach(open, options.concurrency, (each) => play(each, newest.has(each.name)), options.signal);
  };
  await playWithout((receipt) => !isLost(receipt));
  for (let round = 0; round < (options.retryUnscored ?? 0); round += 1)
    await playWithout(({ reward }) => reward !== null);
  if (!newestReceipts(ledger).some((receipt) => isLost(receipt) && isTrial(receipt))) run.finish();
  return [...results.values()];
}

type PlannedTrial = { readonly task: Task; readonly trial: number; readonly name: string };

const isTrial = ({ rollout, task, trial }: Receipt) => rollout === rolloutName(task, trial);
const namesOf = (receipts: readonly Receipt[]) => new Set(receipts.map(({ rollout }) => rollout));

/** Returns the names of the rollouts in a run's folder that have a final receipt. They are not run again. */
export function finalRollouts(folder: string): ReadonlySet<string> {
  return namesOf(newestReceipts(join(folder, 'ledger.jsonl')).filter((receipt) => !isLost(receipt)));
}

/** Throws what ended a rollout before it reached an end that could be recorded. */
export function throwCrash(results: readonly TrialResult[]): void {
  const failure = results.find(({ crashed }) => crashed)?.failure;
  if (failure) throw new Fault(failure);
}

function crashedResult(task: Task, trial: number, recording: string, error: unknown): TrialResult {
  const failure =
    error instanceof Fault
      ? error.failure
      : ({ who: 'infrastructure', code: 'rollout/crashed', message: `internal error: ${messageOf(error)}` } as const);
  return {
    task: task.id,
    split: task.split,
    trial,
    reward: null,
    endReason: 'infrastructureFailed',
    failure,
    turns: 0,
    toolCalls: 0,
    violations: 0,
    recording,
    reason: `not scored: ${failure.message}`,
    crashed: true,
  };
}

async function runTrial(
  supervisor: Supervisor,
  options: BatchOptions,
  externalSeats: ExternalSeats,
  database: string,
  task: Task,
  trial: number,
  run: OpenRun,
): Promise<TrialResult> {
  const { onEvents } = options;
  const name = rolloutName(task, trial);
  const recording = join(options.folder, recordingName(name));
  const live = supervisor.start(
    {
      task,
      ...resumePoint(
        recording,
        startOf(supervisor.domain, database, task, { ...options, trial }),
        supervisor.domain,
        run.id,
      ),
      run: run.id,
      seats: workerSeats(options.agent, options.user),
      externalSeats,
      recording,
    },
    onEvents && ((events) => onEvents(task, trial, events)),
  );
  const stop = () => live.cancel();
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    const closed = await live.closed;
    if (closed.endReason !== 'cancelled')
      run.receive(receiptOf(supervisor.domain.policy.hash, options, name, task, trial, closed));
    return resultOf(task, trial, recording, closed);
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
}

/** The numbers of one rollout that tables show. */
export function resultOf(task: Task, trial: number, recording: string, closed: RolloutClosed): TrialResult {
  const arrived = (type: EventType) => closed.arrived.filter((each) => each.type === type);
  const violations = arrived('rulesChecked').flatMap(({ event }) =>
    event.type === 'rulesChecked' ? event.verdicts.filter(({ verdict }) => verdict === 'violated') : [],
  );
  return {
    task: task.id,
    split: task.split,
    trial,
    reward: closed.reward,
    endReason: closed.endReason,
    failure: closed.failure,
    turns: arrived('agentReplied').length,
    toolCalls: arrived('toolCalled').filter(({ event }) => event.type === 'toolCalled' && !event.by).length,
    violations: violations.length,
    recording,
    reason: lastOf(closed.arrived, 'rewarded')?.reason ?? '',
  };
}

/** The receipt of a finished rollout. */
export function receiptOf(
  policyHash: string,
  options: Pick<BatchOptions, 'seed' | 'basis'>,
  rollout: string,
  task: Task,
  trial: number,
  closed: RolloutClosed,
): Receipt {
  return {
    rollout,
    recording: recordingName(rollout),
    task: { id: task.id, hash: taskHash(task) },
    trial,
    seed: options.seed,
    policyHash,
    basis: options.basis,
    reward: closed.reward,
    endReason: closed.endReason,
    ...(isUnverified(lastOf(closed.arrived, 'rewarded')) ? { unverified: true } : {}),
    databaseDiff: closed.databaseDiff,
    chain: closed.chain,
    sidecarChain: closed.sidecarChain,
  };
}

/**
 * Makes a run's folder, says in `run.json` what it is, and opens its ledger, which vouches for that. A run that
 * continues keeps its tasks; a folder with another run, or one that can't be read, stays as it is and is a `Fault`.
 */
export function openRun(path: string, domain: LoadedDomain, options: RunOptions): OpenRun {
  const policyChange = policyChangeSince(path, domain);
  const trials = Array.from({ length: options.trials }, (_, trial) => trial);
  const planned = options.planned ?? options.tasks.flatMap((task) => trials.map((trial) => rolloutName(task, trial)));
  return openRunOf(path, { ...runFileOf(domain, options), policyChange }, planned, options.key, options.tasks);
}

/**
 * Throws a `Fault` where a folder holds what a run with these options can't continue with. `openRun` does so too; this
 * is for who wants to know before anything is started or written.
 */
export function expectToGoOn(path: string, domain: LoadedDomain, options: RunOptions): void {
  runToGoOn(path, runFileOf(domain, options), hashed(options.tasks));
}

function hashed(tasks: readonly Task[]) {
  return tasks.map((task) => ({ id: task.id, hash: taskHash(task) }));
}

/** A run whose folder is open for receipts. */
export type OpenRun = {
  /** Undefined where the run was begun by a version that gave none. */
  readonly id: string | undefined;
  readonly receive: (...receipts: readonly Receipt[]) => void;
  /** Takes back the receipts of a rollout that is run again. */
  readonly reopen: (rollout: string) => void;
  /**
   * Signs in the ledger that the run is finished, where each planned rollout has its receipt.
   * @param refused planned rollouts that turned out to be impossible
   */
  readonly finish: (refused?: readonly string[]) => void;
};

/**
 * The same as `openRun` for a run that is described already.
 * @param planned the names of the rollouts that belong to it
 */
export function openRunOf(
  path: string,
  file: RunFile,
  planned: readonly string[],
  key: SigningKey,
  tasks: readonly Task[] = [],
): OpenRun {
  const before = runToGoOn(path, file, hashed(tasks));
  // A run without an id keeps none: its earlier receipts would look like those of another run.
  const id = before ? before.id : randomUUID();
  const all = [...new Set([...(before?.planned ?? []), ...planned])];
  makeRunFolder(path);
  const hash = writeRunFile(path, {
    ...file,
    id,
    planned: id === undefined ? undefined : all,
    trials: Math.max(file.trials, before?.trials ?? 0),
    tasks: [...new Set([...(before?.tasks ?? []), ...file.tasks])],
    agents: file.agents || before?.agents ? { ...before?.agents, ...file.agents } : undefined,
    prices: file.prices ?? before?.prices,
    policyChange: before ? before.policyChange : file.policyChange,
  });
  const ledgerPath = join(path, 'ledger.jsonl');
  const ledger = openLedger(ledgerPath, key, id);
  ledger.vouchFor({ hash });
  return {
    id,
    receive: ledger.receive,
    reopen: ledger.reopen,
    finish: (refused = []) => {
      const done = new Set([...namesOf(newestReceipts(ledgerPath)), ...refused]);
      if (id !== undefined && all.every((name) => done.has(name)))
        ledger.vouchFor({ hash, finished: true, ...(refused.length > 0 ? { refused } : {}) });
    },
  };
}

type RunOptions = Pick<
  BatchOptions,
  | 'seed'
  | 'trials'
  | 'basis'
  | 'turnCap'
  | 'agent'
  | 'agentFor'
  | 'user'
  | 'judge'
  | 'toolSettings'
  | 'tasks'
  | 'key'
  | 'prices'
> & {
  /** The names of its rollouts, where they are not all trials of all tasks. */
  readonly planned?: readonly string[];
};

/**
 * Returns who plays the user for each purpose: the seat of this run for its own basis, the domain's for the other one.
 */
export function simulatorsOf(
  file: DomainFile,
  { basis, user }: Pick<BatchOptions, 'basis' | 'user'>,
): NonNullable<RunFile['simulators']> {
  const nameOf = (purpose: 'train' | 'evaluate') => {
    if (purpose === basis) return seatName(user);
    // Only its name is wanted: nothing is sent.
    const own = parseSeat(userSeatFor(file, purpose), 'user', 'domain', {});
    return typeof own === 'string' ? userSeatFor(file, purpose) : seatName(own);
  };
  return { train: nameOf('train'), evaluate: nameOf('evaluate') };
}

/** Returns how the model of a seat is asked, if the seat has one. */
function modelSettingsOf(role: ModelRole, seat: SeatSpec | null = null): NonNullable<RunFile['models']> {
  const model = seat?.type === 'agent' ? seat.model : seat;
  return model?.type === 'openai' ? { [role]: describeSettings(model) } : {};
}

/** Returns the agent's seats of the tasks that have another one than the run. */
function agentsOf({ tasks, agent, agentFor }: RunOptions): RunFile['agents'] {
  const named = tasks.flatMap((task) => {
    const name = seatName(agentFor?.(task) ?? agent);
    return name === seatName(agent) ? [] : [[task.id, name] as const];
  });
  return named.length > 0 ? Object.fromEntries(named) : undefined;
}

/** Returns the hash of a custom agent's file and of the program files that it names; undefined for another seat. */
function agentHashOf(agent: SeatSpec): string | undefined {
  if (agent.type !== 'agent') return undefined;
  const effects = effectsOfAgent(agent);
  return contentHash([hashOfEffects(effects), hashOfPrograms(effects), agent.model && seatName(agent.model)]);
}

/** Returns what `run.json` says about a run with these options. */
export function runFileOf({ domain, folder }: LoadedDomain, options: RunOptions): RunFile {
  const tools = describeSettings(options.toolSettings ?? {});
  return {
    domain: domain.name,
    folder,
    seed: options.seed,
    trials: options.trials,
    basis: options.basis,
    turnCap: options.turnCap ?? domain.file.turnCap,
    agent: seatName(options.agent),
    agents: agentsOf(options),
    agentHash: agentHashOf(options.agent),
    user: seatName(options.user),
    ...(options.judge ? { judge: seatName(options.judge) } : {}),
    models: {
      ...modelSettingsOf('agent', options.agent),
      ...modelSettingsOf('user', options.user),
      ...modelSettingsOf('judge', options.judge),
      ...(Object.keys(tools).length > 0 ? { tools } : {}),
    },
    simulators: simulatorsOf(domain.file, options),
    tasks: options.tasks.map(({ id }) => id),
    tools: toolKinds(domain.tools),
    prices: Object.values(options.prices ?? {}).some(Boolean) ? options.prices : undefined,
    policyHash: domain.policy.hash,
    domainHash: domain.hash,
    publicKey: options.key.publicKey,
  };
}
