import { Fault } from '../../engine/shell/files/fault.ts';
import { UsageError } from '../terminal/io.ts';
import type { Launch } from './target.ts';

/** Returns what is in the way of a run at its target, in one message that says what to change. */
export function environmentFault(code: string, message: string): Fault {
  return new Fault({ who: 'environment', code, message });
}

/** A connection over SSH that ended too early: another one may come through. */
export function cutFault(message: string): Fault {
  return new Fault({ who: 'infrastructure', code: 'ssh/failed', message });
}

/** The trainer does not take a configuration; its words get the line of the file that they are about. */
export function refusedOptions({ placed }: Launch, words: string): UsageError {
  const inFile = placed?.(words) ?? words;
  return new UsageError(inFile === words ? `the trainer refuses these options: ${words}` : inFile);
}

/**
 * @param host where it was to be; undefined: this machine
 * @param file the log, where it lies on this machine
 */
export function didNotStart(
  words: string,
  { host, file, activity = 'training' }: { readonly host?: string; readonly file?: string; readonly activity?: string },
): Fault {
  const message = `${activity} did not start${on(host)}: ${words}`;
  return new Fault({ who: 'environment', code: 'training/failed', message, ...(file === undefined ? {} : { file }) });
}

/**
 * @param name the one that was asked for; undefined: the newest
 * @param host where it was looked for; undefined: this machine
 */
export function noCheckpoint(
  run: string,
  name: string | undefined,
  names: readonly string[],
  host?: string,
): UsageError {
  const known = names.length > 0 ? `it has ${names.join(', ')}` : 'it has none yet';
  return new UsageError(`${run} has no checkpoint${name === undefined ? '' : ` "${name}"`}${on(host)}; ${known}`);
}

const on = (host: string | undefined) => (host === undefined ? '' : ` on ${host}`);
