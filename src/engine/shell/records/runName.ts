import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeRunFolder, onDisk } from '../files/disk.ts';
import { runFileName } from './runFiles.ts';

/** The name of a new run: its time in UTC, so that names sort by it, and what it is about: `20261121-101530-grpo`. */
export function runName(about: string, now = new Date()): string {
  return `${now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)}-${about}`;
}

/** Returns what a run is about: its task, or its domain if it has several. */
export function runSubject(tasks: readonly string[], domain: string): string {
  const [only = domain, ...more] = tasks;
  return more.length === 0 ? only : domain;
}

/**
 * Creates the folder of a new run and returns it. A number follows its name where another run has that name, also one
 * that another process creates at the same time.
 * @param runs the folder of all runs
 */
export function makeNewRunFolder(runs: string, about: string, now = new Date()): string {
  makeRunFolder(runs);
  const name = runName(about.replace(/[^\p{L}\p{N}_.@-]+/gu, '-'), now);
  for (let number = 1; ; number += 1) {
    const folder = join(runs, number === 1 ? name : `${name}-${number}`);
    if (onDisk(folder, () => makeIfNew(folder))) return folder;
  }
}

/** Removes the folder of a run that has no recording. A folder with any other file stays. */
export function removeUnbegunRun(folder: string): void {
  try {
    if (!readdirSync(folder).every((name) => madeFirst.includes(name))) return;
    for (const name of madeFirst) rmSync(join(folder, name), { force: true });
    rmdirSync(folder);
  } catch {
    // It holds a run, or another process removed it.
  }
}

/** The files that a run has before its first recording. */
const madeFirst: readonly string[] = [runFileName, 'ledger.jsonl'];

function makeIfNew(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
