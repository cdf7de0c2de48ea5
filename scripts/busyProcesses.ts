import { spawn } from 'node:child_process';

/** Computes in short turns. Between two of them it notices that its parent has ended, however that happened. */
const script = `process.on('disconnect', () => process.exit());
const compute = () => { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(compute); };
compute();`;

/** Processes that keep the CPU busy. They also end if this process is killed. */
export type BusyProcesses = { readonly pids: readonly number[]; readonly stop: () => void };

/** Starts processes that do nothing but compute. */
export function startBusyProcesses(count: number): BusyProcesses {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
  );
  const stop = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  return { pids: children.flatMap(({ pid }) => pid ?? []), stop };
}
