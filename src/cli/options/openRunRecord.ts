import { resolve } from 'node:path';
import { type RunRecord, readRun } from '../../engine/shell/records/runRecord.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** Reads the run of a folder that a person named. */
export function openRunRecord(io: Io, given: string | undefined): RunRecord {
  if (given === undefined) throw new UsageError('name RUN_FOLDER, the folder of a run, which contains run.json');
  const record = readRun(resolve(io.cwd, given));
  if (typeof record === 'string')
    throw new UsageError(`${given} is not the folder of a run, which contains run.json: ${record}`);
  return record;
}
