import { type ChildProcess, fork } from 'node:child_process';
import { commandsWithLeftovers, endOf, heldOpen } from './process.ts';
import { childrenOf, killTree } from './processTree.ts';
import { type Counts, failedWith, noTests, sumCounts } from './results.ts';
import { elapsed, formatDuration, style } from './terminal.ts';

/** A step that runs in its own process. */
export type StepProcess = {
  /** The script that runs the step and calls `sendCounts`. */
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly name: string;
  readonly limitMs: number;
  /** Whether the output appears as it comes. Otherwise it is collected, so that steps side by side do not mix theirs. */
  readonly isLive: boolean;
  readonly interruption: AbortSignal;
  /** Milliseconds to wait for a process that the step left behind to close its output. */
  readonly outputMs?: number;
};

/** The collected output of a step, and its counts unless it was interrupted. */
export type FinishedStep = { readonly output: string; readonly counts: Counts | undefined };

const running = new Map<ChildProcess, { readonly name: string; readonly started: number }>();

/**
 * Runs a step. At its time limit and at an interruption, its process and all processes below it are killed. A step that
 * reaches its limit, or that ends without counts, counts as one failure with that reason.
 */
export async function runStepProcess(step: StepProcess): Promise<FinishedStep> {
  const { script, args, env = process.env, name, limitMs, isLive, interruption, outputMs } = step;
  const stream = isLive ? 'inherit' : 'pipe';
  // In its own process group, Ctrl+C in the terminal does not reach the step.
  const detached = process.platform !== 'win32';
  const child = fork(script, args, { env, stdio: ['ignore', stream, stream, 'ipc'], detached });
  if (!isLive) running.set(child, { name, started: performance.now() });
  let output = '';
  for (const pipe of [child.stdout, child.stderr]) {
    pipe?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let counts: Counts | undefined;
  child.on('message', (message) => {
    counts = message as Counts;
  });
  const limit = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any([limit, interruption]);
  const kill = () => child.pid !== undefined && killTree(child.pid);
  if (stop.aborted) kill();
  else stop.addEventListener('abort', kill);
  const { code, leftovers } = await endOf(child, outputMs);
  stop.removeEventListener('abort', kill);
  running.delete(child);
  if (counts)
    return { output, counts: leftovers ? sumCounts([counts, { ...noTests, leftovers: [heldOpen(name)] }]) : counts };
  if (interruption.aborted) return { output, counts: undefined };
  const reason = limit.aborted
    ? `stopped at its time limit of ${formatDuration(limitMs)}`
    : `the step exited with code ${code} before it reported a result`;
  return { output, counts: failedWith(reason) };
}

/**
 * Sends the counts of a step to the process that started it. If that process ends before, however that happens, this
 * process ends too, with all processes below it.
 */
export async function sendCounts(counts: Promise<Counts>): Promise<void> {
  process.once('disconnect', endTree);
  const message = { ...(await counts), leftovers: commandsWithLeftovers() };
  await new Promise((resolve) => process.send?.(message, resolve));
  process.off('disconnect', endTree);
  process.disconnect?.();
}

function endTree(): void {
  for (const child of childrenOf(process.pid)) killTree(child);
  process.exit(1);
}

/** Prints every 30 s which steps without live output are running. Returns the function that ends it. */
export function reportRunningSteps(): () => void {
  const timer = setInterval(() => {
    const steps = [...running.values()].map(({ name, started }) => `${name} (${elapsed(started)})`);
    if (steps.length > 0) console.log(style('dim', `  … ${steps.join(', ')}`));
  }, 30_000);
  return () => clearInterval(timer);
}
