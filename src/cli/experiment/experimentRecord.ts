import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../engine/shell/files/disk.ts';
import { readKept } from '../options/keptFile.ts';

const recordSchema = z.strictObject({
  /** The absolute path of the experiment's file. */
  file: z.string(),
  /** The target on which its stages are trained. */
  target: z.string(),
  /** An existing Python of the target, as `--python` names it. */
  python: z.string().optional(),
});

/** The contents of `experiment.json` in the folder of an experiment, for the calls that continue it. */
export type ExperimentRecord = z.infer<typeof recordSchema>;

const recordPath = (folder: string) => join(folder, 'experiment.json');

/**
 * Returns the record of an experiment's folder; undefined if none was started. Throws a `UsageError` for a damaged one.
 */
export function readExperimentRecord(folder: string): ExperimentRecord | undefined {
  return readKept(
    recordPath(folder),
    recordSchema,
    'which experiment this is and where it is trained: write both there again, such as {"file": "/home/ada/a.experiment.yaml", "target": "local"}, or name another folder with --out',
  );
}

export function keepExperimentRecord(folder: string, record: ExperimentRecord): void {
  replaceFile(recordPath(folder), `${JSON.stringify(record)}\n`);
}
