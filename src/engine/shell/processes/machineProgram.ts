import { execFileSync } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, parse } from 'node:path';
import { readBoundedText } from '../files/boundedFile.ts';
import { Fault } from '../files/fault.ts';
import { childEnvironment } from './childEnvironment.ts';
import { programPath } from './sandbox.ts';

/**
 * A folder that no domain controls. Shims of version managers such as asdf, mise and pyenv choose the program by files
 * of the folder that they are started in and of those above it. Here they choose the version of the machine.
 */
export const neutralFolder = parse(process.execPath).root;

type Environment = Readonly<Record<string, string>>;

type Started = { readonly command: string; readonly env: Environment };

/** A program that a name leads to, and the program that a shim of this name starts. */
type Found = { readonly path: string; readonly behind: string | null };

const limitMs = 20_000;
/** Shims are short scripts. */
const longestShim = 4096;

const found = new Map<string, Found | null>();

/**
 * Returns how to start a command in a folder of a domain, so that no file there chooses the program. A command with a
 * path stays as it is. The folder of a program behind a shim comes first on its PATH, since `npx` looks for `node` there.
 */
export function machineProgram(command: string, env: Environment): Started {
  if (process.platform === 'win32' || /[\\/]/.test(command)) return { command, env };
  // A relative folder would be one of the domain.
  const given = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const folders = given.length > 0 ? given : ['/usr/bin', '/bin'];
  const program = programOf(command, folders.join(delimiter));
  const first = program?.behind ? [dirname(program.behind)] : [];
  return {
    command: program?.behind ?? program?.path ?? command,
    env: { ...env, PATH: [...first, ...folders].join(delimiter) },
  };
}

/** Returns the program that a shim of this name starts; null where the PATH leads to the program itself. */
export function behindShim(command: string): string | null {
  if (process.platform === 'win32' || /[\\/]/.test(command)) return null;
  try {
    return programOf(command, process.env['PATH'] ?? '')?.behind ?? null;
  } catch {
    // The start reports it.
    return null;
  }
}

function programOf(command: string, folders: string): Found | null {
  const key = JSON.stringify([command, folders]);
  const known = found.get(key);
  if (known !== undefined) return known;
  const path = programPath(command, folders);
  const program = path === null ? null : { path, behind: programBehind(command, path, folders) };
  found.set(key, program);
  return program;
}

function programBehind(name: string, path: string, folders: string): string | null {
  const question = questionTo(name, path);
  if (question === null) return null;
  const [program, ...args] = question;
  // The variables of a command, such as NODE_OPTIONS, could run code of the domain before it is approved.
  const answer = answerOf(program, args, { ...childEnvironment(), PATH: folders });
  if (!isAbsolute(answer) || !isFile(answer))
    throw new Fault({
      who: 'environment',
      code: 'program/version',
      message: `${path} does not report which program it starts outside of the domain. Set a version of ${name} for your user account, such as with "mise use --global" or "pyenv global", or name the program by its path`,
    });
  return realpathSync(answer) === realpathSync(path) ? null : answer;
}

/** Returns the command that prints the path of the program behind a name; null where the file is not known as a shim. */
function questionTo(name: string, path: string): readonly [string, ...string[]] | null {
  if (name === 'node') return [path, '-p', 'process.execPath'];
  if (/^python[\d.]*$/.test(name)) return [path, '-I', '-c', 'import sys; print(sys.executable)'];
  const manager = managerOf(path);
  return manager === null ? null : [manager, 'which', name];
}

/** Returns the version manager whose shim a file is: a link to mise, or a script of asdf, pyenv and those made after it. */
function managerOf(path: string): string | null {
  const real = realpathSync(path);
  if (basename(real) === 'mise' && basename(path) !== 'mise') return real;
  if (statSync(real).size > longestShim) return null;
  try {
    return /^exec "?([^\s"]+)"? exec /m.exec(readBoundedText(real))?.[1] ?? null;
  } catch {
    // A program may be executable without being readable.
    return null;
  }
}

function answerOf(program: string, args: readonly string[], env: Environment): string {
  try {
    return execFileSync(program, args, {
      cwd: neutralFolder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: limitMs,
      windowsHide: true,
    }).trim();
  } catch {
    return '';
  }
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
