import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  closeSync,
  existsSync,
  constants as fsConstants,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { constants, devNull, release, userInfo } from 'node:os';
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { asNode } from './childEnvironment.ts';
import { processFilter } from './processFilter.ts';

/** The operating system's part in confining a domain's code, or why it has none and what would give it one. */
export type Sandbox =
  | { readonly name: 'bubblewrap' | 'sandbox-exec' }
  | { readonly name: null; readonly reason: string; readonly advice: string };

/** The permissions of a confined program. It sees no other process, and writes to its own `/tmp` at most. */
export type Confinement = {
  /** Absolute paths of the files and folders that it may read, beside system libraries and its own executable. */
  readonly readable: readonly string[];
  /** Of data that is not in files: a multiple of what is really used, since a runtime reserves in advance. */
  readonly memoryMb: number;
  /** Whether it has the network of this machine; none by default. */
  readonly network?: boolean | undefined;
};

/** A confined program that was started. */
export type ConfinedProcess = {
  readonly process: ChildProcess;
  /** Whether `process` is the sandbox, and the program is a descendant of it. */
  readonly isWrapped: boolean;
  /** The process, or, as a negative number, the process group of the sandbox. Undefined if it did not start. */
  readonly target: number | undefined;
  /** Kills the program at once. */
  readonly kill: () => void;
};

const openFiles = 512;
/** Threads count as processes. */
const processes = 256;
const megabyte = 1024 * 1024;
const largestFile = 256 * megabyte;
/** The usual limit of Linux. */
const stackBytes = 8 * megabyte;
/** Of the private `/tmp`, which is in memory. */
const scratchBytes = 64 * megabyte;
const probeMs = 10_000;

/** Folders that dynamically linked programs load from. NixOS keeps every library in `/nix`, and Guix in `/gnu`. */
const libraries = ['/lib', '/lib32', '/lib64', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/local/lib'];
const systemPaths = [...libraries, '/etc/ld.so.cache', '/nix/store', '/gnu/store'];

/** Paths for looking up names and checking certificates. */
const networkPaths = ['hosts', 'resolv.conf', 'nsswitch.conf', 'host.conf', 'gai.conf', 'ssl', 'pki', 'ca-certificates']
  .map((name) => `/etc/${name}`)
  .concat('/usr/share/ca-certificates');

let found: Sandbox | null = null;

/**
 * Returns the sandbox of this machine. The first call starts this runtime in it once, to see that it works; later
 * calls return the same answer. `REHEARSAL_SANDBOX=off` switches it off, for tests and measurements.
 */
export function findSandbox(): Sandbox {
  if (process.env['REHEARSAL_SANDBOX'] === 'off')
    return lacking('REHEARSAL_SANDBOX=off switches it off', 'Unset REHEARSAL_SANDBOX.');
  found ??= probe();
  return found;
}

/**
 * Starts a program confined; as it is where this machine has no sandbox. In the sandbox it can start no other process.
 * @param options of `spawn`; the program has the descriptors of `stdio`
 */
export function spawnConfined(
  program: string,
  args: readonly string[],
  confinement: Confinement,
  options: SpawnOptions & { readonly stdio: readonly Descriptor[] },
): ConfinedProcess {
  const { name } = findSandbox();
  const isWrapped = name === 'bubblewrap';
  const filter = isWrapped ? processFilter() : null;
  const { stdio } = options;
  const { command, args: all } = wrap(name, program, args, confinement, filter && stdio.length);
  const own = filter ? [...stdio, 'pipe' as const] : [...stdio];
  const nothing = openSync(devNull, 'r');
  const child = spawn(command, all, {
    ...options,
    stdio: withoutInherited(own, nothing),
    // Ctrl+C in a terminal would end the sandbox, and the program with it.
    detached: isWrapped,
    windowsHide: true,
  });
  closeSync(nothing);
  const pipe = filter && (child.stdio[stdio.length] as Writable | null);
  // If the sandbox does not start, the process says why.
  pipe?.on('error', () => undefined).end(filter);
  // While bubblewrap starts, a child of it waits for it. That child outlives a signal to bubblewrap alone.
  const target = child.pid === undefined || !isWrapped ? child.pid : -child.pid;
  return { process: child, isWrapped, target, kill: () => killIfRunning(child, target) };
}

/**
 * Returns the descriptors of a child where each one that it would inherit reads `nothing` instead. An open file or
 * folder from outside would lead a program out of the sandbox. `spawn` cannot close a descriptor, only replace it.
 */
function withoutInherited(stdio: readonly Descriptor[], nothing: number): Descriptor[] {
  const inherited = inheritedDescriptors().filter((at) => at >= stdio.length);
  const all: Descriptor[] = [...stdio];
  while (all.length <= Math.max(-1, ...inherited)) all.push('ignore');
  for (const at of inherited) all[at] = nothing;
  return all;
}

type Descriptor = number | 'pipe' | 'inherit' | 'ignore';

/** Of linux/fcntl.h, as /proc shows it: a descriptor that a child does not inherit. */
const closeOnExec = 0o2000000;

/** Returns the open descriptors of this process that its children inherit. On macOS, `spawn` closes them itself. */
function inheritedDescriptors(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => {
      try {
        const [, flags = ''] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
        return (Number.parseInt(flags, 8) & closeOnExec) === 0;
      } catch {
        // It was open only to read the folder.
        return false;
      }
    });
}

