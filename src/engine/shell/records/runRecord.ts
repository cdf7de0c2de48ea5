import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Measure, measureOf, modelRoles } from '../../core/evaluation/measure.ts';
import type { Recorded, RolloutEvent } from '../../core/events/event.ts';
import { canonicalJson } from '../../core/values/json.ts';
import { fromDisk, namesIn } from '../files/disk.ts';
import { Fault } from '../files/fault.ts';
import { finishedRollouts, newestReceipts, type Receipt, strangeLine } from './ledger.ts';
import { readNotRun, type TrialNotRun } from './notRun.ts';
import { readRecording, readSidecar, sidecarPath } from './recording.ts';
import { isRecording, recordingName, rolloutName } from './recordingName.ts';
import { agentOfTask, type RunFile, readRunFile } from './runFile.ts';
import { runFileName } from './runFiles.ts';

/** A finished rollout of a run: its measures, and where its recording lies. */
export type FinishedRollout = Measure & {
  readonly recording: string;
  readonly taskHash: string;
  /** The time of the first event; absent in a regraded run, whose rollouts were played before. */
  readonly startedAt?: string | undefined;
};

/** The contents of a run's folder, measured. */
export type RunRecord = {
  readonly folder: string;
  readonly file: RunFile;
  readonly rollouts: readonly FinishedRollout[];
  /** Recordings without a receipt: rollouts that were begun and not finished. */
  readonly unfinished: readonly string[];
  /** Planned trials without a receipt, and files of tasks that could not be read. */
  readonly notRun: readonly TrialNotRun[];
  /** Recordings of forks, finished or not: none is a trial of the run. */
  readonly forks: readonly string[];
  /** Recordings that are missing or not as they were written, each in a sentence. */
  readonly problems: readonly string[];
};

/** Reads a run's folder: the rollouts that have a receipt. A sentence says why there is no run in it. */
export function readRun(folder: string): RunRecord | string {
  const file = readRunFile(folder);
  if (typeof file === 'string') return file;
  const receipts = newestReceipts(join(folder, 'ledger.jsonl'));
  const problems: string[] = [];
  const forks: string[] = [];
  const rollouts = receipts.flatMap((receipt) => {
    const measured = measureReceipt(folder, file, receipt);
    if (typeof measured === 'object') return [measured];
    if (measured === 'fork') forks.push(receipt.recording);
    else problems.push(measured);
    return [];
  });
  const vouched = new Set(receipts.map(({ recording }) => recording));
  const names = fromDisk(folder, () => readdirSync(folder));
  const begun = names.filter((name) => isRecording(name) && !vouched.has(name));
  const { unfinished = [], fork = [] } = Object.groupBy(begun, (name) =>
    isFork(name, readRecording(join(folder, name)).lines) ? 'fork' : 'unfinished',
  );
  return {
    folder,
    file,
    rollouts: rollouts.toSorted(byTaskAndTrial(file.tasks)),
    unfinished,
    notRun: notRunIn(folder, file, new Set(receipts.map(({ rollout }) => rollout)), unfinished),
    forks: [...forks, ...fork],
    problems,
  };
}

/** Returns the trials that a run plans and has no receipt of, with the reasons that its folder gives. */
function notRunIn(
  folder: string,
  file: RunFile,
  finished: ReadonlySet<string>,
  unfinished: readonly string[],
): readonly TrialNotRun[] {
  const written = readNotRun(folder);
  const reasons = new Map(written.map(({ task, trial, reason }) => [JSON.stringify([task, trial]), reason]));
  const started = new Set(unfinished);
  const planned = file.planned && new Set(file.planned);
  const trials = file.tasks.flatMap((task) =>
    Array.from({ length: file.trials }, (_, trial) => ({ task, trial, name: rolloutName({ id: task }, trial) })),
  );
  return [
    ...trials
      .filter(({ name }) => (planned?.has(name) ?? true) && !finished.has(name))
      .map(({ task, trial, name }) => ({
        task,
        trial,
        reason: reasons.get(JSON.stringify([task, trial])) ?? null,
        isStarted: started.has(recordingName(name)),
      })),
    ...written.filter(({ trial }) => trial === null).map((each) => ({ ...each, isStarted: false })),
  ];
}

