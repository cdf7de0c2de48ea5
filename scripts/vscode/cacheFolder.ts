import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Something that is fetched once: what it is, about how many bytes, and where it is kept. */
export type Download = { what: string; bytes: number; into: string };

/** The per-user cache folder of this project: $REHEARSAL_CACHE, else where the platform keeps caches. */
export function cacheFolder(): string {
  const { REHEARSAL_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (REHEARSAL_CACHE) return REHEARSAL_CACHE;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'rehearsal');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'rehearsal');
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'rehearsal');
  return join(homedir(), '.cache', 'rehearsal');
}

/** Whether an installation in a cache folder was finished: its marker file is there. */
export function isComplete(folder: string): boolean {
  return existsSync(join(folder, 'complete'));
}

/** Fills an empty versioned folder and writes its marker file last, so that a broken attempt starts over. */
export async function installOnce(folder: string, install: (folder: string) => Promise<void>): Promise<void> {
  if (isComplete(folder)) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(join(folder, 'complete'), `${new Date().toISOString()}\n`);
}
