/** Output of the development commands: progress, times, sizes and failures. */

import { nearest } from '../src/engine/shell/source/nearest.ts';

const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;

/** Returns the text in an ANSI style if the terminal supports colours. */
export function style(code: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string): string {
  const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };
  return colour ? `\u001b[${codes[code]}m${text}\u001b[0m` : text;
}

/** Prints one line about the current action. */
export function announce(text: string): void {
  console.log(`${style('bold', '▸')} ${text}`);
}

/** Prints one line as a warning. */
export function warn(text: string): void {
  console.log(style('yellow', `! ${text}`));
}

/** Returns a time span in seconds or minutes. */
export function formatDuration(ms: number): string {
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

/** Returns the time since a `performance.now()` reading. */
export function elapsed(since: number): string {
  return formatDuration(performance.now() - since);
}

/** Returns a number of bytes with a unit. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Awaits slow work and prints its time every ten seconds. */
export async function withHeartbeat<T>(label: string, work: Promise<T>): Promise<T> {
  const started = performance.now();
  const timer = setInterval(() => console.log(style('dim', `  … ${label}, ${elapsed(started)}`)), 10_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** An error whose message is enough to explain it. It is printed without a stack. */
export class Failure extends Error {}

/** Runs a command's main function and turns a failure into one message and exit code 1. */
export async function runMain(main: (args: string[]) => Promise<number | undefined>, usage = ''): Promise<void> {
  try {
    process.exitCode = (await main(process.argv.slice(2))) ?? 0;
  } catch (error) {
    const { message, stack, code = '' } = error as NodeJS.ErrnoException;
    // `parseArgs` explains a wrong option by its message alone.
    const isExplained = error instanceof Failure || code.startsWith('ERR_PARSE_ARGS');
    console.error(style('red', isExplained ? withMeantOption(message, usage) : (stack ?? message)));
    process.exitCode = 1;
  }
}

/** Returns the message about an unknown option with the option of the usage that was most likely meant. */
export function withMeantOption(message: string, usage: string): string {
  const [unknown, option = ''] = /^Unknown option '(--.*?)'/.exec(message) ?? [];
  const meant = unknown === undefined ? undefined : nearest(option, usage.match(/--[a-z][a-z-]+/g) ?? []);
  return meant === undefined ? message : `${unknown}. Did you mean "${meant}"?`;
}