/** A fork lies beside its parent. A rollout that was graded again names a parent too, of its own name in another run. */
export function isFork(name: string, [first]: readonly Recorded[]): boolean {
  const parent = first?.event.type === 'rolloutStarted' ? first.event.parent : undefined;
  return parent !== undefined && parent.recording !== name;
}

/** The events of a finished rollout. */
export function eventsOf(path: string): readonly RolloutEvent[] {
  return readRecording(path).lines.map(({ event }) => event);
}

/** The measures of a rollout, `fork` for one that is not a trial of the run, or what is wrong with its recording. */
function measureReceipt(folder: string, file: RunFile, receipt: Receipt): FinishedRollout | 'fork' | string {
  const path = join(folder, basename(receipt.recording));
  if (!existsSync(path)) return `${receipt.recording} is missing, although the ledger has its receipt`;
  const { lines, problems } = readRecording(path);
  const [problem] = problems;
  if (problem) return `${path}:${problem.line}: ${problem.message}`;
  if (lines[0]?.event.type !== 'rolloutStarted') return `${path}:1: a recording begins with rolloutStarted`;
  if (isFork(basename(path), lines)) return 'fork';
  const events = lines.map(({ event }) => event);
  // The sidecar of a regraded rollout says how long the verification took, and nothing of the rollout.
  const timings = file.regraded ? [] : readSidecar(sidecarPath(path)).lines;
  const found = { recording: path, taskHash: receipt.task.hash, startedAt: timings[0]?.at };
  return { ...measureOf(events, file.tools, timings), ...found };
}

function byTaskAndTrial(tasks: readonly string[]) {
  const place = new Map(tasks.map((task, at) => [task, at]));
  return (one: Measure, other: Measure) =>
    (place.get(one.task) ?? tasks.length) - (place.get(other.task) ?? tasks.length) || one.trial - other.trial;
}

/**
 * The run in a folder that the next one would continue with; null for a folder without one. Throws a `Fault` where that
 * was begun with other options, where a task has changed since its rollouts were finished, and where what is there
 * can't be read.
 */
export function runToGoOn(
  folder: string,
  next: RunFile,
  tasks: readonly { readonly id: string; readonly hash: string }[],
): RunFile | null {
  const before = readRunFile(folder);
  if (typeof before === 'string') {
    const names = namesIn(folder);
    const isThere = names.includes(runFileName);
    const rest = names.find((name) => name === 'ledger.jsonl' || isRecording(name));
    if (!isThere && rest === undefined) return null;
    const beside = isThere ? '' : ` although ${rest} is there`;
    throw refusal('run/unreadable', `${before}${beside}, so it is unknown which run this is. ${restore}`);
  }
  const ledger = join(folder, 'ledger.jsonl');
  const line = strangeLine(ledger);
  if (line !== null)
    throw refusal(
      'run/unreadable',
      `${ledger}:${line}: is not a receipt, so it is unknown which rollouts are finished. ${restore}`,
    );
  const settled = withTurnCap(folder, before);
  const differences = differencesFrom(settled, folder, next, tasks);
  if (differences.length > 0)
    throw refusal(
      'run/another',
      `${folder} holds another run: ${differences.join('; ')}. Choose another --out, or restore what has changed`,
    );
  return settled;
}

/** Returns a run with its turn cap. That of an older version is in its recordings; undefined without a finished one. */
export function withTurnCap(folder: string, file: RunFile): RunFile {
  return { ...file, turnCap: file.turnCap ?? recordedTurnCap(folder) };
}

/** Returns the turn cap of the first finished rollout. */
function recordedTurnCap(folder: string): number | undefined {
  const [receipt] = finishedRollouts(join(folder, 'ledger.jsonl'));
  const path = receipt && join(folder, basename(receipt.recording));
  const first = path !== undefined && existsSync(path) ? readRecording(path).lines[0]?.event : undefined;
  return first?.type === 'rolloutStarted' ? first.turnCap : undefined;
}

const restore = 'Choose another --out, or put that file back as it was';

function refusal(code: string, message: string): Fault {
  return new Fault({ who: 'infrastructure', code, message });
}

