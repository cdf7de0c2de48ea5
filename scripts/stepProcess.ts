import { type ChildProcess, fork } from 'node:child_process';
import { endOf } from './process.ts';
import type { Counts } from './results.ts';
import { elapsed, style } from './terminal.ts';

/** The output of a step's process, and its counts unless it was stopped at the time limit. */
export type FinishedStep = { readonly output: string; readonly counts: Counts | undefined };

const running = new Map<ChildProcess, { readonly name: string; readonly started: number }>();
/** How long a step may exceed the time limit before it is stopped: its estimate is from another machine. */
const graceMs = 10 * 60_000;
/** No step of `npm test` takes as long as this. One that does is stopped, so that its output shows where it hangs. */
const hangsAfterMs = 40 * 60_000;

/**
 * Runs a step in a process group of its own and collects its output, so that steps that run side by side do not mix
 * theirs.
 * @param args the script's arguments: `--step NAME` and filters
 * @param endsAt a `performance.now()` reading; ten minutes later the step is stopped. Without a limit a step that
 * hangs fails after 40 minutes
 */
export async function runInChild(script: string, args: readonly string[], endsAt: number): Promise<FinishedStep> {
  const child = fork(script, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: process.platform !== 'win32',
  });
  const started = performance.now();
  stopAllAtExit();
  running.set(child, { name: args[1] ?? '', started });
  let output = '';
  let counts: Counts | undefined;
  let isStopped = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.on('message', (message) => {
    counts = message as Counts;
  });
  const isLimited = Number.isFinite(endsAt);
  const limit = setTimeout(
    () => {
      isStopped = true;
      signalGroup(child, 'SIGKILL');
    },
    isLimited ? endsAt + graceMs - started : hangsAfterMs,
  );
  const { code } = await endOf(child);
  clearTimeout(limit);
  running.delete(child);
  if (isStopped && isLimited) return { output, counts: undefined };
  const text = isStopped ? 'the step hung and was stopped' : `the step exited with ${code} before it reported a result`;
  const failures = [{ text }];
  return { output, counts: counts ?? { passed: 0, failed: 1, skipped: 0, failures } };
}

/** Sends the counts of a step to the process that started it. */
export async function sendResult(counts: Counts): Promise<void> {
  await new Promise((resolve) => process.send?.(counts, resolve));
  process.disconnect?.();
}

/** Prints every 30 s which steps are still running. Returns the function that ends it. */
export function reportRunningSteps(): () => void {
  const timer = setInterval(() => {
    const steps = [...running.values()].map(({ name, started }) => `${name} (${elapsed(started)})`);
    if (steps.length > 0) console.log(style('dim', `  … ${steps.join(', ')}`));
  }, 30_000);
  return () => clearInterval(timer);
}

let stopsAtExit = false;

/** Ends all steps with this process: the terminal's Ctrl+C reaches only this process's own group. */
function stopAllAtExit(): void {
  if (stopsAtExit) return;
  stopsAtExit = true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      for (const child of running.keys()) signalGroup(child, 'SIGTERM');
      process.exit(130);
    });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    // It ended in the meantime.
  }
}
