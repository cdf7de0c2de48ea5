import { spawnSync } from 'node:child_process';
import { commandLine } from '../support/commandLine.ts';

/** Whether this machine has `script` of util-linux, which gives a process a terminal. */
export const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

/** Returns the output of the command line in a terminal. */
export function shownInTerminal(argv: readonly string[], environment: NodeJS.ProcessEnv = {}): string {
  const words = [process.execPath, '--no-warnings', commandLine, ...argv].map((word) => `'${word}'`).join(' ');
  const env = { ...process.env, TERM: 'xterm', ...environment };
  const { stdout, error } = spawnSync('script', ['-qec', `exec ${words}`, '/dev/null'], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A command that asks something would otherwise wait forever, and block the tests.
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  if (error) throw error;
  return stdout;
}

/** Matches sequences that set the title, clear the screen, write the clipboard or ring. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be shown
export const terminalCommands = /\u001b\][^\u0007]*|\u001b\[2J|\u0007/;
