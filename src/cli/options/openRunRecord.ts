import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { runsIn } from '../../engine/shell/files/workFolders.ts';
import { isRecording } from '../../engine/shell/records/recordingName.ts';
import { runFileName, runFiles } from '../../engine/shell/records/runFiles.ts';
import { type RunRecord, readRun } from '../../engine/shell/records/runRecord.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';

/** Reads the run of a folder that a person named. */
export function openRunRecord(io: Pick<Io, 'cwd'>, given: string | undefined): RunRecord {
  if (given === undefined) throw new UsageError('name RUN_FOLDER, the folder of a run, which contains run.json');
  if (isRecording(given))
    throw new UsageError(`${given} is a recording. Name the folder of its run: ${dirname(given)}`);
  throwIfTrained(given, resolve(io.cwd, given));
  const record = readRun(resolve(io.cwd, given));
  if (typeof record === 'string')
    throw new UsageError(
      `${given} is not the folder of a run, which contains run.json: ${record}${newestRunIn(given, io)}`,
    );
  return record;
}

/** Throws a `UsageError` with what shows a training run, whose folder has other files. */
function throwIfTrained(given: string, folder: string): void {
  if (existsSync(join(folder, runFileName)) || !existsSync(join(folder, runFiles.launch))) return;
  const word = shellWord(given);
  const table = existsSync(join(folder, runFiles.resultText)) ? `, or read ${join(given, runFiles.resultText)}` : '';
  throw new UsageError(
    `${given} is a training run. To see what it did: npx rehearsal train follow ${word}. To see it next to another one: npx rehearsal compare ${word} OTHER_RUN${table}`,
  );
}

/** Returns a sentence that names the newest run in a folder with a domain or a workspace; empty without one. */
function newestRunIn(given: string, { cwd }: Pick<Io, 'cwd'>): string {
  const runs = runsIn(resolve(cwd, given));
  // The name of a run begins with its time.
  const names = existsSync(runs) ? readdirSync(runs).filter((name) => existsSync(join(runs, name, runFileName))) : [];
  const newest = names.toSorted().at(-1);
  return newest === undefined ? '' : `. Its runs are in ${relative(cwd, runs)}; the newest is ${newest}`;
}
