import type { ErrorObject, FuncKeywordDefinition } from 'ajv';
import { largeLimits } from '../../core/values/exactSchema.ts';
import { canonicalJson, isObject, type Json, type JsonObject, valueAt } from '../../core/values/json.ts';
import { keysOfPointer, pointerKey } from '../../core/values/jsonPointer.ts';
import { approximated, exactArguments, isLargeInteger } from '../../core/values/largeIntegers.ts';
import { exactName, isMapOfSchemas, isSchemaData } from './schemaPatterns.ts';

const limits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
type Limit = (typeof limits)[number];

/** The keywords that list values. */
const listings = ['const', 'enum'] as const;
type Listing = (typeof listings)[number];

/** The values of a keyword, with a text of digits in place of each number that is too large. */
type Values = {
  readonly values: readonly Json[];
  /** JSON Pointers of the texts that are numbers. */
  readonly numbers: readonly string[];
};

type Exact = Partial<Record<Limit, string>> & Partial<Record<Listing, Values>>;

/** Returns a schema whose limits and values beyond 2^53 are checked with all digits. */
export function withExactLimits(schema: JsonObject): JsonObject {
  const found = largeLimits(schema);
  if (!found) return schema;
  for (const { digits, holder, key, path } of found.limits) {
    const whole = [...path, key];
    const at = placeOfData(whole);
    const name = listings.find((each) => each === whole[at]);
    if (name) moveValues(valueAt(found.copy, whole.slice(0, at)) as Record<string, Json>, name, whole.slice(at + 1));
    else if (at < 0 && limits.includes(key as Limit) && isObject(holder)) moveLimit(holder, key, digits);
    else holder[key] = Number(digits);
  }
  return found.copy;
}

/** Returns the index of the keyword in a path whose value is data; -1 where all of the path is schemas. */
function placeOfData(path: readonly string[]): number {
  for (let at = 0; at < path.length; at += 1) {
    const key = path[at] ?? '';
    if (isSchemaData(key)) return at;
    // A name of its own follows.
    if (isMapOfSchemas(key)) at += 1;
  }
  return -1;
}

/** Moves the values of `const` or `enum` for the first of their numbers, and notes where each number is. */
function moveValues(schema: Record<string, Json>, name: Listing, place: readonly string[]): void {
  const exact = (schema[exactName] ?? {}) as Exact;
  const { values, numbers } = exact[name] ?? { values: valuesOf(name, schema[name]), numbers: [] };
  delete schema[name];
  const keys = name === 'enum' ? place : ['0', ...place];
  const pointer = keys.map((key) => `/${pointerKey(key)}`).join('');
  schema[exactName] = { ...exact, [name]: { values, numbers: [...numbers, pointer] } } as JsonObject;
}

const valuesOf = (name: Listing, value: Json = null): readonly Json[] =>
  name === 'enum' && Array.isArray(value) ? value : [value];

/** In draft 4, an exclusive limit is a mark of the other one. */
const exclusive: Readonly<Record<string, Limit>> = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' };

function moveLimit(schema: Record<string, Json>, key: string, digits: string): void {
  const mark = exclusive[key] ?? key;
  const isMarked = mark !== key && schema[mark] === true;
  delete schema[key];
  if (isMarked) delete schema[mark];
  schema[exactName] = { ...(schema[exactName] as JsonObject | undefined), [isMarked ? mark : key]: digits };
}

let checked: Json = null;

/** Names the value that is checked next, with a text of digits in place of each number that is too large. */
export function checkExactly(value: Json): void {
  checked = value;
}

type Validate = {
  (exact: Exact, data: Json, schema?: JsonObject, context?: { readonly instancePath: string }): boolean;
  errors?: Partial<ErrorObject>[];
};

const validate: Validate = (exact, data, _, { instancePath } = { instancePath: '' }) => {
  const number = typeof data === 'number' ? exactNumber(data, instancePath) : null;
  const errors = [
    ...(number === null ? [] : limitErrors(exact, number)),
    ...listings.flatMap((name) => valueErrors(name, exact[name], data, instancePath)),
  ];
  validate.errors = errors;
  return errors.length === 0;
};

/** The keyword for Ajv. */
export const exactKeyword: FuncKeywordDefinition = { keyword: exactName, validate, errors: true };

/** Returns a number of the value that is checked with all its digits. */
export function exactNumber(data: number, instancePath: string): bigint | number {
  const written = valueAt(checked, keysOfPointer(instancePath));
  if (typeof written === 'string' && isLargeInteger(written)) return BigInt(written);
  return Number.isInteger(data) ? BigInt(data) : data;
}

function limitErrors(exact: Exact, number: bigint | number): readonly Partial<ErrorObject>[] {
  return limits.flatMap((name) => {
    const digits = exact[name];
    if (digits === undefined) return [];
    const [isMet, words] = comparisons[name](number, BigInt(digits));
    return isMet ? [] : [{ keyword: 'exactLimit', message: `must be ${words} ${digits}`, params: { limit: digits } }];
  });
}

type Comparison = (number: bigint | number, limit: bigint) => readonly [boolean, string];
const comparisons: Readonly<Record<Limit, Comparison>> = {
  minimum: (number, limit) => [number >= limit, '>='],
  maximum: (number, limit) => [number <= limit, '<='],
  exclusiveMinimum: (number, limit) => [number > limit, '>'],
  exclusiveMaximum: (number, limit) => [number < limit, '<'],
  multipleOf: (number, limit) => [typeof number === 'bigint' && number % limit === 0n, 'a multiple of'],
};

function valueErrors(
  name: Listing,
  allowed: Values | undefined,
  data: Json,
  instancePath: string,
): readonly Partial<ErrorObject>[] {
  if (!allowed) return [];
  const { values, numbers } = allowed;
  const given = digitTextAt(data, instancePath);
  const texts = approximated({}, values, numbers).map((value, at) => digitText(value, values[at]));
  if (texts.includes(given)) return [];
  const allowedValues = exactArguments({}, values, numbers) as readonly unknown[];
  const message =
    name === 'const'
      ? `must be equal to ${JSON.stringify(allowedValues[0])}`
      : 'must be equal to one of the allowed values';
  return [{ keyword: name, message, params: { allowedValues } }];
}

/** Returns a text that equal parts of the value that is checked have in common, with all digits of their numbers. */
export function digitTextAt(part: Json, instancePath: string): string {
  return digitText(part, valueAt(checked, keysOfPointer(instancePath)));
}

/**
 * Returns a text that equal values have in common, with all digits of their numbers.
 * @param written the value with a text of digits in place of each number that is too large
 */
function digitText(value: Json, written: Json | undefined): string {
  const withDigits = (part: Json, digits: Json | undefined): Json => {
    if (typeof part === 'number') {
      const isWhole = Number.isInteger(part) && !Number.isSafeInteger(part);
      return isWhole ? { [exactName]: typeof digits === 'string' ? digits : String(BigInt(part)) } : part;
    }
    const keys = typeof digits === 'object' && digits !== null ? (digits as JsonObject) : {};
    if (Array.isArray(part)) return part.map((each, at) => withDigits(each, keys[at]));
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, withDigits(each, keys[key])]));
  };
  return canonicalJson(withDigits(value, written));
}
