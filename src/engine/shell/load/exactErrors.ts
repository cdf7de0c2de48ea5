import type { ErrorObject } from 'ajv';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
import {
  approximated,
  exactArguments,
  isLargeInteger,
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

/**
 * Returns how a value differs from its schema. Limits are compared with all digits of its numbers, which are checked as the
 * JavaScript numbers next to them on both sides.
 */
export function exactErrors({ errorsOf }: Compiled, checked: Checked): readonly ErrorObject[] {
  const { schema, value, integers } = checked;
  if (largeTextPlaces(value).length === 0) return errorsOf(value);
  const errorsWith = (number: (digits: string) => number) =>
    unmetErrors(errorsOf(approximated(schema, value, integers, number), value), value);
  const errors = errorsWith(Number);
  const isNew = ({ instancePath, schemaPath }: ErrorObject) =>
    !errors.some((each) => each.instancePath === instancePath && each.schemaPath === schemaPath);
  const beyond = errorsWith(otherNumber).filter((error) => isLimit(error) && isLargeAt(error, value) && isNew(error));
  return [...errors, ...beyond];
}

/**
 * Returns how a value of `rawJson` differs from a schema; nothing where the schema cannot be compiled. All errors are found,
 * as some of them are only those of JavaScript numbers next to a large one.
 */
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
  const added = texts.filter((place) => before.has(place));
  if (added.length === 0) return marked;
  const after = refused([...marked, ...added]);
  return [...marked, ...added.filter((place) => !after.has(place))];
}

/**
 * Returns arguments for `JSON.stringify`, with a number in place of each text of digits that is one.
 * @param marked JSON Pointers of texts that were written as numbers
 */
export function sentArguments(schema: JsonObject, given: JsonObject, marked?: readonly string[]): object {
  return exactArguments(schema, given, integersIn(schema, given, marked));
}

/** Returns a JavaScript number on the other side of an integer than the closest one; that number if it is the integer. */
function otherNumber(digits: string): number {
  const closest = Number(digits);
  if (!Number.isFinite(closest)) return closest;
  const difference = BigInt(digits) - BigInt(closest);
  if (difference === 0n) return closest;
  return closest + Math.abs(closest) * 2 ** -52 * (difference > 0n ? 1 : -1);
}

/** Returns errors without those of limits that a number keeps, although the JavaScript number that was checked does not. */
function unmetErrors(errors: readonly ErrorObject[], value: Json): readonly ErrorObject[] {
  const met = errors.filter((error) => keepsLimit(error, valueAt(value, error)));
  if (met.length === 0) return errors;
  const unmet = errors.filter((error) => !met.includes(error));
  const fitting = unmet.filter((form) => {
    if (form.keyword !== 'anyOf' && form.keyword !== 'oneOf') return false;
    const branches = met.filter((error) => isWithin(error, form)).map((error) => branchOf(error, form));
    return branches.some((branch) => !unmet.some((error) => isWithin(error, form) && branchOf(error, form) === branch));
  });
  return unmet.filter((error) => !fitting.some((form) => error === form || isWithin(error, form)));
}

const isWithin = (error: ErrorObject, form: ErrorObject) =>
  error.schemaPath.startsWith(`${form.schemaPath}/`) && error.instancePath.startsWith(form.instancePath);

/** Returns which form of an anyOf or a oneOf an error is about. */
const branchOf = (error: ErrorObject, form: ErrorObject) =>
  error.schemaPath.slice(form.schemaPath.length + 1).split('/')[0];

const isLimit = ({ keyword }: ErrorObject) => /^(?:exclusive)?(?:min|max)imum$/i.test(keyword);

function isLargeAt(error: ErrorObject, value: Json): boolean {
  const number = valueAt(value, error);
  return typeof number === 'string' && isLargeInteger(number);
}

function keepsLimit({ keyword, params }: ErrorObject, value: Json | undefined): boolean {
  if (typeof value !== 'string' || !isLargeInteger(value)) return false;
  const exact = BigInt(value);
  const { limit, multipleOf } = params as { readonly limit: number; readonly multipleOf: number };
  switch (keyword) {
    case 'minimum':
      return exact >= limit;
    case 'exclusiveMinimum':
      return exact > limit;
    case 'maximum':
      return exact <= limit;
    case 'exclusiveMaximum':
      return exact < limit;
    case 'multipleOf':
      return Number.isInteger(multipleOf) && exact % BigInt(multipleOf) === 0n;
    default:
      return false;
  }
}

function valueAt(value: Json, { instancePath }: ErrorObject): Json | undefined {
  return keysOfPointer(instancePath).reduce<Json | undefined>(
    (at, key) => (at as JsonObject | undefined | null)?.[key],
    value,
  );
}
