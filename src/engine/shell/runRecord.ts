import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Recorded, RolloutEvent } from '../core/event.ts';
import { type Measure, measureOf } from '../core/measure.ts';
import { finishedRollouts, type Receipt } from './ledger.ts';
import { readRecording, readSidecar, sidecarPath } from './recording.ts';
import { type RunFile, readRunFile } from './runFile.ts';

/** A finished rollout of a run: its measures, and where its recording lies. */
export type FinishedRollout = Measure & { readonly recording: string; readonly taskHash: string };

/** What stands in a run's folder, measured. */
export type RunRecord = {
  readonly folder: string;
  readonly file: RunFile;
  readonly rollouts: readonly FinishedRollout[];
  /** Recordings without a receipt: rollouts that were begun and not finished. */
  readonly unfinished: readonly string[];
  /** Recordings of forks, finished or not: none is a trial of the run. */
  readonly forks: readonly string[];
  /** Recordings that are missing or not as they were written, each in a sentence. */
  readonly problems: readonly string[];
};

/** Reads a run's folder: the rollouts that have a receipt. Null when there is no run in it. */
export function readRun(folder: string): RunRecord | null {
  const file = readRunFile(folder);
  if (!file) return null;
  const receipts = [...new Map(finishedRollouts(join(folder, 'ledger.jsonl')).map((each) => [each.rollout, each]))];
  const problems: string[] = [];
  const forks: string[] = [];
  const rollouts = receipts.flatMap(([, receipt]) => {
    const measured = measureReceipt(folder, file, receipt);
    if (typeof measured === 'object') return [measured];
    if (measured === 'fork') forks.push(receipt.recording);
    else problems.push(measured);
    return [];
  });
  const vouched = new Set(receipts.map(([, { recording }]) => recording));
  const begun = readdirSync(folder).filter((name) => name.endsWith('.traj.jsonl') && !vouched.has(name));
  const { unfinished = [], fork = [] } = Object.groupBy(begun, (name) =>
    isFork(name, readRecording(join(folder, name)).lines) ? 'fork' : 'unfinished',
  );
  return {
    folder,
    file,
    rollouts: rollouts.toSorted(byTaskAndTrial(file.tasks)),
    unfinished,
    forks: [...forks, ...fork],
    problems,
  };
}

/** A fork lies beside its parent. A rollout that was graded again names a parent too, of its own name in another run. */
function isFork(name: string, [first]: readonly Recorded[]): boolean {
  const parent = first?.event.type === 'rolloutStarted' ? first.event.parent : undefined;
  return parent !== undefined && parent.recording !== name;
}

/** The events of a finished rollout. */
export function eventsOf(path: string): readonly RolloutEvent[] {
  return readRecording(path).lines.map(({ event }) => event);
}

/** The measures of a rollout, `fork` for one that is no trial of the run, or what is wrong with its recording. */
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
  return { ...measureOf(events, file.tools, timings), recording: path, taskHash: receipt.task.hash };
}

function byTaskAndTrial(tasks: readonly string[]) {
  const place = new Map(tasks.map((task, at) => [task, at]));
  return (one: Measure, other: Measure) =>
    (place.get(one.task) ?? tasks.length) - (place.get(other.task) ?? tasks.length) || one.trial - other.trial;
}

/**
 * What speaks against going on with the run in a folder: it was begun with other options, or a task has changed since
 * its rollouts were finished. Empty for a folder without a run.
 */
export function differencesFromRun(
  folder: string,
  next: RunFile,
  tasks: readonly { readonly id: string; readonly hash: string }[],
): readonly string[] {
  const before = readRunFile(folder);
  if (!before) return [];
  const settings = (['domain', 'seed', 'basis', 'agent', 'user', 'judge', 'policyHash'] as const).flatMap((name) =>
    before[name] === next[name]
      ? []
      : [`its ${labels[name]} is ${before[name] ?? 'nobody'}, now it would be ${next[name] ?? 'nobody'}`],
  );
  const hashes = new Map(tasks.map(({ id, hash }) => [id, hash]));
  const changed = new Set(
    finishedRollouts(join(folder, 'ledger.jsonl')).flatMap(({ task }) =>
      (hashes.get(task.id) ?? task.hash) === task.hash ? [] : [`task ${task.id} has changed since`],
    ),
  );
  return [...settings, ...changed];
}

const labels = {
  domain: 'domain',
  seed: 'seed',
  basis: 'basis',
  agent: "agent's seat",
  user: "user's seat",
  judge: 'judge',
  policyHash: 'policy (by its hash)',
} as const;
