import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../engine/shell/disk.ts';
import { UsageError } from '../io.ts';

const recordSchema = z.strictObject({
  /** The experiment that lies in the folder, by its whole path. */
  file: z.string(),
  /** Where its stages are trained. */
  target: z.string(),
  /** The Python of the target that makes the trainer's environment. */
  python: z.string().optional(),
});

/** What `experiment.json` in the folder of an experiment says, for the calls that go on. */
export type ExperimentRecord = z.infer<typeof recordSchema>;

const recordPath = (folder: string) => join(folder, 'experiment.json');

/** The record of an experiment's folder; undefined where none was begun. Throws a `UsageError` for a damaged one. */
export function readExperimentRecord(folder: string): ExperimentRecord | undefined {
  const path = recordPath(folder);
  if (!existsSync(path)) return undefined;
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new UsageError(
      `${path} was changed after Rehearsal wrote it, and does not say any more which experiment lies here and where it is trained: write both there again, such as {"file": "/home/ada/a.experiment.yaml", "target": "local"}, or name another folder with --out`,
    );
  }
}

export function keepExperimentRecord(folder: string, record: ExperimentRecord): void {
  replaceFile(recordPath(folder), `${JSON.stringify(record)}\n`);
}
