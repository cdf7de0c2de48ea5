import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onDisk } from '../files/disk.ts';
import { sidecarPath } from './recording.ts';
import { forkName, originName } from './recordingName.ts';

/**
 * Creates the empty recording of a new fork next to its parent, under the first number that no recording has. A number
 * that another process takes at the same time is left to it.
 */
export function makeForkFile(parent: string): { readonly path: string; readonly number: number } {
  for (let number = 1; ; number += 1) {
    const path = join(dirname(parent), forkName(originName(parent), number));
    if (onDisk(path, () => makeIfNew(path))) return { path, number };
  }
}

/** Removes the files of a fork that recorded nothing. */
export function removeUnbegunFork(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size !== 0) return;
  for (const each of [path, sidecarPath(path)]) rmSync(each, { force: true });
}

function makeIfNew(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
