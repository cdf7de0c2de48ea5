import type { ErrorObject } from 'ajv';
import type { Json, JsonObject } from '../../core/values/json.ts';
import {
  approximated,
  exactArguments,
  largeIntegerPlaces,
  largeTextPlaces,
  withDigits,
} from '../../core/values/largeIntegers.ts';
import { type CompiledSchema, compileSchema } from './schemaCompiler.ts';

type Compiled = Extract<CompiledSchema, { readonly errorsOf: unknown }>;

/** A value with a text of digits in place of each number that is too large, and the schema that it is checked with. */
export type Checked = {
  readonly schema: JsonObject;
  readonly value: Json;
  /** JSON Pointers of texts that are numbers. */
  readonly integers: readonly string[];
};

/** Returns how a value differs from its schema. Limits are compared with all digits of its numbers. */
export function exactErrors({ errorsOf }: Compiled, { schema, value, integers }: Checked): readonly ErrorObject[] {
  return errorsOf(approximated(schema, value, integers), value);
}

/** Returns how a value of `rawJson` differs from a schema; nothing where the schema cannot be compiled. */
export function exactDataErrors(schema: JsonObject, data: Json): readonly ErrorObject[] {
  const compiled = compileSchema(schema);
  if ('problem' in compiled) return [];
  const integers = largeIntegerPlaces(JSON.stringify(data));
  return exactErrors(compiled, { schema: {}, value: withDigits(data), integers });
}

/** Returns the JSON Pointers of texts that are numbers: the marked ones, and those that only fit the schema as numbers. */
export function integersIn(schema: JsonObject, value: JsonObject, marked: readonly string[] = []): readonly string[] {
  const texts = largeTextPlaces(value).filter((place) => !marked.includes(place));
  const compiled = texts.length > 0 ? compileSchema(schema) : { problem: '' };
  if ('problem' in compiled) return marked;
  const refused = (integers: readonly string[]) => {
    const errors = exactErrors(compiled, { schema, value, integers });
    return new Set(errors.map(({ instancePath }) => instancePath));
  };
  const before = refused(marked);
  // The values of `const` and `enum` may be objects, which are refused as a whole.
  const reasons = (place: string) =>
    before.has(place) ? [place] : [...before].filter((each) => place.startsWith(`${each}/`));
  const added = texts.filter((place) => reasons(place).length > 0);
  if (added.length === 0) return marked;
  const after = refused([...marked, ...added]);
  return [...marked, ...added.filter((place) => reasons(place).every((each) => !after.has(each)))];
}

/**
 * Returns arguments for `JSON.stringify`, with a number in place of each text of digits that is one.
 * @param marked JSON Pointers of texts that were written as numbers
 */
export function sentArguments(schema: JsonObject, given: JsonObject, marked?: readonly string[]): object {
  return exactArguments(schema, given, integersIn(schema, given, marked));
}
