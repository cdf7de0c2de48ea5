import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readBoundedText } from '../files/boundedFile.ts';
import { replaceFile } from '../files/disk.ts';

/** A planned trial without a recorded result, or a file of tasks that cannot be read. */
const notRunSchema = z.object({
  /** The id of the task, or the path of the file from the folder of the domain. */
  task: z.string(),
  /** Null for a file. */
  trial: z.int().nullable(),
  /** In words. */
  reason: z.string(),
});
export type NotRun = z.infer<typeof notRunSchema>;

/** The same of a run that is read. */
export type TrialNotRun = Pick<NotRun, 'task' | 'trial'> & {
  /** Null where the run ended before the trial, or during it. */
  readonly reason: string | null;
  /** Whether a recording of the trial was begun. */
  readonly isStarted: boolean;
};

const pathOf = (folder: string) => join(folder, 'not-run.json');

/** Returns what a run could not run, as its folder says; nothing where that file is missing or not as it was written. */
export function readNotRun(folder: string): readonly NotRun[] {
  if (!existsSync(pathOf(folder))) return [];
  try {
    return z.array(notRunSchema).parse(JSON.parse(readBoundedText(pathOf(folder))));
  } catch {
    return [];
  }
}

/** Writes what a run could not run, for its reports. The command prints the same, so a disk may refuse it. */
export function writeNotRun(folder: string, all: readonly NotRun[]): void {
  try {
    if (all.length > 0) replaceFile(pathOf(folder), `${JSON.stringify(all, null, 2)}\n`);
    else rmSync(pathOf(folder), { force: true });
  } catch {
    // Reports then name these trials without the reasons.
  }
}
