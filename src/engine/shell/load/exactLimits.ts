import type { Ajv, ErrorObject, FuncKeywordDefinition } from 'ajv';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { digitTextAt, exactNumber } from './exactKeyword.ts';

// Ajv checks JavaScript numbers. The keywords here compare all digits of a number that is too large for one, wherever in a
// schema they are.

type Validate = {
  (limit: number, data: number, schema?: JsonObject, context?: { readonly instancePath: string }): boolean;
  errors?: Partial<ErrorObject>[];
};

type Comparison = { readonly sign: string; readonly isMet: (number: bigint | number, limit: number) => boolean };

const comparisons = {
  minimum: { sign: '>=', isMet: (number, limit) => number >= limit },
  maximum: { sign: '<=', isMet: (number, limit) => number <= limit },
  exclusiveMinimum: { sign: '>', isMet: (number, limit) => number > limit },
  exclusiveMaximum: { sign: '<', isMet: (number, limit) => number < limit },
} as const satisfies Readonly<Record<string, Comparison>>;

type Limit = keyof typeof comparisons;

/** Replaces the keywords that compare numbers. */
export function addExactLimits(ajv: Ajv): void {
  // In draft 4, the exclusive limits are marks of the others.
  const isMarked = ajv.opts.schemaId === 'id';
  const limits = Object.keys(comparisons) as Limit[];
  const kept = isMarked ? limits.slice(0, 2) : limits;
  for (const definition of [...kept.map((name) => limitKeyword(name, isMarked)), multipleOf, uniqueItems])
    ajv.removeKeyword(definition.keyword as string).addKeyword(definition);
}

function limitKeyword(name: Limit, isMarked: boolean): FuncKeywordDefinition {
  const exclusive = name === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  const validate: Validate = (limit, data, schema, context) => {
    const keyword = isMarked && schema?.[exclusive] === true ? exclusive : name;
    const { sign, isMet } = comparisons[keyword];
    const params = { comparison: sign, limit };
    validate.errors = [{ keyword: name, params, message: `must be ${sign} ${limit}` }];
    return isMet(digitsOf(data, context), limit);
  };
  return { keyword: name, type: 'number', schemaType: 'number', errors: true, validate };
}

const isMultiple: Validate = (factor, data, _schema, context) => {
  isMultiple.errors = [
    { keyword: 'multipleOf', params: { multipleOf: factor }, message: `must be multiple of ${factor}` },
  ];
  const number = digitsOf(data, context);
  if (typeof number === 'bigint' && Number.isInteger(factor)) return number % BigInt(factor) === 0n;
  const quotient = Number(number) / factor;
  // 19.99 is a multiple of 0.01, and their quotient is not a whole number.
  return Math.abs(Math.round(quotient) - quotient) <= 1e-8;
};
const multipleOf: FuncKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  errors: true,
  validate: isMultiple,
};

type ValidateList = {
  (isWanted: boolean, data: readonly Json[], schema?: JsonObject, context?: { readonly instancePath: string }): boolean;
  errors?: Partial<ErrorObject>[];
};

const areUnique: ValidateList = (isWanted, data, _schema, { instancePath } = { instancePath: '' }) => {
  if (!isWanted) return true;
  const places = new Map<string, number>();
  for (const [at, item] of data.entries()) {
    const text = digitTextAt(item, `${instancePath}/${at}`);
    const first = places.get(text);
    if (first !== undefined) {
      const message = `must NOT have duplicate items (items ## ${first} and ${at} are identical)`;
      areUnique.errors = [{ keyword: 'uniqueItems', params: { i: at, j: first }, message }];
      return false;
    }
    places.set(text, at);
  }
  return true;
};
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: true,
  validate: areUnique,
};

/** Returns a number with all its digits. */
const digitsOf = (data: number, { instancePath } = { instancePath: '' }): bigint | number =>
  Number.isSafeInteger(data) ? data : exactNumber(data, instancePath);
