import type { ErrorObject, FuncKeywordDefinition } from 'ajv';
import { largeLimits } from '../../core/values/exactSchema.ts';
import { canonicalJson, isObject, type Json, type JsonObject, valueAt } from '../../core/values/json.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
import { isLargeInteger } from '../../core/values/largeIntegers.ts';

/** The keyword that has the limits of a schema that a JavaScript number cannot hold, in place of the usual keywords. */
const keyword = 'rehearsal-exact';

const limits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'const'] as const;
type Limit = (typeof limits)[number];

type Exact = Partial<Record<Limit, string>> & {
  /** The values of an `enum`, and which of them are digits of a number. */
  readonly enum?: readonly Json[];
  readonly numbers?: readonly string[];
};

/** Returns a schema whose limits beyond 2^53 are checked with all digits. */
export function withExactLimits(schema: JsonObject): JsonObject {
  const found = largeLimits(schema);
  if (!found) return schema;
  for (const { digits, holder, key, path } of found.limits) {
    const parent = valueAt(found.copy, path.slice(0, -1)) as Record<string, Json> | undefined;
    if (limits.includes(key as Limit) && isObject(holder)) moveLimit(holder, key, digits);
    else if (path.at(-1) === 'enum' && parent && Array.isArray(holder)) moveEnum(parent, holder, digits);
    else holder[key] = Number(digits);
  }
  return found.copy;
}

/** In draft 4, an exclusive limit is a mark of the other one. */
const exclusive: Readonly<Record<string, Limit>> = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' };

function moveLimit(schema: Record<string, Json>, key: string, digits: string): void {
  const mark = exclusive[key] ?? key;
  const isMarked = mark !== key && schema[mark] === true;
  delete schema[key];
  if (isMarked) delete schema[mark];
  schema[keyword] = { ...(schema[keyword] as JsonObject | undefined), [isMarked ? mark : key]: digits };
}

function moveEnum(schema: Record<string, Json>, values: readonly Json[], digits: string): void {
  delete schema['enum'];
  const known = (schema[keyword] ?? {}) as Exact;
  schema[keyword] = { ...known, enum: values, numbers: [...(known.numbers ?? []), digits] } as JsonObject;
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
  const errors = [...limitErrors(exact, number), ...enumErrors(exact, data, number)];
  validate.errors = errors;
  return errors.length === 0;
};

/** The keyword for Ajv. */
export const exactKeyword: FuncKeywordDefinition = { keyword, validate, errors: true };

/** Returns a number of the value that is checked with all its digits. */
export function exactNumber(data: number, instancePath: string): bigint | number {
  const written = valueAt(checked, keysOfPointer(instancePath));
  if (typeof written === 'string' && isLargeInteger(written)) return BigInt(written);
  return Number.isInteger(data) ? BigInt(data) : data;
}

function limitErrors(exact: Exact, number: bigint | number | null): readonly Partial<ErrorObject>[] {
  return limits.flatMap((name) => {
    const digits = exact[name];
    if (digits === undefined || (number === null && name !== 'const')) return [];
    const [isMet, words] = comparisons[name](number ?? 0, BigInt(digits));
    if (isMet && number !== null) return [];
    return [{ keyword: 'exactLimit', message: `must be ${words} ${digits}`, params: { limit: digits } }];
  });
}

type Comparison = (number: bigint | number, limit: bigint) => readonly [boolean, string];
const comparisons: Readonly<Record<Limit, Comparison>> = {
  minimum: (number, limit) => [number >= limit, '>='],
  maximum: (number, limit) => [number <= limit, '<='],
  exclusiveMinimum: (number, limit) => [number > limit, '>'],
  exclusiveMaximum: (number, limit) => [number < limit, '<'],
  multipleOf: (number, limit) => [typeof number === 'bigint' && number % limit === 0n, 'a multiple of'],
  const: (number, limit) => [number === limit, 'equal to'],
};

function enumErrors(exact: Exact, data: Json, number: bigint | number | null): readonly Partial<ErrorObject>[] {
  const { enum: values, numbers = [] } = exact;
  if (!values) return [];
  const isIn =
    number === null
      ? values.some((value) => !isNumber(value, numbers) && canonicalJson(value) === canonicalJson(data))
      : values.some((value) => (isNumber(value, numbers) ? BigInt(value as string) === number : value === data));
  const params = { allowedValues: values };
  return isIn ? [] : [{ keyword: 'enum', message: 'must be equal to one of the allowed values', params }];
}

const isNumber = (value: Json, numbers: readonly string[]) => typeof value === 'string' && numbers.includes(value);
