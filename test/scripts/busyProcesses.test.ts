import { spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { startBusyProcesses } from '../../scripts/busyProcesses.ts';
import { inRoot } from '../../scripts/repository.ts';
import { isRunning, killIfRunning } from '../support/processes.ts';
import { until } from '../support/until.ts';

const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) killIfRunning(pid);
});

test('busy processes run until they are stopped', async () => {
  const busy = startBusyProcesses(2);
  started.push(...busy.pids);
  expect(busy.pids.map(isRunning)).toEqual([true, true]);
  busy.stop();
  await until('the end of both', () => !busy.pids.some(isRunning));
});

test('a busy process ends when the process that started it is killed', async () => {
  const script = `import { startBusyProcesses } from ${JSON.stringify(inRoot('scripts', 'busyProcesses.ts'))};
    console.log(startBusyProcesses(1).pids[0]);
    setInterval(() => {}, 1e9);`;
  const args = ['--input-type=module', '-e', script];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (text) => resolve(Number(text))));
  started.push(pid);
  parent.kill('SIGKILL');
  await until('its end', () => !isRunning(pid));
});
