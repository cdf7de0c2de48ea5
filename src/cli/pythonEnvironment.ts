import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { jsonOf } from '../engine/core/json.ts';
import { Fault } from '../engine/shell/fault.ts';
import { shippedFolder } from '../engine/shell/shippedFolder.ts';
import type { Io } from './io.ts';

/** The Python package as it is shipped beside the bundle, or as it lies beside the sources. */
export function trainerFolder(): string {
  return shippedFolder('trainer');
}

/** The environment of a process of the trainer. */
export function trainerEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: trainerFolder(), PYTHONUNBUFFERED: '1', REHEARSAL_NODE: process.execPath };
}

/**
 * The interpreter of the trainer's own environment, made on first use (it announces what it downloads).
 * @param given a Python to make it with; else the first one on the PATH that is new enough
 */
export async function preparePython(io: Pick<Io, 'err' | 'signal'>, given: string | undefined): Promise<string> {
  const python = given ?? ['python3', 'python'].find((name) => isPython(name));
  if (!python || (given && !isPython(given))) throw noPython(given ?? 'python3');
  const script = join(trainerFolder(), 'setup_environment.py');
  if (!existsSync(script))
    throw new Fault({
      who: 'environment',
      code: 'trainer/missing',
      message: `${script} is missing: install Rehearsal again`,
    });
  const child = spawn(python, [script, '--profile', 'local'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let last = '';
  let words = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line;
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    words = line;
    io.err(`${line}\n`);
  });
  io.signal.addEventListener('abort', () => child.kill(), { once: true });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  if (code !== 0)
    throw new Fault({
      who: 'environment',
      code: 'python/environment',
      message: `the trainer's Python environment could not be made: ${words}`,
    });
  const { data } = madeSchema.safeParse(jsonOf(last));
  // A program that does whatever it is asked without a word is no Python either.
  if (!data) throw noPython(python);
  return data.python;
}

const madeSchema = z.object({ python: z.string() });

function noPython(name: string): Fault {
  return new Fault({
    who: 'environment',
    code: 'python/missing',
    message: `${name} is no Python 3.11 or newer. Install one, or name it with --python (in the editor: the setting rehearsal.trainer.python)`,
  });
}

function isPython(command: string): boolean {
  const { status } = spawnSync(command, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'], {
    stdio: 'ignore',
  });
  return status === 0;
}
