import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeOnce, makeRunFolder, onDisk } from './disk.ts';
import { Fault } from './fault.ts';
import { isAlive } from './isAlive.ts';
import { runFiles } from './runFiles.ts';

type Owner = { readonly pid: number; readonly host: string };

/**
 * Takes the folder of a run for this process, so that no second one writes the same record. What a process that died
 * has left is taken over. Throws a `Fault` that names the process which has the folder.
 * @returns what gives the folder back
 */
export function lockRun(folder: string): () => void {
  const path = join(folder, runFiles.lock);
  const own: Owner = { pid: process.pid, host: hostname() };
  const text = JSON.stringify(own);
  makeRunFolder(folder);
  for (let attempt = 0; !onDisk(path, () => makeOnce(path, text)); attempt += 1) {
    const found = readOwner(path);
    if (found && isElsewhere(found, own)) throw inUse(folder, path, found, own);
    if (attempt > 10) throw inUse(folder, path, found ?? own, own);
    discard(path, found);
  }
  return () => {
    const found = readOwner(path);
    if (found && !isElsewhere(found, own)) rmSync(path, { force: true });
  };
}

/** Whether a process that is alive writes the record of a run. */
export function isRunLocked(folder: string): boolean {
  const found = readOwner(join(folder, runFiles.lock));
  return found !== null && (found.host !== hostname() || isAlive(found.pid));
}

/** Takes a dead owner's file away, and nothing that another process has put there meanwhile. */
function discard(path: string, dead: Owner | null): void {
  const aside = `${path}.${process.pid}.old`;
  try {
    renameSync(path, aside);
    const taken = readOwner(aside);
    if (taken && taken.pid !== dead?.pid) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch {
    // Whoever was quicker has it; the next attempt says so.
  }
}

function readOwner(path: string): Owner | null {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Owner>;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : null;
  } catch {
    return null;
  }
}

/** Whether another process that may be alive has it. */
function isElsewhere({ pid, host }: Owner, own: Owner): boolean {
  if (host !== own.host) return true;
  return pid !== own.pid && isAlive(pid);
}

function inUse(folder: string, path: string, { pid, host }: Owner, own: Owner): Fault {
  const where = host === own.host ? '' : ` on ${host}`;
  return new Fault({
    who: 'infrastructure',
    code: 'run/in-use',
    message: `${folder} is being written by process ${pid}${where}. Wait until that has ended, or choose another --out; if it runs no more, delete ${path}`,
  });
}
