import * as z from 'zod';
import { longestMs } from '../../engine/core/values/timeLimit.ts';

/** Options by their names in camelCase: `turnCap` is `--turn-cap`. */
export type OptionShape = Readonly<Record<string, z.ZodOptional>>;

/** The values of options, as their schemas read them. */
export type OptionValues<Shape extends OptionShape> = { readonly [Key in keyof Shape]?: z.output<Shape[Key]> };

/**
 * Describes an option with a value, which the schema reads from the text that was typed. The message of the schema
 * completes the sentence "--NAME is ...".
 * @param value what the help calls the value
 */
export const option = <Schema extends z.ZodType>(value: string, description: string, schema: Schema) =>
  schema.optional().meta({ value, description });

/** An option without a value. */
export const flag = (description: string) => z.boolean().optional().meta({ description });

/** @param suggested values that completion offers; any other text is a value, too */
export const text = (value: string, description: string, suggested: readonly string[] = []) =>
  z
    .string()
    .optional()
    .meta({ value, description, names: () => suggested });

/** An option that can be given several times. */
export const repeated = (value: string, description: string, schema = z.string()) =>
  option(value, description, z.array(schema));

export const oneOf = <const Name extends string>(value: string, description: string, names: readonly Name[]) =>
  option(value, description, z.enum(names, { error: () => oneText(names) }));

const oneText = (names: readonly string[]) => (names.length > 3 ? `one of ${names.join(', ')}` : names.join(' or '));

/** One of a few names that are looked up when they are needed, such as those of folders. */
export const oneNamed = (value: string, description: string, names: () => readonly string[]) =>
  z
    .string()
    .refine((given) => names().includes(given), { error: () => oneText(names()) })
    .optional()
    .meta({ value, description, names });

const numeric = (value: string, description: string, expected: string, isExpected: (given: string) => boolean) =>
  option(value, description, z.string().refine(isExpected, expected).transform(Number));

export const wholeNumber = (value: string, description: string) =>
  numeric(value, description, 'a whole number above 0', (given) => /^[1-9][0-9]*$/.test(given));

/** A whole number from 0. */
export const fromZero = (value: string, description: string) =>
  numeric(value, description, 'a whole number from 0', (given) => /^(?:0|[1-9][0-9]*)$/.test(given));

/** A number that fulfils a condition. */
export const number = (value: string, description: string, expected: string, isExpected: (given: number) => boolean) =>
  numeric(value, description, expected, (given) => given.trim() !== '' && isExpected(Number(given)));

export const port = (description: string) =>
  numeric('N', description, 'a number from 0 to 65535', (given) => /^\d+$/.test(given) && Number(given) < 65_536);

const isTime = (given: string) => given.trim() !== '' && Number(given) > 0 && Number.isFinite(Number(given));

/** A time in seconds, read as milliseconds. */
export const seconds = (description: string) =>
  option(
    'SECONDS',
    description,
    z
      .string()
      .refine(isTime, { error: 'a number of seconds above 0', abort: true })
      .refine((given) => Number(given) * 1000 <= longestMs, `at most ${Math.floor(longestMs / 1000)} seconds`)
      .transform((given) => Number(given) * 1000),
  );

export const json = flag('machine-readable output');

/** An option as the parser, the help and completion need it. */
export type Option = {
  /** Without the hyphens before it. */
  readonly name: string;
  readonly type: 'boolean' | 'string';
  readonly multiple: boolean;
  /** The name of its value in the help. */
  readonly value: string | undefined;
  readonly description: string;
  /** The values that completion offers: all of them, if it is one of a few. */
  readonly choices: readonly string[];
};

type Described = {
  readonly value?: string;
  readonly description?: string;
  readonly names?: () => readonly string[];
};

export const optionsIn = (shape: OptionShape): readonly Option[] =>
  Object.entries(shape).map(([key, schema]) => {
    const { value, description = '', names } = (schema.meta() ?? {}) as Described;
    const inner = schema.unwrap();
    return {
      name: optionName(key),
      type: inner instanceof z.ZodBoolean ? 'boolean' : 'string',
      multiple: inner instanceof z.ZodArray,
      value,
      description,
      get choices() {
        return inner instanceof z.ZodEnum ? inner.options.map(String) : (names?.() ?? []);
      },
    };
  });

/** Returns the names of options in camelCase. */
export const keysOf = <Shape extends OptionShape>(shape: Shape) => Object.keys(shape) as (keyof Shape & string)[];

/** `turnCap` as `turn-cap`. */
export const optionName = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `turn-cap` as `turnCap`. */
export const optionKey = (name: string) => name.replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());
