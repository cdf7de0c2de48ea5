import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const pollMs = 250;
/** Caches and sockets that other programs leave: PyTorch, pip, VS Code, tiktoken and jiti. */
const ofOtherPrograms = /^(?:torch(?:inductor|elastic)_|pip-|vscode-|data-gym-cache$|jiti$)/;

/**
 * Returns one line for each file, folder and process that tests left behind. Caches of other programs do not count.
 * Processes are found on Linux only: those that have the folder in their environment or command line.
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
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    const command = textOf(`/proc/${pid}/cmdline`);
    // A process that has ended and is not yet waited for has no command line.
    if (command === '' || !`${command}\0${textOf(`/proc/${pid}/environ`)}`.includes(folder)) return [];
    return [`process ${pid}: ${command.split('\0').join(' ').trim().slice(0, 200)}`];
  });
}

/** The text of a file of a process; empty where the process has ended or belongs to somebody else. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
