import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { descendantsOf } from '../../scripts/processTree.ts';
import { withoutInspector } from '../../src/engine/shell/processes/runtimeFlags.ts';
import { domain, toolsHead } from '../engine/shell/faults/scene.ts';
import { commandLine } from '../support/commandLine.ts';
import { isRunning } from '../support/processes.ts';
import { sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';

/** A domain whose code never loads, so that every command that needs its tools waits for them. */
const endless = () => domain([], { 'tools.ts': `${toolsHead}await new Promise(() => undefined);` });

type Ended = { readonly code: number | null; readonly words: string };

function start(args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const cwd = temporaryFolder('signals');
  const child = spawn(process.execPath, ['--no-warnings', ...args], {
    cwd,
    env: { ...process.env, REHEARSAL_HOME: join(cwd, 'home') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words += text;
  });
  return { child, ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, words }))) };
}

const commands: readonly (readonly [args: readonly string[], signal: NodeJS.Signals, code: number])[] = [
  [['check', 'DOMAIN'], 'SIGTERM', 2],
  [['eval', 'DOMAIN', '--agent', 'gold'], 'SIGTERM', 143],
  [['run', 'DOMAIN', 'spared', '--agent', 'gold'], 'SIGINT', 130],
  [['tools', 'DOMAIN'], 'SIGINT', 2],
];

test.each(sampled(commands, 2))(
  'code that never loads keeps %j from ending on %s neither itself nor its worker',
  async (args, signal, code) => {
    const folder = endless();
    const { child, ended } = start([commandLine, ...args.map((arg) => (arg === 'DOMAIN' ? folder : arg))]);
    // The sandbox, and the worker in it.
    const workers = (): readonly number[] => descendantsOf(child.pid ?? 0);
    await until('a worker', () => workers().length > 1);
    const left = workers();
    child.kill(signal);
    expect(await ended).toMatchObject({ code });
    await until('the end of its processes', () => !left.some(isRunning));
  },
);

test('a process of the command line that Rehearsal starts opens no inspector on SIGUSR1, not while it starts either', async () => {
  for (const ms of [4, 8, 12, 16, 20, 40]) {
    const { child, ended } = start([...withoutInspector(), commandLine, '--version']);
    setTimeout(() => child.kill('SIGUSR1'), ms);
    expect((await ended).words).not.toContain('Debugger listening');
  }
});
