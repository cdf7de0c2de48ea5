import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRecording, recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** Returns the path of the recording that the user named. Throws a `UsageError` if it is not a recording. */
export function requireRecording(named: string | undefined, { cwd }: Pick<Io, 'cwd'>): string {
  const path = resolve(cwd, named ?? '');
  if (!named || !isRecording(path) || !existsSync(path)) throw noRecording(named);
  return path;
}

/** Returns what a message says about a name that no recording has. */
export function noRecording(named: string | undefined): UsageError {
  if (!named) return new UsageError(`name a recording, a file that ends in ${recordingEnding}`);
  return new UsageError(`${named}: there is no such recording (a file that ends in ${recordingEnding})`);
}
