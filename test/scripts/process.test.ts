import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { endOf } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { until } from '../support/until.ts';

const started = (script: string) => spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });

test('a process ends with its exit code', async () => {
  expect(await endOf(started('process.exit(3)'))).toEqual({ code: 3, leftovers: false });
  expect(await endOf(started('process.kill(process.pid, "SIGKILL")'))).toEqual({ code: 1, leftovers: false });
});

test('a process that was left behind with the output does not keep a step from ending', async () => {
  const orphan = `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'],
    { stdio: ['ignore', 'inherit', 'inherit'], detached: true })`;
  const child = started(`const left = ${orphan}; console.log(left.pid); left.unref()`);
  const pid = new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  expect(await endOf(child, 100)).toEqual({ code: 0, leftovers: true });
  process.kill(await pid, 'SIGKILL');
});

test.skipIf(process.platform === 'win32')('a second SIGTERM does not end a process that cleans up', async () => {
  const script = `import { interruptionSignal } from ${JSON.stringify(inRoot('scripts', 'process.ts'))};
    const signal = interruptionSignal();
    signal.addEventListener('abort', () => console.log('aborted'));
    process.stdin.on('end', () => process.exit(7)).resume();
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  await until('the start', () => said.includes('ready'));
  child.kill('SIGTERM');
  await until('the abort', () => said.includes('aborted'));
  child.kill('SIGTERM');
  child.stdin.end();
  expect(await endOf(child)).toMatchObject({ code: 7 });
});
