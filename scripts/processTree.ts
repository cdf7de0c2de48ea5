import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the pids of the children of a process, none if it has ended. On Windows it always returns none. */
export function childrenOf(pid: number): readonly number[] {
  if (process.platform === 'win32') return [];
  return numbersIn(process.platform === 'linux' ? childrenInProc(pid) : childrenByPgrep(pid));
}

/** Returns the pids of every process below one. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Returns the pids of the processes above one, the nearest first, without the first process. Linux only. */
export function ancestorsOf(pid: number): readonly number[] {
  const parent = Number(statOf(pid)?.[1] ?? 0);
  return parent > 1 ? [parent, ...ancestorsOf(parent)] : [];
}

/** Returns the fields of /proc/PID/stat after the command's name, from the state on. Linux only. */
export function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    // The process has ended.
    return undefined;
  }
}

/** Kills a process and every process below it, including those that left its process group. */
export function killTree(pid: number): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/T', '/F', '/PID', `${pid}`]);
    return;
  }
  // A process that is stopped cannot start another one while its children are listed.
  signal(pid, 'SIGSTOP');
  for (const child of childrenOf(pid)) killTree(child);
  signal(pid, 'SIGKILL');
}

function childrenInProc(pid: number): string {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')).join(' ');
  } catch {
    // The process has ended.
    return '';
  }
}

function childrenByPgrep(pid: number): string {
  return spawnSync('pgrep', ['-P', `${pid}`], { encoding: 'utf8' }).stdout ?? '';
}

function numbersIn(text: string): readonly number[] {
  return text.split(/\s+/).filter(Boolean).map(Number);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}
