import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { commandsWithLeftovers, endOf, runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { until } from '../support/until.ts';

const started = (script: string) => spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });

test('a process ends with its exit code', async () => {
  expect(await endOf(started('process.exit(3)'))).toEqual({ code: 3, leftovers: false });
  expect(await endOf(started('process.kill(process.pid, "SIGKILL")'))).toEqual({ code: 1, leftovers: false });
});

const leaves = `const left = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'],
  { stdio: ['ignore', 'inherit', 'inherit'], detached: true }); console.log(left.pid); left.unref()`;

test('a process that was left behind with the output does not keep a step from ending', async () => {
  const child = started(leaves);
  const pid = new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  expect(await endOf(child, 100)).toEqual({ code: 0, leftovers: true });
  process.kill(await pid, 'SIGKILL');
});

test('a command that leaves a process behind has its own exit code, and is named', async () => {
  const { code, output } = await runCommand(process.execPath, ['-e', leaves], { outputMs: 100 });
  process.kill(Number(output), 'SIGKILL');
  expect([code, commandsWithLeftovers().filter((line) => line.includes('const left = '))]).toEqual([
    0,
    [expect.stringMatching(/^a process of .*, which keeps its output open$/)],
  ]);
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