function killIfRunning(child: ChildProcess, target: number | undefined): void {
  if (target === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Returns the process that a sandbox's process runs: the last in its line of children. */
export function confinedPid(pid: number): number {
  let last = pid;
  for (;;) {
    const [child] = childrenOf(last);
    if (child === undefined) return last;
    last = child;
  }
}

/** Returns the signal that ended a confined program: its sandbox exits with 128 and the signal's number. */
export function signalOf(code: number | null): NodeJS.Signals | null {
  if (code === null || code <= 128) return null;
  const known = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return (known?.[0] as NodeJS.Signals | undefined) ?? null;
}

/**
 * Returns the absolute path of a program on the PATH, or null. Neither a relative folder nor one of an npm package's
 * programs counts: `npx` puts the latter of the working folder on the PATH, and that may be a cloned repository.
 */
export function programPath(name: string, path: string | undefined = process.env['PATH']): string | null {
  const folders = [...(path ?? '').split(delimiter), '/usr/bin', '/bin'];
  return (
    folders
      .filter((folder) => folder.startsWith('/') && !/\/node_modules\/\.bin\/?$/.test(folder))
      .map((folder) => join(folder, name))
      .find(isExecutable) ?? null
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, fsConstants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns bubblewrap as `REHEARSAL_BUBBLEWRAP` names it, else the one on the PATH, or null. */
function bubblewrapPath(): string | null {
  return process.env['REHEARSAL_BUBBLEWRAP'] || programPath('bwrap');
}

function probe(): Sandbox {
  const obstacle = obstacleHere();
  if (obstacle) return obstacle;
  const name = process.platform === 'linux' ? 'bubblewrap' : 'sandbox-exec';
  // `--version` returns before the runtime sets up its engine, which makes this a matter of 10 ms.
  const { command, args } = wrap(name, process.execPath, ['--version'], { readable: [], memoryMb: 4096 });
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: probeMs,
    env: asNode,
  });
  if (status === 0 && stdout.trim() === process.version) return { name };
  const said = error?.message ?? stderr.trim().split('\n')[0] ?? '';
  return lacking(`${name} does not start a process here: ${said || `exit code ${status}`}`, advised(name, said));
}

function obstacleHere(): Sandbox | null {
  if (process.platform === 'darwin')
    return existsSync(seatbelt) ? null : lacking(`${seatbelt} is missing`, 'It is a part of macOS.');
  if (process.platform !== 'linux')
    return lacking(
      `Rehearsal has no sandbox for ${process.platform}`,
      'Use Linux, macOS or WSL to run domains that you do not trust.',
    );
  const path = bubblewrapPath();
  if (path === null) return lacking('bubblewrap is not installed', installation('bubblewrap'));
  if (!existsSync(path))
    return lacking(
      `REHEARSAL_BUBBLEWRAP names ${path}, which does not exist`,
      'Correct the variable, or remove it to use the bwrap on the PATH.',
    );
  if (!programPath('prlimit')) return lacking('prlimit is not installed', installation('util-linux'));
  return null;
}

const lacking = (reason: string, advice: string): Sandbox => ({ name: null, reason, advice });

function advised(name: string, said: string): string {
  if (name !== 'bubblewrap') return 'Run only domains that you trust.';
  if (/unknown option/i.test(said)) return 'Install bubblewrap 0.8 or newer.';
  return 'Allow user namespaces: in a container, ask its administrator; on Ubuntu 24.04, give /usr/bin/bwrap an AppArmor profile with "userns,".';
}

/** The command that installs a package, by the package manager that is here. */
function installation(name: string): string {
  const managers = {
    'apt-get': 'apt-get install',
    dnf: 'dnf install',
    pacman: 'pacman -S',
    zypper: 'zypper install',
    apk: 'apk add',
  };
  const [, command] = Object.entries(managers).find(([manager]) => programPath(manager)) ?? [];
  const asRoot = userInfo().uid === 0 ? '' : 'sudo ';
  return command === undefined ? `Install the package ${name}.` : `Run "${asRoot}${command} ${name}".`;
}

type Command = { readonly command: string; readonly args: readonly string[] };

/** The command that runs a program in a sandbox, which reads its filter from a descriptor. */
function wrap(
  name: Sandbox['name'],
  program: string,
  args: readonly string[],
  confinement: Confinement,
  filterAt: number | null = null,
): Command {
  if (name === null) return { command: program, args };
  if (name === 'bubblewrap') return inBubblewrap(program, args, confinement, filterAt);
  return { command: seatbelt, args: ['-p', seatbeltProfile(program, confinement), program, ...args] };
}

function inBubblewrap(
  program: string,
  args: readonly string[],
  confinement: Confinement,
  filterAt: number | null,
): Command {
  const prlimit = programPath('prlimit') ?? 'prlimit';
  const paths = new Set([...runtimePaths(program), ...confinement.readable.flatMap((path) => [path, real(path)])]);
  const scratch = '/tmp';
  const bind = (path: string) => ['--ro-bind', path, path];
  const inScratch = [...paths].filter((path) => isInside(path, scratch));
  return {
    command: bubblewrapPath() ?? 'bwrap',
    args: [
      ...['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
      ...(confinement.network ? ['--share-net'] : []),
      ...['--die-with-parent', '--new-session'],
      ...(filterAt === null ? [] : ['--seccomp', String(filterAt)]),
      ...[...systemPaths, ...(confinement.network ? networkPaths : [])].flatMap((path) => [
        '--ro-bind-try',
        path,
        path,
      ]),
      ...bind(prlimit),
      ...[...paths].filter((path) => !inScratch.includes(path)).flatMap(bind),
      // The kernel lets root write to /proc/sys without any capability.
      ...['--proc', '/proc', '--remount-ro', '/proc'],
      // A mapping of /dev/zero is shared memory. A device behind a bind without "dev" cannot be opened.
      ...['--dev', '/dev', '--ro-bind', devNull, '/dev/zero', '--remount-ro', '/dev'],
      ...['--size', String(scratchBytes), '--tmpfs', scratch],
      ...inScratch.flatMap(bind),
      ...['--remount-ro', '/'],
      ...[prlimit, ...limits(confinement), '--', program, ...args],
    ],
  };
}

/**
 * Address space is not limited: a runtime reserves terabytes of it, and uses what counts as data. Shared memory and
 * stacks do not count as data: the filter refuses the first, and the second has its own limit.
 */
function limits({ memoryMb }: Confinement): readonly string[] {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  const countsInNamespace = major > 5 || (major === 5 && minor >= 14);
  return [
    `--data=${memoryMb * megabyte}`,
    `--stack=${stackBytes}`,
    `--nofile=${openFiles}`,
    `--fsize=${largestFile}`,
    '--core=0',
    ...(countsInNamespace ? [`--nproc=${processes}`] : []),
  ];
}

/** An executable, and what it is installed with: Electron's folder, or the libraries next to a `bin` folder. */
function runtimePaths(program: string): readonly string[] {
  const file = real(program);
  const folder = dirname(file);
  if (process.versions['electron'] && file === real(process.execPath)) return [program, folder];
  const siblings = join(dirname(folder), 'lib');
  return [program, file, ...(basename(folder) === 'bin' && existsSync(siblings) ? [siblings] : [])];
}

const isInside = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const seatbelt = '/usr/bin/sandbox-exec';

/** Not tested: no machine of this project runs macOS. It is used only after a process really started in it. */
function seatbeltProfile(program: string, { readable, network }: Confinement): string {
  const quoted = (path: string) => JSON.stringify(path);
  const paths = new Set([program, ...readable].flatMap((path) => [path, real(path)]));
  const system = [
    '/usr/lib',
    '/System',
    '/Library/Apple',
    '/private/var/db/dyld',
    '/dev',
    real(dirname(dirname(program))),
  ];
  return [
    '(version 1)',
    '(deny default)',
    `(allow process-exec ${[program, real(program)].map((path) => `(literal ${quoted(path)})`).join(' ')})`,
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") ${[...system, ...paths].map((path) => `(subpath ${quoted(path)})`).join(' ')})`,
    '(allow file-write* (literal "/dev/null"))',
    '(allow signal (target self))',
    ...(network ? ['(allow network*)', '(allow system-socket)', '(allow file-read* (subpath "/private/etc"))'] : []),
  ].join('\n');
}