function differencesFrom(
  before: RunFile,
  folder: string,
  next: RunFile,
  tasks: readonly { readonly id: string; readonly hash: string }[],
): readonly string[] {
  const settings = settingsThatDiffer(before, next).flatMap(({ label, values: [was, is] }) =>
    label === labels.policyHash ? [] : `its ${label} is ${was}, now it would be ${is}`,
  );
  const hashes = new Map(tasks.map(({ id, hash }) => [id, hash]));
  const changed = new Set(
    finishedRollouts(join(folder, 'ledger.jsonl')).flatMap(({ task }) =>
      (hashes.get(task.id) ?? task.hash) === task.hash ? [] : [`task ${task.id} has changed since`],
    ),
  );
  const seats = before.agent === next.agent ? agentsThatDiffer(before, next) : [];
  return [...settings, ...seats, ...filesThatChanged(before, next), ...agentThatChanged(before, next), ...changed];
}

/** Returns what of a domain has changed between two runs, apart from its tasks. */
function filesThatChanged(before: RunFile, next: RunFile): readonly string[] {
  if (before.policyHash !== next.policyHash) return ['the policy has changed since'];
  if (before.domainHash === undefined || before.domainHash === next.domainHash) return [];
  return ['a file of the domain has changed since (its tools, rules, personas or database, or domain.yaml)'];
}

/** Returns the custom agent that has changed between two runs, in words. */
function agentThatChanged(before: RunFile, next: RunFile): readonly string[] {
  return hasAgentChanged(before, next)
    ? [`${next.agent} has changed since (its file, or a program file that it names)`]
    : [];
}

/** Whether two runs have the same custom agent with another file or another program. */
export function hasAgentChanged(one: RunFile, other: RunFile): boolean {
  const hashes = [one.agentHash, other.agentHash];
  return one.agent === other.agent && !hashes.includes(undefined) && one.agentHash !== other.agentHash;
}

/** Returns the tasks of both runs whose agent's seat differs, in words. */
function agentsThatDiffer(before: RunFile, next: RunFile): readonly string[] {
  const known = new Set(before.tasks);
  return next.tasks.flatMap((task) => {
    if (!known.has(task)) return [];
    const [was, is] = [agentOfTask(before, task), agentOfTask(next, task)];
    return was === is ? [] : [`the agent's seat of task ${task} is ${was}, now it would be ${is}`];
  });
}

/** The settings of a run that are the same in each of its rollouts. */
export type RunSettings = Pick<RunFile, keyof typeof labels | 'turnCap' | 'models'>;

type SettingDifference = { readonly label: string; readonly values: readonly [string, string] };

/** Returns the settings in which two runs differ, in words, with what each has. */
export function settingsThatDiffer(one: RunSettings, other: RunSettings): readonly SettingDifference[] {
  const differences = (Object.keys(labels) as (keyof typeof labels)[])
    .filter((name) => one[name] !== other[name])
    .map((name): SettingDifference => ({ label: labels[name], values: [one[name] ?? 'none', other[name] ?? 'none'] }));
  return [...differences, ...turnCapsThatDiffer(one, other), ...modelSettingsThatDiffer(one, other)];
}

/** Returns a difference as a comparison shows it. Two hashes would show a person only that the policies differ. */
export function settingText({ label, values: [one, other] }: SettingDifference): string {
  return label === labels.policyHash ? 'text of the policy' : `${label}: ${one} → ${other}`;
}

/** A run of an older version does not name its turn cap, so it differs in nothing. */
function turnCapsThatDiffer({ turnCap: one }: RunSettings, { turnCap: other }: RunSettings) {
  if (one === undefined || other === undefined || one === other) return [];
  return [{ label: 'turn cap', values: [String(one), String(other)] } satisfies SettingDifference];
}

/** A run of an older version does not describe how its models were asked, so it differs in nothing. */
function modelSettingsThatDiffer({ models: one }: RunSettings, { models: other }: RunSettings) {
  if (!one || !other) return [];
  return modelRoles.flatMap((role): SettingDifference[] => {
    const values = [one[role] ?? {}, other[role] ?? {}].map((settings) => canonicalJson(settings));
    const [was = '', is = ''] = values.map((text) => (text === '{}' ? 'the default' : text));
    return was === is ? [] : [{ label: modelLabels[role], values: [was, is] }];
  });
}

const modelLabels = {
  agent: "agent's model configuration",
  user: "user's model configuration",
  judge: "judge's model configuration",
  tools: "tools' model configuration",
} as const;

const labels = {
  domain: 'domain',
  seed: 'seed',
  basis: 'basis',
  agent: "agent's seat",
  user: "user's seat",
  judge: 'judge',
  policyHash: 'policy (by its hash)',
} as const;
