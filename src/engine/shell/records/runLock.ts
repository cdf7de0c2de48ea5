import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { RefusedFile, readBoundedText } from '../files/boundedFile.ts';
import { makeOnce, makeRunFolder, onDisk } from '../files/disk.ts';
import { Fault } from '../files/fault.ts';
import { type ProcessStart, processStart } from '../processes/processStart.ts';
import { runFiles } from './runFiles.ts';

/** A process that writes a run. Its start distinguishes it from a later process with the same pid. */
type Owner = { readonly pid: number; readonly host: string; readonly start: ProcessStart | null };

/** A lock file as it was read; a file that no version of this program wrote has no owner. */
type Lock = { readonly text: string; readonly owner: Owner | null; readonly renewed: number };

/** A lock, a claim on one, and what a killed process left of taking one over. */
export const lockFiles = /^\.lock(\.[0-9a-f]{16})*(\.\d+(\.[0-9a-f-]{36}|\.old)?)?$/;

/** Milliseconds between renewals. */
const renewal = 15_000;

/** Milliseconds without a renewal after which a process that cannot be looked up counts as ended. */
const longestSilence = 120_000;

let ownStart: ProcessStart | null | undefined;

/**
 * Locks the folder of a run for this process, so that no second one writes the same record. The lock of a process that
 * has ended is taken over, also where another process has its pid by now. Whether a process of another host has ended
 * cannot be looked up, so the lock is renewed while it is held, and taken over after 2 minutes without that. Throws a `Fault` that names the process which
 * has the folder.
 * @returns what releases the folder
 */
export function lockRun(folder: string): () => void {
  const path = join(folder, runFiles.lock);
  ownStart ??= processStart(process.pid) ?? null;
  const own: Owner = { pid: process.pid, host: hostname(), start: ownStart };
  const text = JSON.stringify(own);
  makeRunFolder(folder);
  const holder = onDisk(path, () => take(path, text));
  if (holder) throw inUse(folder, holder, own);
  const timer = setInterval(() => renew(path, text), renewal).unref();
  return () => {
    clearInterval(timer);
    if (readLock(path)?.text === text) rmSync(path, { force: true });
  };
}

function renew(path: string, text: string): void {
  try {
    const now = new Date();
    if (readLock(path)?.text === text) utimesSync(path, now, now);
  } catch {
    // The folder was deleted or can no longer be written, which the next write to the run reports.
  }
}

/** Whether a process that is alive writes the record of a run. */
export function isRunLocked(folder: string): boolean {
  const lock = readLock(join(folder, runFiles.lock));
  return lock?.owner ? isHeld(lock.owner, lock) : false;
}

/**
 * Creates a lock file, or takes over one whose owner has ended. Several processes may find the same dead owner at once:
 * each claims that very lock with a file of its own name, so one of them replaces the lock, and a late one sees that the
 * lock has changed. A claim is a lock, too, and is taken over the same way where its owner has ended.
 * @returns the owner that has the lock, or null when this process has it
 */
function take(path: string, text: string): Owner | null {
  while (!makeOnce(path, text)) {
    const found = readLock(path);
    if (!found) continue;
    if (found.owner && isHeld(found.owner, found)) return found.owner;
    const claim = `${path}.${createHash('sha256').update(found.text).digest('hex').slice(0, 16)}`;
    const rival = take(claim, text);
    if (rival) return rival;
    try {
      if (readLock(path)?.text !== found.text) continue;
      const next = `${path}.${process.pid}.${randomUUID()}`;
      writeFileSync(next, text);
      renameSync(next, path);
      return null;
    } finally {
      rmSync(claim, { force: true });
    }
  }
  return null;
}

/** Reads the lock file. Returns null if it does not exist. */
function readLock(path: string): Lock | null {
  let text: string;
  // Read before the text: a lock that is renewed meanwhile seems older, and is then looked at again.
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const renewed = stat?.mtimeMs ?? 0;
  // No process makes a link as its lock, so a link has no owner, wherever it leads.
  if (stat?.isSymbolicLink()) return { text: '', owner: null, renewed };
  try {
    text = readBoundedText(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (error instanceof RefusedFile)
      throw new RefusedFile(error.message, "Remove it: it has the name of the run's lock.");
    throw error;
  }
  return { text, owner: ownerOf(text), renewed };
}

function ownerOf(text: string): Owner | null {
  try {
    const { pid, host, start } = JSON.parse(text) as Partial<Owner>;
    const isStart = start === null || typeof start === 'string';
    return Number.isSafeInteger(pid) && pid && pid > 0 && typeof host === 'string' && isStart
      ? { pid, host, start }
      : null;
  } catch {
    return null;
  }
}

/** Whether a process other than this one has the lock: it is alive, or renewed the lock where that cannot be looked up. */
function isHeld({ pid, host, start }: Owner, { renewed }: Pick<Lock, 'renewed'>): boolean {
  const isRenewed = Math.abs(Date.now() - renewed) < longestSilence;
  if (host !== hostname()) return isRenewed;
  if (pid === process.pid) return false;
  const found = processStart(pid);
  if (found === null) return false;
  return found === undefined || start === null ? isRenewed : found === start;
}

function inUse(folder: string, { pid, host }: Owner, own: Owner): Fault {
  const isHere = host === own.host;
  const where = isHere ? '' : ` on ${host}`;
  const advice = isHere ? '' : '. If that process has ended, its lock ends by itself within 2 minutes';
  return new Fault({
    who: 'infrastructure',
    code: 'run/in-use',
    message: `another process (${pid}${where}) writes the run in ${folder}. Wait until it ends, or choose another run folder with --out${advice}`,
  });
}
