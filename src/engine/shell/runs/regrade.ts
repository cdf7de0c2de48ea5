import { basename, join } from 'node:path';
import { type Task, taskHash } from '../../core/domain/task.ts';
import { taskIn } from '../../core/domain/taskVariant.ts';
import type { RolloutEvent, RolloutStarted, Writes } from '../../core/events/event.ts';
import { underPresentRules } from '../../core/rollout/regrade.ts';
import type { Setting } from '../../core/rollout/rollout.ts';
import type { Json } from '../../core/values/json.ts';
import { Fault } from '../files/fault.ts';
import { forEach } from '../files/forEach.ts';
import type { SigningKey } from '../records/ledger.ts';
import { readRecording } from '../records/recording.ts';
import { recordingName, rolloutName } from '../records/recordingName.ts';
import type { FinishedRollout, RunRecord } from '../records/runRecord.ts';
import { problemText, unverifiedIn } from '../records/verifyRollouts.ts';
import type { RunProblem } from '../records/verifyRun.ts';
import { baseHashOf, settingOf } from '../replay.ts';
import { preparation, setUpOf } from '../rollout/driver.ts';
import type { Supervisor } from '../supervisor.ts';
import { openRunOf, receiptOf } from './batch.ts';

export type RegradeOptions = {
  /** A new folder: the old run is only read. */
  readonly folder: string;
  readonly concurrency: number;
  readonly key: SigningKey;
  /** The public key that has to have signed the old run. */
  readonly trustedKey: string;
  readonly signal: AbortSignal;
};

/** One old rollout under the present rules and verifiers. */
export type Regraded = {
  readonly task: string;
  readonly trial: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly reason: string;
};

export type Regrading = {
  readonly rollouts: readonly Regraded[];
  /** Rollouts that can't be graded again, and why. */
  readonly refused: readonly string[];
};

/**
 * Verifies the rollouts of a run again with the present rules, verifiers and tasks of its domain, into a run of its
 * own whose recordings name their parents. No model, no tool source and no user is asked; the domain's code runs for
 * the gold actions alone. What does not verify is refused, since the new run is signed: a rollout for its recording, the
 * whole run with a `Fault` for its ledger.
 */
export async function regradeRun(
  supervisor: Supervisor,
  record: RunRecord,
  options: RegradeOptions,
): Promise<Regrading> {
  const { ofRun, ofRollout } = unverifiedIn(record, options.trustedKey);
  if (ofRun.length > 0) throw unverifiedRun(record.folder, ofRun);
  const setting = { ...settingOf(supervisor.loaded), domain: supervisor.domain };
  const planned = record.rollouts.map(({ task, trial }) => rolloutName({ id: task }, trial));
  const run = openRunOf(options.folder, runFileFor(supervisor, record, options), planned, options.key);
  const rollouts: Regraded[] = [];
  const refused: string[] = [];
  const impossible: string[] = [];
  const verify = async (next: FinishedRollout) => {
    const [problem] = ofRollout.get(next.recording) ?? [];
    const prepared = problem ? problemText(problem) : prepare(supervisor, setting, next);
    if (typeof prepared === 'string') {
      refused.push(`${next.task} trial ${next.trial}: ${prepared}`);
      impossible.push(rolloutName({ id: next.task }, next.trial));
      return;
    }
    const name = rolloutName(prepared.task, next.trial);
    const { closed } = supervisor.start({
      task: prepared.task,
      from: prepared.events,
      seats: { agent: 'gold', user: 'agenda' },
      externalSeats: { agent: nobody, user: nobody, simulate: nobody },
      recording: join(options.folder, recordingName(name)),
      run: run.id,
      recordedSources: prepared.sources,
    });
    const ended = await closed;
    const { policy } = supervisor.domain;
    run.receive(receiptOf(policy.hash, record.file, name, prepared.task, next.trial, ended));
    const rewarded = ended.events.findLast((event) => event.type === 'rewarded');
    rollouts.push({
      task: next.task,
      trial: next.trial,
      before: next.reward,
      after: ended.reward,
      reason: rewarded?.reason ?? '',
    });
  };
  await forEach(record.rollouts, options.concurrency, verify, options.signal);
  run.finish(impossible);
  const order = new Map(record.rollouts.map(({ task, trial }, at) => [`${task} ${trial}`, at]));
  const place = ({ task, trial }: Regraded) => order.get(`${task} ${trial}`) ?? 0;
  return { rollouts: rollouts.toSorted((one, other) => place(one) - place(other)), refused };
}

const shownProblems = 10;

function unverifiedRun(folder: string, problems: readonly RunProblem[]): Fault {
  const shown = problems.slice(0, shownProblems).map((problem) => `\n  ${problemText(problem)}`);
  const rest = problems.length - shown.length;
  const more = rest > 0 ? `\n  and ${rest} more` : '';
  return new Fault({
    who: 'infrastructure',
    code: 'run/unverified',
    message: `${folder} failed verification, so it is not scored again. Restore it, or name the key that signed it with --key:${shown.join('')}${more}`,
  });
}

type Prepared = {
  readonly task: Task;
  readonly events: readonly RolloutEvent[];
  readonly sources: Readonly<Record<string, Json>>;
};

function prepare(supervisor: Supervisor, setting: Setting, rollout: FinishedRollout): Prepared | string {
  const { domain } = supervisor;
  const task = taskIn(domain, rollout.task);
  if (!task) return 'the domain no longer has this task';
  const { lines } = readRecording(rollout.recording);
  const events = lines.map(({ event }) => event);
  const [first] = events;
  if (first?.type !== 'rolloutStarted') return 'its recording does not begin with rolloutStarted';
  if (first.database !== baseHashOf(supervisor.loaded))
    return "it was recorded on a different database from the domain's current one";
  const prepared = events.find((event) => event.type === 'worldPrepared');
  if (prepared && !isSameStart(setting, task, prepared.writes)) return 'the task starts from another state now';
  const end = events.findIndex(({ type }) => type === 'rolloutEnded');
  const started: RolloutStarted = {
    ...first,
    domain: { name: domain.name, hash: domain.hash },
    policyHash: domain.policy.hash,
    task: { id: task.id, hash: taskHash(task), split: task.split },
    parent: {
      recording: basename(rollout.recording),
      event: end,
      chain: lines[end]?.chain ?? '',
      edit: 'regraded with the current rules and verifiers',
    },
  };
  const sources = events.flatMap((event) =>
    event.type === 'sourceRead' ? [[event.source, event.state as Json] as const] : [],
  );
  return { task, events: underPresentRules(setting, started, events), sources: Object.fromEntries(sources) };
}

/** Returns what an environment wrote for the task's start is after the task's own state, and was recorded. */
export function isSameStart(setting: Setting, task: Task, writes: Writes): boolean {
  const own = preparation(task, setting.world);
  const recorded = setUpOf(setting.domain, task) === undefined ? writes : writes.slice(0, own.length);
  return JSON.stringify(recorded) === JSON.stringify(own);
}

function runFileFor(supervisor: Supervisor, { file, folder }: RunRecord, { key }: RegradeOptions): RunRecord['file'] {
  const { domain, loaded } = supervisor;
  return {
    ...file,
    domain: domain.name,
    folder: loaded.folder,
    regraded: { run: folder, policyHash: file.policyHash },
    policyHash: domain.policy.hash,
    publicKey: key.publicKey,
  };
}

/** Answers for the seats of a rollout that has ended. */
export function nobody(): Promise<never> {
  return Promise.reject(new Error('a rollout that has ended asks no seat'));
}
