import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { passHats, type Scored, successByTask, type TaskSuccess } from '../../engine/core/evaluation/metrics.ts';
import { endedByPerson, isEndedByPerson } from '../../engine/core/events/displayText.ts';
import { eventSchema, type RolloutEvent } from '../../engine/core/events/event.ts';
import { mean } from '../../engine/core/values/statistics.ts';
import { mayHaveExpression, rewardInWords } from '../../engine/shell/domain/reasonInWords.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { type Receipt, type RunReceipts, receiptsOfRun } from '../../engine/shell/records/ledger.ts';
import { firstLine, lastLines } from '../../engine/shell/records/recordingEnds.ts';
import { forkNumber, nameOf, originName, recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { type RunFile, readRunFile } from '../../engine/shell/records/runFile.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';

/** A run as its row says it: what is in `run.json` and in the ledger. No recording is read for it. */
export type RunSummary = {
  /** Name of its folder. */
  readonly id: string;
  readonly folder: string;
  readonly time: Date | null;
  /** Null where `problem` says why. */
  readonly file: RunFile | null;
  readonly problem: string | null;
  readonly finished: number;
  /** Finished rollouts with a reward. */
  readonly scored: number;
  /** Mean over scored rollouts; null without one. */
  readonly meanReward: number | null;
  /** pass^k of the most trials that some task has, over the tasks that have them; null without a scored rollout. */
  readonly passHat: { readonly k: number; readonly value: number; readonly tasks: number } | null;
  /** Highest reward of a fork; null without a scored fork. */
  readonly bestFork: number | null;
};

/** A task of a run: how often it succeeded, what is not finished, and the results of its forks. */
export type RunTask = TaskSuccess & {
  readonly finished: number;
  readonly unfinished: number;
  readonly forks: number;
  readonly bestFork: number | null;
};

/** A recording in a run's folder. */
export type RunRollout = {
  readonly recording: string;
  readonly type: 'finished' | 'unfinished' | 'fork';
  readonly reward: number | null;
  readonly endReason: string | null;
};

/** The end of a recording: who failed, and why. */
export type RolloutEnd = {
  readonly reward: number | null;
  readonly failedBy: string | null;
  readonly reason: string;
};

/** Runs in the folders given, newest first; a folder that is not there has none. */
export async function runFoldersIn(roots: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    roots.map(async (root) => {
      const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
      return Promise.all(folders.map(async (folder) => ({ folder, time: (await timeOfRun(folder))?.getTime() ?? 0 })));
    }),
  );
  return found
    .flat()
    .sort((one, other) => other.time - one.time || other.folder.localeCompare(one.folder))
    .map(({ folder }) => folder);
}

/** Returns the start time of a run, from its name or else its file; null if neither has one. */
export async function timeOfRun(folder: string): Promise<Date | null> {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(basename(folder)) ?? [];
  const named = second === undefined ? null : new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (named && !Number.isNaN(named.getTime())) return named;
  const known = await stat(join(folder, runFileName)).catch(() => stat(folder).catch(() => null));
  return known?.mtime ?? null;
}

/** Returns what the row of a run says. Never throws: what can't be read is its `problem`. */
export async function readRunSummary(folder: string): Promise<RunSummary> {
  const file = readRunFile(folder);
  const about = { id: basename(folder), folder, time: await timeOfRun(folder) };
  const none = { finished: 0, scored: 0, meanReward: null, passHat: null, bestFork: null };
  if (typeof file === 'string') return { ...about, ...none, file: null, problem: file };
  try {
    const { trials, forks } = await receiptsOf(folder);
    const scored = trials.map(scoredOf);
    const rewards = scored.flatMap(({ reward }) => reward ?? []);
    const most = passHats(successByTask(scored)).at(-1);
    return {
      ...about,
      file,
      problem: null,
      finished: trials.length,
      scored: rewards.length,
      meanReward: rewards.length === 0 ? null : mean(rewards),
      passHat: most ? { k: most.k, value: most.value, tasks: most.tasks } : null,
      bestFork: bestReward(forks),
    };
  } catch (error) {
    return { ...about, ...none, file, problem: messageOf(error) };
  }
}

/** Returns the highest reward of some rollouts; null where none has one. */
function bestReward(receipts: readonly Receipt[]): number | null {
  const rewards = receipts.flatMap(({ reward }) => reward ?? []);
  return rewards.length === 0 ? null : Math.max(...rewards);
}

const scoredOf = ({ task, reward }: Receipt): Scored => ({ task: task.id, reward });

/** The receipts that were read, kept until the ledger changes: redrawing a view should not read thousands of lines. */
const known = new Map<string, { readonly receipts: Promise<RunReceipts>; readonly stamp: string }>();

async function receiptsOf(folder: string): Promise<RunReceipts> {
  const file = await stat(join(folder, 'ledger.jsonl')).catch(() => null);
  const stamp = file ? `${file.mtimeMs} ${file.size} ${file.ino}` : '';
  const before = known.get(folder);
  if (before?.stamp === stamp) return before.receipts;
  const receipts = receiptsOfRun(folder);
  known.set(folder, { receipts, stamp });
  receipts.catch(() => known.delete(folder));
  return receipts;
}

