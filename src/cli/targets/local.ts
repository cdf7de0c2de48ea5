import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, existsSync, openSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { describedDomain } from '../../engine/shell/describe.ts';
import { type LoadedDomain, loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { sizeOf } from '../../engine/shell/files/disk.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import { askTrainer } from '../python/askTrainer.ts';
import { ownEngine } from '../python/engineCommand.ts';
import { lastLineOf } from '../python/lastLine.ts';
import { type Interpreter, preparePython, type ReadyPython, trainerModule } from '../python/pythonEnvironment.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { throwUnlessRoomFor } from './diskRoom.ts';
import { gpusHere, planFor, throwUnlessGpus, withProfile } from './gpus.ts';
import { domainsOf, localEnvironment } from './keys.ts';
import { type Needs, needsOf } from './needs.ts';
import { promptLengthOf } from './promptLength.ts';
import { activityOf, checkpointOf, type Ending, isGone, throwIfFailed } from './runFolder.ts';
import type { Launch, Target } from './target.ts';
import { didNotStart, environmentFault, refusedOptions } from './targetFaults.ts';
import { pathsIn } from './trees.ts';
import { throwUnlessUsersServed } from './userEndpoints.ts';

/** Training on this machine. */
export function localTarget(): Target {
  /** The trainer that this process has started; one of another process is known by the run's folder alone. */
  let child: ChildProcess | undefined;
  return {
    name: 'this machine',
    preflight: async (asked, io) => {
      const gpus = gpusHere();
      const { launch, reason } = withProfile(asked, gpus);
      const { run, disk } = launch;
      const throwUnlessRoom = (bytes: number) =>
        throwUnlessRoomFor(bytes, freeAt(run), `for ${run}`, 'name another folder with --out');
      throwUnlessRoom(disk ?? 0);
      throwUnlessGpus('this machine', gpus, launch);
      const { python, node } = await preparePython(io, launch.python, [
        ...ownEngine().filter(isAbsolute).slice(1),
        nearest(run),
        ...pathsIn(launch.config),
      ]);
      const needs = await checkConfiguration(python, launch, io);
      throwUnlessRoom(disk ?? needs.disk);
      const domains: LoadedDomain[] = [];
      for (const domain of domainsOf(launch.config))
        domains.push(await describedDomain(loadDomain(domain, { soundness: false })));
      const prompt = await promptLengthOf(python, launch, domains, io);
      await throwUnlessUsersServed(launch, process.env, io.signal);
      const begin = async () => {
        child = await start({ python, node }, launch, io);
        return { pid: child.pid };
      };
      const plan = { ...planFor('this machine', launch, gpus, reason), needs, ...(prompt ? { prompt } : {}) };
      return { launch, plan, prepare: async () => ({ start: begin }) };
    },
    follow: async (run, io) => {
      if (child) throwIfFailed(run, await closed(child));
      else if (await isGone(run, io.signal)) throwIfFailed(run);
    },
    stop: async (run) => {
      if (!trainerOf(run)?.isRunning) throw new UsageError(`${run} is not being trained`);
      writeFileSync(join(run, runFiles.stop), '');
    },
    fetch: async (run, checkpoint) => checkpointOf(run, checkpoint),
  };
}

function freeAt(folder: string): number {
  const known = nearest(folder);
  const { blocks, bavail, bsize } = statfsSync(known);
  // A file system without blocks, such as /proc, takes no files.
  if (blocks === 0 || !isWritable(known))
    throw environmentFault('disk/write', `${folder} can't be written in ${known}: name another folder with --out`);
  return bavail * bsize;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder itself, or the first one above it that exists. */
function nearest(folder: string): string {
  let known = folder;
  while (!existsSync(known)) known = dirname(known);
  return known;
}

/** A container may have no Node.js at this machine's path: its own runs the engine then. */
function engineWith(node: string, { engine_command: command }: Launch['config']): readonly string[] {
  if (node === process.execPath || !Array.isArray(command)) return [];
  return ['--set', `engine_command=${JSON.stringify([node, ...command.slice(1)])}`];
}

/** Lets the trainer read a configuration and look for its model without starting anything. */
async function checkConfiguration(python: Interpreter, launch: Launch, io: Io): Promise<Needs> {
  const told = await askTrainer(io, python, [launch.kind, '--config', '-', '--check'], {
    input: JSON.stringify(launch.config),
    refused: (words) => refusedOptions(launch, words),
  });
  return needsOf(told);
}

/**
 * Starts the trainer and waits until it says that it has begun. Its words go to log.txt in the run's folder, so that
 * closing a window loses nothing.
 */
async function start(
  { python: [program, ...rest], node }: ReadyPython,
  { kind, run, config: asked, isResumed, isDetached }: Launch,
  io: Io,
): Promise<ChildProcess> {
  const log = openSync(join(run, runFiles.log), 'a');
  const said = sizeOf(join(run, runFiles.events));
  const config = join(run, runFiles.launch);
  const args = [
    ...rest,
    ...trainerModule,
    kind,
    '--config',
    config,
    ...(isResumed ? ['--resume'] : []),
    ...engineWith(node, asked),
  ];
  const environment = localEnvironment(asked);
  const child = spawn(program, args, { cwd: run, env: environment, detached: isDetached, stdio: ['ignore', log, log] });
  closeSync(log);
  const failed = new Promise<never>((_resolve, reject) =>
    child.once('error', (error) =>
      reject(environmentFault('python/start', `${program} can't be started: ${error.message}`)),
    ),
  );
  if (isDetached) child.unref();
  // Once it trains it is asked by a file, and ends with a checkpoint.
  const end = () => void child.kill('SIGTERM');
  if (!isDetached) io.signal.addEventListener('abort', end, { once: true });
  await Promise.race([failed, isUp({ run, kind }, child, said, io.signal)]);
  io.signal.removeEventListener('abort', end);
  return child;
}

/**
 * Waits until the run has said something new, or has ended without. A run that continues has events already.
 * @param said how much it had said before
 */
async function isUp(
  { run, kind }: Pick<Launch, 'run' | 'kind'>,
  child: ChildProcess,
  said: number,
  signal: AbortSignal,
): Promise<void> {
  const activity = activityOf(kind);
  while (sizeOf(join(run, runFiles.events)) <= said) {
    if (hasEnded(child) && signal.aborted)
      throw new Fault({ who: 'infrastructure', code: 'cancelled', message: `cancelled before ${activity} began` });
    if (hasEnded(child)) {
      const log = join(run, runFiles.log);
      throw didNotStart(lastLineOf(readBoundedText(log)), { file: log, activity });
    }
    await new Promise((later) => setTimeout(later, 200));
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function closed(child: ChildProcess): Promise<Ending> {
  if (!hasEnded(child)) await new Promise((done) => child.once('close', done));
  return { code: child.exitCode, signal: child.signalCode };
}
