import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from './repository.ts';
import { type Counts, gateCounts } from './results.ts';
import { elapsed, Failure } from './terminal.ts';

/** The exit code of a command and everything it printed. */
export type Finished = { code: number; output: string };

/** One line for each command that left a process behind. They are part of the counts of a step. */
const leftBehind: string[] = [];

/** Returns one line for each command of this process so far that left a process behind which keeps its output open. */
export function commandsWithLeftovers(): readonly string[] {
  return leftBehind;
}

/**
 * Runs a command to its end and collects its output. With `echo`, the output also appears as it comes. Rejects with a
 * `Failure` if the command cannot be started.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { echo?: boolean; outputMs?: number } = {},
): Promise<Finished> {
  const { echo = false, outputMs, ...spawnOptions } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...spawnOptions });
    let output = '';
    const collect = (stream: NodeJS.WriteStream) => (chunk: Buffer) => {
      output += chunk.toString();
      if (echo) stream.write(chunk);
    };
    child.stdout?.on('data', collect(process.stdout));
    child.stderr?.on('data', collect(process.stderr));
    child.on('error', (error) => reject(new Failure(`Could not start ${command}: ${error.message}`)));
    endOf(child, outputMs).then(({ code, leftovers }) => {
      if (leftovers) leftBehind.push(heldOpen([command, ...args].join(' ').replaceAll(/\s+/g, ' ').slice(0, 200)));
      resolve({ code, output });
    });
  });
}

/** Runs a tool that only passes or fails. Prints its output if it fails. */
export async function runGate(what: string, command: string, args: readonly string[], cwd = root): Promise<Counts> {
  const started = performance.now();
  const { code, output } = await runCommand(command, args, { cwd });
  console.log(code === 0 ? `${what} (${elapsed(started)})` : output.trim());
  return gateCounts(code === 0, what);
}

/** Returns one line about something that left a process behind. */
export function heldOpen(what: string): string {
  return `a process of ${what}, which keeps its output open`;
}

/**
 * Waits until a process has ended and its output is read. A process that it left behind can keep the output open. After
 * `outputMs`, the output is closed and `leftovers` is true.
 */
export function endOf(child: ChildProcess, outputMs = 10_000): Promise<{ code: number; leftovers: boolean }> {
  return new Promise((resolve) => {
    let leftovers = false;
    child.once('exit', () => {
      const limit = setTimeout(() => {
        leftovers = true;
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, outputMs);
      child.once('close', () => clearTimeout(limit));
    });
    child.once('close', (code, signal) => resolve({ code: code ?? (signal ? 1 : 0), leftovers }));
  });
}

/**
 * Returns a signal that aborts at the first Ctrl+C, SIGTERM or SIGHUP of this process. The second Ctrl+C ends the
 * process. SIGTERM and SIGHUP never do: a process that ends a process group often sends them twice.
 */
export function interruptionSignal(): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  process.once('SIGINT', abort);
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, abort);
  return controller.signal;
}

/** Runs npm in a folder, without the settings that an outer npm script puts into the environment. */
export async function runNpm(folder: string, args: readonly string[]): Promise<Finished> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(lifecycle|package|config_(local_prefix|prefix|npm))/.test(name),
    ),
  );
  const cli = process.env.npm_execpath;
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  if (cli?.endsWith('npm-cli.js')) return runCommand(process.execPath, [cli, ...args, ...quiet], { cwd: folder, env });
  return runCommand('npm', [...args, ...quiet], { cwd: folder, env, shell: process.platform === 'win32' });
}

/** Returns the full path of the first of these programs on PATH. */
export function findOnPath(...names: string[]): string | undefined {
  const suffixes = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      for (const suffix of suffixes) {
        const path = join(folder, name + suffix);
        if (folder !== '' && isExecutable(path)) return path;
      }
    }
  }
  return undefined;
}

/** Returns whether this user can execute a file. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