/** The tasks of a run in its own order, those that it has no plan for at the end. */
export async function readRunTasks({ folder, file }: RunSummary): Promise<readonly RunTask[]> {
  const { trials, forks } = await receiptsOf(folder);
  const left = await unvouched(folder, [...trials, ...forks]);
  const success = new Map(successByTask(trials.map(scoredOf)).map((each) => [each.task, each]));
  const finished = Map.groupBy(trials, ({ task }) => task.id);
  const forked = Map.groupBy(forks, ({ task }) => task.id);
  const unfinished = Map.groupBy(left, taskInName);
  const names = new Set([...(file?.tasks ?? []), ...finished.keys(), ...forked.keys(), ...unfinished.keys()]);
  return [...names]
    .map((task) => {
      const begun = unfinished.get(task) ?? [];
      return {
        ...(success.get(task) ?? { task, successes: 0, trials: 0 }),
        finished: finished.get(task)?.length ?? 0,
        unfinished: begun.filter((name) => !isForkName(name)).length,
        forks: (forked.get(task)?.length ?? 0) + begun.filter(isForkName).length,
        bestFork: bestReward(forked.get(task) ?? []),
      };
    })
    .filter((task) => task.finished + task.unfinished + task.forks > 0);
}

/** The recordings of a task in a run's folder, by trial, each before its forks. */
export async function readRunRollouts(folder: string, task: string): Promise<readonly RunRollout[]> {
  const { trials, forks } = await receiptsOf(folder);
  const left = await unvouched(folder, [...trials, ...forks]);
  const rows = [
    ...trials.map((receipt) => ({ receipt, type: 'finished' as const })),
    ...forks.map((receipt) => ({ receipt, type: 'fork' as const })),
  ];
  return [
    ...rows
      .filter(({ receipt }) => receipt.task.id === task)
      .map(({ receipt: { recording, reward, endReason }, type }) => ({
        recording: join(folder, basename(recording)),
        type,
        reward,
        endReason,
      })),
    ...left
      .filter((name) => taskInName(name) === task)
      .map((name) => ({
        recording: join(folder, name),
        type: isForkName(name) ? ('fork' as const) : ('unfinished' as const),
        reward: null,
        endReason: null,
      })),
  ].sort((one, other) => byName.compare(nameOf(one.recording), nameOf(other.recording)));
}

const byName = new Intl.Collator('en', { numeric: true });

/** Recordings that no receipt vouches for. */
async function unvouched(folder: string, receipts: readonly Receipt[]): Promise<readonly string[]> {
  const vouched = new Set(receipts.map(({ recording }) => basename(recording)));
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(recordingEnding) && !vouched.has(name));
}

/** A recording is named after its task and trial. */
function taskInName(name: string): string {
  return originName(name).replace(/\.\d+$/, '');
}

const isForkName = (name: string): boolean => forkNumber(name) > 0;

/**
 * Returns how a rollout ended, from the last lines of its recording; null where they don't say it.
 * @param domainOf reads the domain of a recording, whose policy has the words of a rule; undefined where that is not here
 */
export async function readRolloutEnd(
  recording: string,
  domainOf: (recording: string) => Promise<LoadedDomain | undefined>,
): Promise<RolloutEnd | null> {
  const events = (await lastLines(recording).catch(() => [])).flatMap(eventIn);
  const ended = events.findLast((event) => event.type === 'rolloutEnded');
  const rewarded = events.findLast((event) => event.type === 'rewarded');
  if (!ended && !rewarded) return null;
  const reason = ended?.failure?.message ?? rewarded?.reason ?? ended?.reason ?? '';
  const domain = mayHaveExpression(reason) ? await domainOf(recording).catch(() => undefined) : undefined;
  const reward = rewarded?.reward ?? null;
  if (ended?.reason === 'userStopped' && reward !== null && reward < 1) {
    const [started] = eventIn(await firstLine(recording).catch(() => ''));
    const user = started?.type === 'rolloutStarted' ? started.seats.user : '';
    if (isEndedByPerson({ user, endReason: ended.reason, reward, reason }))
      return { reward, failedBy: null, reason: endedByPerson };
  }
  return {
    reward,
    failedBy: reward === 1 ? null : (rewarded?.failedBy ?? ended?.failure?.who ?? null),
    reason: domain ? rewardInWords(domain, reason) : reason,
  };
}

/** Returns the file name of the recording that a fork comes from; null for one that is not a fork. */
export async function readParent(recording: string): Promise<string | null> {
  const [started] = eventIn(await firstLine(recording).catch(() => ''));
  const parent = started?.type === 'rolloutStarted' ? started.parent : undefined;
  return parent ? basename(parent.recording) : null;
}

function eventIn(line: string): readonly RolloutEvent[] {
  try {
    const parsed = eventSchema.safeParse((JSON.parse(line) as { readonly event?: unknown }).event);
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
