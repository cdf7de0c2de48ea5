import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../engine/shell/fault.ts';
import { type ExitCode, type Io, UsageError } from './io.ts';
import { trainerFolder } from './pythonEnvironment.ts';

export type TrainerLaunch = {
  readonly python: string;
  readonly args: readonly string[];
  /** The run's folder. */
  readonly run: string;
  /** Whether the trainer lives on when this process ends. */
  readonly isDetached: boolean;
  readonly json: boolean;
};

/** The environment in which the trainer's package is found. */
export function trainerEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: trainerFolder(), PYTHONUNBUFFERED: '1', REHEARSAL_NODE: process.execPath };
}

/**
 * Lets the trainer read a configuration without starting anything, as it knows the fields and profiles. Throws a
 * `UsageError` with its words for one that it refuses.
 * @param kind sft, grpo or evaluate
 */
export function checkConfiguration(python: string, kind: string, configuration: string): void {
  const args = ['-m', 'rehearsal_trainer', kind, '--config', '-', '--check'];
  const { status, stderr, error } = spawnSync(python, args, {
    env: trainerEnvironment(),
    input: configuration,
    encoding: 'utf8',
  });
  if (status === 0) return;
  const words = error?.message ?? lastLineOf(stderr);
  throw new UsageError(`the trainer refuses these options: ${words}`);
}

/**
 * Starts the trainer; its words go to log.txt in the run's folder, so that closing a window loses nothing. Waits for its
 * end or, where it is detached, until it says that it has begun. A trainer that can't begin or fails is a `Fault`.
 */
export async function launchTrainer(io: Io, { python, args, run, isDetached, json }: TrainerLaunch): Promise<ExitCode> {
  const logPath = join(run, 'log.txt');
  const log = openSync(logPath, 'a');
  const said = sizeOf(eventsOf(run));
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
  if (isDetached) {
    await Promise.race([failed, isUp(run, child, said)]);
    child.unref();
    io.out(json ? `${JSON.stringify({ run, pid: child.pid })}\n` : `training in ${run}\n`);
    return 0;
  }
  io.err(`training in ${run}; Ctrl+C ends it with a checkpoint, its log is ${logPath}\n`);
  io.signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const code = await Promise.race([failed, new Promise<number | null>((done) => child.once('close', done))]);
  if (code !== 0)
    throw new Fault({
      who: 'environment',
      code: 'training/failed',
      message: `training ended with an error: ${lastLine(logPath)}`,
      file: logPath,
    });
  io.out(outcome(run, json));
  return 0;
}

/** What a run that ended well leaves for its reader: an evaluation's numbers, or where the checkpoint lies. */
function outcome(run: string, json: boolean): string {
  const result = join(run, 'result.json');
  if (!existsSync(result)) {
    return json ? `${JSON.stringify({ run })}\n` : `trained: ${join(run, 'checkpoints', 'final')}\n`;
  }
  return json ? readFileSync(result, 'utf8') : readFileSync(join(run, 'result.txt'), 'utf8');
}

const eventsOf = (run: string) => join(run, 'events.jsonl');

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Waits until the run has said something new, or has ended without. A run that goes on has events already.
 * @param said how much it had said before
 */
async function isUp(run: string, child: ReturnType<typeof spawn>, said: number): Promise<void> {
  let ended = false;
  child.once('close', () => {
    ended = true;
  });
  while (sizeOf(eventsOf(run)) <= said) {
    if (ended)
      throw new Fault({
        who: 'environment',
        code: 'training/failed',
        message: `training did not start: ${lastLine(join(run, 'log.txt'))}`,
        file: join(run, 'log.txt'),
      });
    await new Promise((later) => setTimeout(later, 200));
  }
}

function lastLine(path: string): string {
  return lastLineOf(readFileSync(path, 'utf8'));
}

/** The last of a program's words, without the mark of an error. */
export function lastLineOf(words: string): string {
  const last = words.trim().split('\n').at(-1) ?? '';
  return last.replace(/^error: /, '');
}
