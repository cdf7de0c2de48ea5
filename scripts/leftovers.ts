import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { ancestorsOf, descendantsOf } from './processTree.ts';

const pollMs = 250;
/** Caches and sockets that other programs leave: PyTorch, pip, VS Code, tiktoken and jiti. */
const ofOtherPrograms = /^(?:torch(?:inductor|elastic)_|pip-|vscode-|data-gym-cache$|jiti$)/;

/**
 * Returns one line for each file, folder and process that tests left behind. Caches of other programs do not count.
 * Processes are found on Linux only: those that use the folder, and those above and below them.
 * @param folder the temporary folder of the run
 * @param waitMs how long to wait at most until nothing is left
 */
export async function findLeftovers(folder: string, waitMs: number): Promise<readonly string[]> {
  const endsAt = performance.now() + waitMs;
  for (;;) {
    const left = [...filesIn(folder), ...processesOf(folder)];
    if (left.length === 0 || performance.now() > endsAt) return left;
    await wait(pollMs);
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !ofOtherPrograms.test(name))
    .toSorted()
    .map((name) => `${name} in the temporary folder`);
}

function processesOf(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  const own = new Set([process.pid, ...ancestorsOf(process.pid)]);
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
  const found = pids.filter((pid) => !own.has(pid) && uses(pid, folder));
  const related = found.flatMap((pid) => [pid, ...ancestorsOf(pid), ...descendantsOf(pid)]);
  return [...new Set(related)].flatMap((pid) => {
    const command = textOf(`/proc/${pid}/cmdline`);
    // A process that has ended and is not yet waited for has no command line.
    if (command === '' || own.has(pid)) return [];
    return [`process ${pid}: ${command.split('\0').join(' ').trim().slice(0, 200)}`];
  });
}

/**
 * Returns whether a process has the folder in its command line or environment, or an open file or its working folder
 * in it. A worker of rollouts has its own environment, and an open file that was removed.
 */
function uses(pid: number, folder: string): boolean {
  const isNamed = ['cmdline', 'environ'].some((name) => textOf(`/proc/${pid}/${name}`).includes(folder));
  return isNamed || pathsOf(pid).some((path) => path.startsWith(`${folder}/`) || path === folder);
}

function pathsOf(pid: number): readonly string[] {
  try {
    const files = readdirSync(`/proc/${pid}/fd`).map((name) => `fd/${name}`);
    return ['cwd', ...files].map((name) => targetOf(`/proc/${pid}/${name}`));
  } catch {
    // The process has ended or belongs to another user.
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** Returns the text of a file of a process; empty where the process has ended or belongs to another user. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
