import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault, messageOf } from '../../engine/shell/files/fault.ts';
import { pauseAfter, systemClock } from '../../engine/shell/processes/clock.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { lockRun } from '../../engine/shell/records/runLock.ts';
import { lastWordOf } from '../../engine/shell/records/trainingRun.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import type { Io } from '../terminal/io.ts';
import { isGone } from './runFolder.ts';

const pausesMs = { first: 1000, longest: 30_000 };

/**
 * Keeps the folder of a run up to date that is trained elsewhere, until the run is over. A connection that is cut is
 * opened again, ever more slowly; `connection.jsonl` says about it. What no other connection would change ends the
 * following, and is thrown. The run has one follower: a second one waits for the end of the first.
 * @param name of the place, for people
 * @param once follows over one connection to the end of the run; says when something came
 * @returns whether the run is over; else the wait was ended
 */
export async function followElsewhere(
  run: string,
  name: string,
  io: Io,
  once: (onMessage: () => void) => Promise<void>,
): Promise<boolean> {
  const left = trainerOf(run);
  // This process may have followed the run before, to the end of a trainer that left no last word.
  if (left?.isRunning && left.pid !== process.pid) return isGone(run, io.signal);
  const free = lockRun(run);
  const pid = join(run, runFiles.pid);
  writeFileSync(pid, String(process.pid));
  try {
    const isOver = await keepFollowing(run, name, io, once);
    // A pid that stays here tells readers that nothing follows the run, or that the trainer wrote no final event.
    const { type } = lastWordOf(run);
    if (isOver && type !== 'started' && type !== 'resumed') rmSync(pid, { force: true });
    if (isOver) rmSync(join(run, runFiles.stop), { force: true });
    return isOver;
  } finally {
    free();
  }
}

const lookForStopMs = 500;

/** A file named stop in the folder here asks once for the end of the run there. Ends with the interval. */
export function passStopOn(run: string, ask: () => Promise<unknown>): NodeJS.Timeout {
  let isAsked = false;
  return setInterval(() => {
    if (isAsked || !existsSync(join(run, runFiles.stop))) return;
    isAsked = true;
    ask().catch(() => {
      isAsked = false;
    });
  }, lookForStopMs);
}

/** Returns what a person has to change; what only failed there once, or on this machine's disk, may pass. */
const isLasting = (error: unknown) =>
  error instanceof Fault && error.failure.who === 'environment' && error.failure.code !== 'target/failed';

async function keepFollowing(
  run: string,
  name: string,
  io: Io,
  once: (onMessage: () => void) => Promise<void>,
): Promise<boolean> {
  // Attempts in a row that brought nothing.
  let failures = 0;
  const tell = (type: string, message: string) => {
    const line = JSON.stringify({ time: Date.now() / 1000, type, message });
    appendFileSync(join(run, runFiles.connection), `${line}\n`);
    io.err(`${message}\n`);
  };
  while (!io.signal.aborted) {
    try {
      await once(() => {
        if (failures > 0) tell('connected', `${name} is connected again`);
        failures = 0;
      });
      return true;
    } catch (error) {
      if (io.signal.aborted) break;
      if (isLasting(error)) {
        tell('disconnected', `stopped following the run: ${messageOf(error)}`);
        throw error;
      }
      failures += 1;
      const pauseMs = pauseAfter(failures, pausesMs);
      tell('disconnected', `${messageOf(error)}; the run continues there, next attempt in ${pauseMs / 1000} s`);
      await systemClock.sleep(pauseMs, io.signal).catch(() => undefined);
    }
  }
  return false;
}
