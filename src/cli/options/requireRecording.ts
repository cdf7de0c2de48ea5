import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { namesIn } from '../../engine/shell/files/disk.ts';
import { isRecording, nameOf, recordingEnding, recordingName } from '../../engine/shell/records/recordingName.ts';
import { nearest } from '../../engine/shell/source/nearest.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** Returns the path of the recording that the user named. Throws a `UsageError` if it is not a recording. */
export function requireRecording(named: string | undefined, { cwd }: Pick<Io, 'cwd'>): string {
  if (!named) throw new UsageError(`name a recording, a file that ends in ${recordingEnding}`);
  const path = resolve(cwd, named);
  if (isRecording(path) && existsSync(path)) return path;
  throw new UsageError(
    `${named}: there is no such recording (a file that ends in ${recordingEnding})${recordingsBeside(named, cwd)}`,
  );
}

/** Whether a person who named this one thing meant a recording, even if it is not there or its ending is wrong. */
export function meansRecording(named: string, cwd: string): boolean {
  const path = resolve(cwd, named);
  if (isRecording(path)) return true;
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  return /\.(?:traj|jsonl)\b/.test(named) || namesIn(dirname(path)).some(isRecording);
}

/** Recordings of the folder that are named; the rest are counted. */
const shown = 5;

/** Returns the recordings that a name was probably meant to name, as the end of a sentence. */
export function recordingsBeside(named: string, cwd: string): string {
  const folder = dirname(resolve(cwd, named));
  const names = namesIn(folder).filter(isRecording).map(nameOf);
  const path = (name: string) => relative(cwd, join(folder, recordingName(name)));
  const meant = nearest(nameOf(named).replace(/\.(?:traj|jsonl)\b.*$/, ''), names);
  if (meant !== undefined) return `. Did you mean "${path(meant)}"?`;
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return names.length === 0 ? '' : `. Its folder has ${names.slice(0, shown).map(path).join(', ')}${more}`;
}
