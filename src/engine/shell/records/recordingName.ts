import { basename } from 'node:path';

/** The suffix of every recording's file name. */
export const recordingEnding = '.traj.jsonl';

/** Whether a path or a name is that of a recording. */
export function isRecording(path: string): boolean {
  return path.endsWith(recordingEnding);
}

/** A fork is named after the first recording: `x.fork-1.traj.jsonl` for `x.traj.jsonl` and for its forks. */
const forkPattern = /\.fork-(\d+)$/;

/** The name of a rollout in its run: that of its recording without the ending. */
export function rolloutName({ id }: { readonly id: string }, trial: number): string {
  return `${id}.${trial}`;
}

/** The name of a rollout's recording. */
export function recordingName(rollout: string): string {
  return `${rollout}${recordingEnding}`;
}

/** The name of a recording without its folder and ending. */
export function nameOf(recording: string): string {
  return basename(recording, recordingEnding);
}

/** The number of a fork, by the name of its recording; 0 for what is not one. */
export function forkNumber(recording: string): number {
  return Number(forkPattern.exec(nameOf(recording))?.[1] ?? 0);
}

/** Whether it is the name of a fork. */
export function isForkName(recording: string): boolean {
  return forkNumber(recording) > 0;
}

/** A recording in words among its forks: `fork 2`, or the name of the first recording. */
export function forkLabel(recording: string): string {
  return isForkName(recording) ? `fork ${forkNumber(recording)}` : nameOf(recording);
}

/** The name of the first recording, of which this one may be a fork, without its folder and ending. */
export function originName(recording: string): string {
  return nameOf(recording).replace(forkPattern, '');
}

/** The name of a fork's recording. */
export function forkName(origin: string, number: number): string {
  return recordingName(`${origin}.fork-${number}`);
}
