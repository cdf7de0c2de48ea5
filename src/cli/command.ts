import type { ParseArgsOptionDescriptor } from 'node:util';
import type { ExitCode, Io } from './io.ts';

export type Given = {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
};

/** One command of the command line. `--json` and `--help` are every command's. */
export type Command = {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  readonly options: Readonly<Record<string, ParseArgsOptionDescriptor>>;
  readonly run: (given: Given, io: Io) => Promise<ExitCode>;
};

/** The text that an option was given, if it was. */
export function text(given: Given, name: string): string | undefined {
  const value = given.values[name];
  return typeof value === 'string' ? value : undefined;
}
