import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { firstNames } from '../../engine/core/text/counted.ts';
import { fromDisk, namesIn } from '../../engine/shell/files/disk.ts';
import { isRecording } from '../../engine/shell/records/recordingName.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';
import { lockFiles } from '../../engine/shell/records/runLock.ts';
import { makeNewRunFolder, removeUnbegunRun } from '../../engine/shell/records/runName.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/**
 * Throws a `UsageError` unless a command may write into a folder: it is new or empty, or the command continues what an
 * earlier call wrote there. Files of anything else would be overwritten.
 * @param isContinued whether an earlier call of the same command wrote it
 */
export function requireOutFolder(folder: string, isContinued: (names: readonly string[]) => boolean): void {
  const there = fromDisk(folder, () => statSync(folder, { throwIfNoEntry: false }));
  if (there && !there.isDirectory()) throw new UsageError(`${folder} is a file: name a folder that is new or empty`);
  // A process that was killed may have left its lock alone.
  const names = namesIn(folder).filter((name) => !lockFiles.test(name));
  if (names.length === 0 || isContinued(names)) return;
  throw new UsageError(
    `${folder} is not empty, and does not contain a run to continue: it has ${firstNames(names)}. Name a new or an empty folder with --out`,
  );
}

/** Whether a folder with these names has a run of rollouts, or what is left of one. */
export const hasRun = (names: readonly string[]): boolean =>
  names.some((name) => name === runFileName || name === 'ledger.jsonl' || isRecording(name));

/**
 * Passes on the folder of a run: the one of --out, else a new folder with a sortable name, which is removed again where
 * it has no recording.
 * @param runs where new folders are
 * @param isRun whether a folder with these names has a run, which continues or is refused with its own reason
 */
export async function inRunFolder<T>(
  { cwd }: Pick<Io, 'cwd'>,
  out: string | undefined,
  runs: string,
  name: string,
  act: (folder: string) => Promise<T>,
  isRun = hasRun,
): Promise<T> {
  if (out) {
    const folder = resolve(cwd, out);
    requireOutFolder(folder, isRun);
    return act(folder);
  }
  const folder = makeNewRunFolder(runs, name);
  try {
    return await act(folder);
  } finally {
    removeUnbegunRun(folder);
  }
}
