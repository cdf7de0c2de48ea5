import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TrainingKind, trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { isObject, type Json, jsonOf } from '../../engine/core/values/json.ts';
import { isWithin, readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { requireWritable } from '../../engine/shell/files/disk.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { checkpointsOf, lastWordOf } from '../../engine/shell/records/trainingRun.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import { lastLineOf } from '../python/lastLine.ts';
import { UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { environmentFault, noCheckpoint } from './targetFaults.ts';

/** Folders of a run that people move to a larger disk and link there. */
const movable: ReadonlySet<string> = new Set([runFiles.checkpoints, runFiles.serving]);

/**
 * Throws a `Fault` where a link has the name of what a run writes, or leads out of its folder: anyone who made the folder
 * would choose what is written. Libraries write more than Rehearsal names, and put links within the folder.
 */
export function requireOwnFiles(run: string): void {
  for (const name of Object.values(runFiles)) if (!movable.has(name)) requireWritable(join(run, name));
  if (!existsSync(run)) return;
  const root = realpathSync(run);
  const folders = [root];
  for (let at = folders.pop(); at !== undefined; at = folders.pop())
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (at === root && movable.has(entry.name)) continue;
      if (entry.isDirectory()) folders.push(path);
      if (
        entry.isSymbolicLink() &&
        !isWithin(root, existsSync(path) ? realpathSync(path) : resolve(at, readlinkSync(path)))
      )
        throw environmentFault(
          'disk/write',
          `${path}: is a symbolic link out of ${run}, and nothing is written through it. Put a copy of its target in its place`,
        );
    }
}

/** Whether a training run was started in a folder: it has its configuration, or the trainer has begun. */
export function isStarted(run: string): boolean {
  const launch = join(run, runFiles.launch);
  const asked = existsSync(launch) ? (jsonOf(readBoundedText(launch)) as Json | undefined) : undefined;
  return (isObject(asked) && typeof asked['run'] === 'string') || lastWordOf(run).type !== null;
}

/** Returns the JSON object in a file of a run's folder; an empty one without the file. Throws a `UsageError` for other content. */
export function readJson(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  const value = jsonOf(readBoundedText(path)) as Json | undefined;
  if (isObject(value)) return value;
  throw new UsageError(`${path} is not a JSON object: it was changed after Rehearsal wrote it`);
}

/** Returns what a run trains, or that it evaluates; undefined where its folder does not say so yet. */
export function kindOf(run: string): TrainingKind | undefined {
  return trainingKinds.find((each) => each === readJson(join(run, runFiles.config))['kind']);
}

/** Returns what a run of a kind is, for messages. */
export const activityOf = (kind: TrainingKind | undefined): string =>
  kind === 'evaluate' ? 'the evaluation' : 'training';

/** The end of a process: an exit code or a signal. */
export type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Throws a `Fault` for a run that is over and did not end well.
 * @param ending of its process, where that is known
 */
export function throwIfFailed(run: string, { code, signal }: Ending = { code: 0, signal: null }): void {
  const { type, message } = lastWordOf(run);
  if (code === 0 && (type === 'finished' || type === 'stopped' || type === 'paused')) return;
  const log = join(run, runFiles.log);
  const kind = kindOf(run);
  const activity = activityOf(kind);
  const from = kind === 'evaluate' ? '' : `from ${checkpointsOf(run).at(-1) ?? 'its last checkpoint'} `;
  const hasWords = type === 'error' || (code !== 0 && code !== null);
  throw new Fault({
    who: 'environment',
    code: 'training/failed',
    message: hasWords
      ? `${activity} ended with an error: ${lastLineOf(existsSync(log) ? readBoundedText(log) : '') || message}`
      : `${activity} ${endedBy(signal)}; resume ${from}with: npx rehearsal train resume ${shellWord(run)}`,
    file: log,
  });
}

function endedBy(signal: NodeJS.Signals | null): string {
  if (signal === null) return 'ended unexpectedly';
  const why = signal === 'SIGKILL' ? ', as happens when the system runs out of memory' : '';
  return `was killed by ${signal}${why}`;
}

/**
 * The folder of a checkpoint that lies in a run's folder on this machine.
 * @param name undefined: the final one, else the one of the highest step
 */
export function checkpointOf(run: string, name: string | undefined): string {
  const names = checkpointsOf(run);
  const chosen = name ?? names.at(-1);
  if (chosen !== undefined && names.includes(chosen)) return join(run, runFiles.checkpoints, chosen);
  throw noCheckpoint(run, chosen, names);
}

/** Waits for the end of the process of a run that another process has started; false where the wait was ended. */
export async function isGone(run: string, signal: AbortSignal): Promise<boolean> {
  while (trainerOf(run)?.isRunning && !signal.aborted) await new Promise((later) => setTimeout(later, 500));
  return !signal.aborted;
}
