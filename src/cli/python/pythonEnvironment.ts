import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { type Json, jsonOf } from '../../engine/core/values/json.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import { withoutKeys } from '../../engine/shell/processes/childEnvironment.ts';
import { neutralFolder } from '../../engine/shell/processes/machineProgram.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { lastLineOf } from './lastLine.ts';

/** Returns the folder of the Python package: next to the bundle when shipped, or next to the sources. */
export function trainerFolder(): string {
  return shippedFolder('trainer');
}

/** Returns the program that makes and checks the trainer's Python environment. */
export function setupScript(): string {
  return join(trainerFolder(), 'rehearsal_trainer', 'setup_environment.py');
}

/**
 * Returns the environment of a process of the trainer.
 * @param keys names of the keys that it needs
 */
export function trainerEnvironment(keys: readonly string[]): NodeJS.ProcessEnv {
  const own = { PYTHONPATH: trainerFolder(), PYTHONUNBUFFERED: '1', REHEARSAL_NODE: process.execPath };
  return { ...withoutKeys(keys), ...own };
}

/** Python's arguments that run the trainer. With -P no module comes from the working folder, which may be a clone. */
export const trainerModule = ['-P', '-m', 'rehearsal_trainer'] as const;

/** The keys that a model's hub asks for, where a person has them. */
export const hubKeys = ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN'];

const pythonNames: readonly string[] = ['python3', 'python'];

/** The argument list that starts Python: a program, or a program such as `docker` with its arguments. */
export type Interpreter = readonly [string, ...string[]];

const interpreterSchema = z.union([z.string().min(1), z.tuple([z.string().min(1)], z.string())]);

/**
 * Reads how a person names an interpreter: a path or command, or a JSON list of a command and its arguments. Throws a
 * `UsageError` for anything else.
 * @param folder what a relative path is relative to; undefined on another machine
 */
export function interpreterOf(named: Json | undefined, folder: string | undefined): Interpreter | undefined {
  if (named === undefined || named === null) return undefined;
  const value = typeof named === 'string' && named.startsWith('[') ? jsonOf(named) : named;
  const { data } = interpreterSchema.safeParse(value);
  if (data === undefined)
    throw new UsageError(
      `python: expected a path, or a list such as ["apptainer", "exec", "trainer.sif", "python"], found ${JSON.stringify(named)}`,
    );
  const [program, ...rest] = typeof data === 'string' ? [data] : data;
  return [folder !== undefined && /^\.{0,2}[^/\\]*[/\\]/.test(program) ? resolve(folder, program) : program, ...rest];
}

/** The interpreter of the trainer, and the Node.js that runs the engine on the same machine. */
export type ReadyPython = { readonly python: Interpreter; readonly node: string };

/**
 * Returns the interpreter of the trainer: the given one as it is, else that of the trainer's own environment, which is
 * made on first use and announces what it downloads. Throws a `Fault` where the given one can't train.
 * @param paths files and folders that the given one has to see
 */
export async function preparePython(
  io: Pick<Io, 'err' | 'signal'>,
  given: Interpreter | undefined,
  paths: readonly string[] = [],
): Promise<ReadyPython> {
  const found = pythonNames.find((name) => isPython([name]));
  const python: Interpreter | undefined = given ?? (found === undefined ? undefined : [found]);
  if (!python || (given && !isPython(given))) throw noPython(given ?? ['python3']);
  const script = setupScript();
  if (!existsSync(script))
    throw new Fault({
      who: 'environment',
      code: 'trainer/missing',
      message: `${script} is missing: install Rehearsal again`,
    });
  const question = { command: given, paths, node: process.execPath, ...processIds() };
  const { said, code, words } = await runSetup(
    io,
    python,
    given ? [script, '--existing', JSON.stringify(question)] : [script, '--profile', 'local'],
    given === undefined,
  );
  if (code !== 0)
    throw new Fault({
      who: 'environment',
      code: 'python/environment',
      message: given ? lastLineOf(words) : `the trainer's Python environment could not be made: ${lastLineOf(words)}`,
    });
  const { data } = madeSchema.safeParse(jsonOf(said));
  // A program that does whatever it is asked without output is not a Python either.
  if (!data) throw noPython(python);
  return { python: given ?? [data.python], node: data.node ?? process.execPath };
}

/** Returns about how many bytes `preparePython` would download for the trainer's own environment; nothing is installed. */
export async function environmentDownload(io: Pick<Io, 'err' | 'signal'>): Promise<number> {
  const found = pythonNames.find((name) => isPython([name]));
  if (found === undefined) throw noPython(['python3']);
  const script = setupScript();
  const { said } = await runSetup(io, [found], [script, '--check'], false);
  const { data } = checkedSchema.safeParse(jsonOf(said));
  if (!data) throw noPython([found]);
  return data.download;
}

/** The namespace of this process's ids on Linux, by which a container that has its own is noticed. */
function processIds(): { readonly pids?: string } {
  return process.platform === 'linux' ? { pids: readlinkSync('/proc/self/ns/pid') } : {};
}

async function runSetup(
  io: Pick<Io, 'err' | 'signal'>,
  [program, ...rest]: Interpreter,
  args: readonly string[],
  isShown: boolean,
): Promise<{ readonly said: string; readonly words: string; readonly code: number | null }> {
  const child = spawn(program, [...rest, ...args], {
    ...spawnFolderOf(program),
    env: trainerEnvironment([]),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let words = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    said = line;
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    words = line;
    if (isShown) io.err(`${line}\n`);
  });
  io.signal.addEventListener('abort', () => child.kill(), { once: true });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { said, words, code };
}

const checkedSchema = z.object({ download: z.number() });
const madeSchema = z.object({ python: z.string(), node: z.string().optional() });

function noPython(command: Interpreter): Fault {
  const asked = spawnSync(command[0], ['--version'], {
    ...spawnFolderOf(command[0]),
    stdio: 'ignore',
    env: withoutKeys(),
  });
  const isMissing = (asked.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  const why = isMissing ? 'was not found: Rehearsal needs' : 'is not';
  return new Fault({
    who: 'environment',
    code: 'python/missing',
    message: `${(isMissing ? command.slice(0, 1) : command).map(shellWord).join(' ')} ${why} Python 3.11 or newer. Install it, or name it with --python (in the editor: the setting rehearsal.trainer.python)`,
  });
}

function isPython([program, ...rest]: Interpreter): boolean {
  const { status } = spawnSync(program, [...rest, '-c', 'import sys; sys.exit(sys.version_info < (3, 11))'], {
    ...spawnFolderOf(program),
    stdio: 'ignore',
    env: withoutKeys(),
  });
  return status === 0;
}

/** Returns where a Python of the PATH is started, so that no file of the working folder chooses its version. */
const spawnFolderOf = (program: string) => (pythonNames.includes(program) ? { cwd: neutralFolder } : {});
