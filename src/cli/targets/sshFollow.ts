import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as setTimer } from 'node:timers/promises';
import { messageOf } from '../../engine/shell/fault.ts';
import { isRunLocked, lockRun } from '../../engine/shell/runLock.ts';
import type { Io } from '../io.ts';
import { askFarSide, callFarSide } from './farSide.ts';
import { had, mirror } from './mirror.ts';
import { isGone, lastWordOf } from './runFolder.ts';
import type { SshAddress } from './sshAddress.ts';

/** A run there, and how to ask for it. */
export type FarRun = { readonly address: SshAddress; readonly python: () => Promise<string>; readonly folder: string };

const longestPauseMs = 30_000;
const lookForStopMs = 500;
/** The far side says every five seconds that it is there. */
const silenceMs = 30_000;

/**
 * Brings what a run writes there into its folder here until it is over. A connection that is cut is opened again, ever
 * more slowly, and goes on behind the last byte that came; `connection.jsonl` tells of it. The run has one follower: a
 * second one waits for the end of the first.
 * @returns whether the run is over; else the wait was ended
 */
export async function followFarRun(run: string, far: FarRun, io: Io): Promise<boolean> {
  if (isRunLocked(run)) return isGone(run, io.signal);
  const free = lockRun(run);
  const pid = join(run, 'pid');
  writeFileSync(pid, String(process.pid));
  try {
    const isOver = await keepFollowing(run, far, io);
    // Without a last word the trainer was killed: its readers see that by a process that is gone.
    const { type } = lastWordOf(run);
    if (!isOver || (type !== 'started' && type !== 'resumed')) rmSync(pid, { force: true });
    if (isOver) rmSync(join(run, 'stop'), { force: true });
    return isOver;
  } finally {
    free();
  }
}

async function keepFollowing(run: string, far: FarRun, io: Io): Promise<boolean> {
  let pauseMs = 0;
  const tell = (type: string, message: string) => {
    const line = JSON.stringify({ time: Date.now() / 1000, type, message });
    appendFileSync(join(run, 'connection.jsonl'), `${line}\n`);
    io.err(`${message}\n`);
  };
  while (!io.signal.aborted) {
    try {
      await followOnce(run, far, io.signal, () => {
        if (pauseMs > 0) tell('connected', `${far.address.host} is connected again`);
        pauseMs = 0;
      });
      return true;
    } catch (error) {
      if (io.signal.aborted) break;
      pauseMs = Math.min(longestPauseMs, Math.max(1000, pauseMs * 2));
      tell('disconnected', `${messageOf(error)}; the run goes on there, next attempt in ${pauseMs / 1000} s`);
      await setTimer(pauseMs, undefined, { signal: io.signal }).catch(() => undefined);
    }
  }
  return false;
}

async function followOnce(run: string, far: FarRun, signal: AbortSignal, onMessage: () => void): Promise<void> {
  const request = { do: 'follow', folder: far.folder, have: await had(run) };
  const call = await callFarSide(far.address, await far.python(), request, { signal });
  const stops = passStopOn(run, far);
  let silence = setTimeout(call.cut, silenceMs);
  try {
    await mirror(run, call, () => {
      clearTimeout(silence);
      silence = setTimeout(call.cut, silenceMs);
      onMessage();
    });
  } finally {
    clearTimeout(silence);
    clearInterval(stops);
    call.cut();
  }
}

/** A file named stop in the folder here asks the run there to stop, once. */
function passStopOn(run: string, { address, python, folder }: FarRun): NodeJS.Timeout {
  let isAsked = false;
  return setInterval(() => {
    if (isAsked || !existsSync(join(run, 'stop'))) return;
    isAsked = true;
    const asked = python().then((command) => askFarSide(address, command, { do: 'stop', folder }));
    asked.catch(() => {
      isAsked = false;
    });
  }, lookForStopMs);
}
