import type { ParseArgsOptionDescriptor } from 'node:util';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';

export type Given = {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
};

/** One command of the command line. `--json` and `--help` are every command's. */
export type Command = {
  readonly name: string;
  /** The number of positional arguments it accepts; without this, the command checks them itself. */
  readonly takes?: number;
  readonly summary: string;
  readonly help: string;
  readonly options: Readonly<Record<string, ParseArgsOptionDescriptor>>;
  readonly run: (given: Given, io: Io) => Promise<ExitCode>;
};

/** Throws a `UsageError` for what is behind the last place that a command has. No one would look at it. */
export function refuseMore({ positionals }: Given, takes: number, { help }: Pick<Command, 'help'>): void {
  const extra = positionals[takes];
  if (extra !== undefined)
    throw new UsageError(`there is no place for "${extra}" in: ${help.slice(0, help.indexOf('\n'))}`);
}

/**
 * Throws a `UsageError` for an option that means nothing in what is to be done: it would be swallowed.
 * @param what as in "does not go with WHAT"
 */
export function refuseStray({ values }: Given, allowed: readonly string[], what: string): void {
  const stray = Object.keys(values).find((name) => name !== 'json' && !allowed.includes(name));
  if (stray === undefined) return;
  const known =
    allowed.length === 0 ? 'it takes no options' : `it takes ${allowed.map((name) => `--${name}`).join(', ')}`;
  throw new UsageError(`--${stray} does not go with ${what}; ${known}`);
}

/** Every text that an option was given that can be repeated. */
export function texts(given: Given, name: string): readonly string[] {
  const values = given.values[name];
  return Array.isArray(values) ? values.map(String) : [];
}

/** The text that an option was given, if it was. */
export function text(given: Given, name: string): string | undefined {
  const value = given.values[name];
  return typeof value === 'string' ? value : undefined;
}
