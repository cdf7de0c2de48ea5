import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../lock.ts';

/** A download that is kept: its name, its approximate size, and its folder. */
export type Download = { what: string; bytes: number; into: string };

/** Returns this project's cache folder of the user: $REHEARSAL_CACHE, or a folder where the platform keeps caches. */
export function cacheFolder(): string {
  const { REHEARSAL_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (REHEARSAL_CACHE) return REHEARSAL_CACHE;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'rehearsal');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'rehearsal');
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'rehearsal');
  return join(homedir(), '.cache', 'rehearsal');
}

/** Returns whether an installation in a cache folder was finished, which its marker file shows. */
export function isComplete(folder: string): boolean {
  return existsSync(join(folder, 'complete'));
}

/**
 * Fills an empty folder and writes its marker file last, so that an installation that was interrupted restarts. If
 * another process fills the folder, waits for that.
 */
export async function installOnce(folder: string, install: (folder: string) => Promise<void>): Promise<void> {
  if (isComplete(folder)) return;
  await withLock(`${folder}.lock`, async () => {
    if (isComplete(folder)) return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await install(folder);
    writeFileSync(join(folder, 'complete'), `${new Date().toISOString()}\n`);
  });
}
