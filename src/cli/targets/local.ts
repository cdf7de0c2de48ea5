import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../../engine/shell/fault.ts';
import { trainerOf } from '../../engine/shell/trainerProcess.ts';
import { type Io, UsageError } from '../io.ts';
import { preparePython, trainerEnvironment } from '../pythonEnvironment.ts';
import { gpusHere, throwUnlessGpus } from './gpus.ts';
import { type Needs, needsOf } from './needs.ts';
import { checkpointOf, isGone, lastLineOf, sizeOf, throwIfFailed, throwUnlessRoomFor } from './runFolder.ts';
import type { Launch, Target } from './target.ts';

/** Training on this machine. */
export function localTarget(): Target {
  let python = '';
  let child: ChildProcess | undefined;
  return {
    name: 'this machine',
    preflight: async (launch, io) => {
      const { run, disk } = launch;
      const throwUnlessRoom = (bytes: number) =>
        throwUnlessRoomFor(bytes, freeAt(run), `for ${run}`, 'name another folder with --out');
      throwUnlessRoom(disk ?? 0);
      throwUnlessGpus('this machine', gpusHere, launch);
      python = await preparePython(io, launch.python);
      const needs = checkConfiguration(python, launch);
      throwUnlessRoom(disk ?? needs.disk);
    },
    prepare: async () => undefined,
    start: async (launch, io) => {
      child = await start(python, launch, io);
      return { pid: child.pid };
    },
    follow: async (run, io) => {
      if (child) throwIfFailed(run, await closed(child));
      else if (await isGone(run, io.signal)) throwIfFailed(run);
    },
    stop: async (run) => {
      if (!trainerOf(run)?.isRunning) throw new UsageError(`${run} is not being trained`);
      writeFileSync(join(run, 'stop'), '');
    },
    fetch: async (run, checkpoint) => checkpointOf(run, checkpoint),
  };
}

function freeAt(folder: string): number {
  let known = folder;
  while (!existsSync(known)) known = dirname(known);
  const { bavail, bsize } = statfsSync(known);
  return bavail * bsize;
}

/** Lets the trainer read a configuration and look for its model without starting anything. */
function checkConfiguration(python: string, { kind, config, placed = (words) => words }: Launch): Needs {
  const { status, stdout, stderr, error } = spawnSync(
    python,
    ['-m', 'rehearsal_trainer', kind, '--config', '-', '--check'],
    {
      env: trainerEnvironment(),
      input: JSON.stringify(config),
      encoding: 'utf8',
    },
  );
  if (status === 0) return needsOf(stdout);
  throw new UsageError(`the trainer refuses these options: ${placed(error?.message ?? lastLineOf(stderr))}`);
}

/**
 * Starts the trainer and waits until it says that it has begun. Its words go to log.txt in the run's folder, so that
 * closing a window loses nothing.
 */
async function start(python: string, { kind, run, isResumed, isDetached }: Launch, io: Io): Promise<ChildProcess> {
  const log = openSync(join(run, 'log.txt'), 'a');
  const said = sizeOf(join(run, 'events.jsonl'));
  const config = join(run, 'launch.json');
  const args = ['-m', 'rehearsal_trainer', kind, '--config', config, ...(isResumed ? ['--resume'] : [])];
  const environment = trainerEnvironment();
  const child = spawn(python, args, { cwd: run, env: environment, detached: isDetached, stdio: ['ignore', log, log] });
  closeSync(log);
  const failed = new Promise<never>((_resolve, reject) =>
    child.once('error', (error) =>
      reject(
        new Fault({
          who: 'environment',
          code: 'python/start',
          message: `${python} can't be started: ${error.message}`,
        }),
      ),
    ),
  );
  if (isDetached) child.unref();
  else io.signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  await Promise.race([failed, isUp(run, child, said, io.signal)]);
  return child;
}

/**
 * Waits until the run has said something new, or has ended without. A run that goes on has events already.
 * @param said how much it had said before
 */
async function isUp(run: string, child: ChildProcess, said: number, signal: AbortSignal): Promise<void> {
  while (sizeOf(join(run, 'events.jsonl')) <= said) {
    if (hasEnded(child) && signal.aborted)
      throw new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled before training began' });
    if (hasEnded(child)) {
      const log = join(run, 'log.txt');
      const message = `training did not start: ${lastLineOf(readFileSync(log, 'utf8'))}`;
      throw new Fault({ who: 'environment', code: 'training/failed', message, file: log });
    }
    await new Promise((later) => setTimeout(later, 200));
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function closed(child: ChildProcess): Promise<number | null> {
  if (!hasEnded(child)) await new Promise((done) => child.once('close', done));
  return child.exitCode;
}
