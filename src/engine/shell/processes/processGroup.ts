import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { guardWorker } from './workerGuard.ts';

type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

export type GroupChild = ChildProcess & {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
};

/** A program with everything that it starts. */
export type ProcessGroup = {
  readonly child: GroupChild;
  /** Ends the group: by the end of its input, then by signals. Takes less than two seconds. */
  readonly end: () => Promise<void>;
  /** Kills the group at once. */
  readonly kill: () => void;
};

/**
 * The time limits, in ms, for a group to end by itself, to end after SIGTERM, and to finish its output. Together they
 * stay below two seconds.
 */
const patienceMs = { ownEnd: 700, afterTerm: 900, output: 300 } as const;
const lookAgainMs = 25;

/**
 * Starts a program in its own process group. What a wrapper such as npx starts ends with the group, also where this
 * process is killed. On Windows there are no groups, and only the program itself is ended.
 */
export function startGroup({ command, args, env, cwd }: Program): ProcessGroup {
  const isGroup = process.platform !== 'win32';
  const child = spawn(command, [...args], { cwd, env, detached: isGroup, windowsHide: true }) as GroupChild;
  const unguard = guardWorker(isGroup && child.pid !== undefined ? -child.pid : undefined);
  const isRead = new Promise((resolve) => child.once('close', resolve));
  const end = async () => {
    child.stdin.end();
    if (!(await isGone(child, patienceMs.ownEnd))) {
      signalGroup(child, 'SIGTERM');
      if (!(await isGone(child, patienceMs.afterTerm))) signalGroup(child, 'SIGKILL');
    }
    await Promise.race([isRead, pause(patienceMs.output, null, { ref: false })]);
    // A pipe that something else still holds would keep this process alive.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
    unguard();
  };
  return { child, end, kill: () => void signalGroup(child, 'SIGKILL') };
}

/** Waits until no process of the group is left, at most so long. Returns whether none is left. */
async function isGone(child: ChildProcess, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (signalGroup(child, 0)) {
    if (performance.now() >= end) return false;
    await pause(lookAgainMs);
  }
  return true;
}

/** Sends a signal to every process of the group. Returns whether there was one. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  if (process.platform === 'win32') return child.exitCode === null && child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
