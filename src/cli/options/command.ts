import * as z from 'zod';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { optionLines, unbroken } from './help.ts';
import {
  flag,
  type json,
  type Option,
  type OptionShape,
  type OptionValues,
  optionKey,
  optionName,
  optionsIn,
  repeated,
} from './option.ts';

/** One command of the command line. */
export type Command = {
  readonly name: string;
  readonly summary: string;
  /** The words that can be its first argument. */
  readonly actions: readonly string[];
  /** The first line of its help, which shows what it takes. */
  readonly usage: string;
  /** Not wrapped yet. */
  readonly help: string;
  readonly options: readonly Option[];
  /** @param values of its options, by the names on the command line */
  readonly run: (values: object, positionals: readonly string[], io: Io) => Promise<ExitCode>;
};

type Definition<Shape extends OptionShape> = {
  readonly name: string;
  /** The number of positional arguments it accepts; without this, the command checks them itself. */
  readonly takes?: number;
  readonly summary: string;
  /** The arguments behind the name of the command. Each line is another way to call it. */
  readonly usage: string;
  /** The words that can be its first argument. */
  readonly actions?: readonly string[];
  /** Describes what the command does, for its help. */
  readonly about: string;
  readonly options: Shape;
  /** The end of its help, such as the exit codes. */
  readonly after?: string;
  readonly run: (options: OptionValues<Shape>, positionals: readonly string[], io: Io) => Promise<ExitCode>;
};

/** Makes a command. The schemas of its options parse, validate, describe and complete them. */
export function defineCommand<Shape extends OptionShape & { readonly json: typeof json }>(
  definition: Definition<Shape>,
): Command {
  const { name, takes, summary, actions = [], options: shape, run } = definition;
  const options = optionsIn(shape);
  const usages = definition.usage.split('\n').map((line) => `rehearsal ${name} ${line}`.trimEnd());
  const [usage = ''] = usages;
  return {
    ...{ name, summary, actions, usage, options },
    // Read when it is shown, because the text of a command may need files.
    get help() {
      const { about, after } = definition;
      const texts = [about, after].map((part) => unbroken(part?.trim() ?? ''));
      const [said, end] = texts;
      return `${[usages.join('\n'), said, optionLines(options).trimEnd(), end].filter(Boolean).join('\n\n')}\n`;
    },
    run: async (values, positionals, io) => {
      const named = Object.fromEntries(Object.entries(values).map(([option, value]) => [optionKey(option), value]));
      const typed = readOptions(shape, named);
      if (takes !== undefined) refuseMore(positionals, takes, { usage });
      return run(typed, positionals, io);
    },
  };
}

/** Reads the values of options. Throws a `UsageError` that names the first one that cannot be used. */
export function readOptions<Shape extends OptionShape>(shape: Shape, values: object): OptionValues<Shape> {
  const { data, error } = z.strictObject(shape).safeParse(values, { reportInput: true });
  if (!error) return data as OptionValues<Shape>;
  const [issue] = error.issues;
  const name = optionName(String(issue?.path[0]));
  const choices = optionsIn(shape).find((each) => each.name === name)?.choices ?? [];
  const hint = suggestion(String(issue?.input), choices);
  throw new UsageError(`--${name} is ${issue?.message}, not "${issue?.input}"${hint}`);
}

/** The options that every command takes and that are not its own. */
export const commonOptions: readonly Option[] = optionsIn({
  help: flag('describe the command'),
  allowKey: repeated(
    'NAME=ORIGIN',
    'send the key in the environment variable NAME to an address that it does not belong to',
  ),
  approve: repeated(
    'HASH',
    'approve the actions of a domain or an agent that a command listed under this hash; repeatable',
  ),
});

/** Returns all options of a command: its own, and those that every command takes. */
export const optionsOf = ({ options }: Pick<Command, 'options'>): readonly Option[] => [...options, ...commonOptions];

/** Throws a `UsageError` for what is behind the last place that a command has. No one would look at it. */
export function refuseMore(positionals: readonly string[], takes: number, { usage }: Pick<Command, 'usage'>): void {
  const extra = positionals[takes];
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}" in: ${usage}`);
}

/**
 * Throws a `UsageError` for an option that means nothing in what is to be done: it would be swallowed.
 * @param what as in "cannot be used with WHAT"
 */
export function refuseStray<Options extends object>(
  options: Options,
  allowed: readonly (keyof Options & string)[],
  what: string,
): void {
  const stray = Object.keys(options).find((key) => key !== 'json' && !allowed.some((each) => each === key));
  if (stray === undefined) return;
  const names = allowed.map((key) => `--${optionName(key)}`).join(', ');
  const known = names === '' ? 'it takes no options' : `it takes ${names}`;
  throw new UsageError(`--${optionName(stray)} cannot be used with ${what}; ${known}`);
}
