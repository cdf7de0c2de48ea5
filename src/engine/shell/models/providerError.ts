import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { type Json, type JsonObject, jsonOf } from '../../core/values/json.ts';
import { withDigits } from '../../core/values/largeIntegers.ts';
import { isTooDeep } from '../../core/values/nesting.ts';
import { isContextRefusal } from './contextLimit.ts';

/** An error in the body of an answer. */
export type ProviderError = {
  /** The provider's own words. */
  readonly message: string;
  /** The status of such an error, for an answer whose own status is a success. */
  readonly status: number;
  /** All fields of the error. */
  readonly fields: JsonObject;
};

/** Fields in which servers write an error that is not under `error`. */
const places = ['errors', 'detail', 'base_resp', 'message', 'msg', 'error_msg'] as const;
/** The fields of an error with words in them, the clearest first. */
const wordFields = ['message', 'msg', 'detail', 'error_msg', 'status_msg', 'error', 'reason', 'type'] as const;

/** Pydantic names the place of a problem. */
const placedSchema = z.looseObject({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() });
/** A router has the words of the provider behind it there, often as JSON. */
const routedSchema = z.looseObject({ metadata: z.looseObject({ raw: z.unknown() }) });

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of an object; undefined for any other value. */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Levels in which words are looked for, and items of a list that are quoted. */
const deepestWords = 4;
const mostItems = 5;

/** Whether a value says nothing: several servers write an empty one in place of null. */
export function isBlank(value: unknown, levels = deepestWords): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value !== 'object' || value === null) return !value;
  return levels > 0 && Object.values(value).every((each) => isBlank(each, levels - 1));
}

/** Returns the error under a field `error`; null for one that is absent or says nothing. */
export function errorOf(given: unknown): ProviderError | null {
  if (isBlank(given)) return null;
  const words = wordsIn(given);
  if (words === '') return null;
  const fields = isTooDeep(given) ? undefined : (fieldsOf(withDigits(given as Json)) as JsonObject | undefined);
  return { message: words, status: statusOf(fields ?? {}, words), fields: fields ?? {} };
}

/** The status of an error that says nothing about it: as for a failure behind the endpoint, it is asked again. */
export const unknownStatus = 502;

/** Fields of an error with a status, or with the name of one. */
const statusFields = ['code', 'status', 'status_code', 'http_status_code', 'type'] as const;
/** The status for each name of an error that refuses an account, a key, a limit or a request. */
const namedStatuses: readonly (readonly [name: RegExp, status: number])[] = [
  [/insufficient_(?:quota|balance|credits|funds)/i, 402],
  [/authentication|invalid_api_key|unauthorized/i, 401],
  [/rate_?limit|too_?many_?requests|resource_exhausted|throttling/i, 429],
  [/overloaded/i, 529],
  [/invalid_?(?:request|argument)|bad_?request/i, 400],
];
/** The same of limits in the words of an error, which are words about anything. */
const wordedStatuses: readonly (readonly [words: RegExp, status: number])[] = [
  [/insufficient (?:quota|balance|credits|funds)/i, 402],
  [/rate.?limit|too many requests/i, 429],
  [/\boverloaded\b/i, 529],
];

/** Whether a number is a status of an error, and not a code of a provider's own. */
const isErrorStatus = (value: number) => (value >= 500 && value < 600) || (value >= 400 && value in STATUS_CODES);

function statusOf(data: Fields, message: string): number {
  const values = statusFields.map((name) => data[name]);
  const number = values.map(Number).find(isErrorStatus);
  if (number !== undefined) return number;
  if (isContextRefusal({ code: data['code'], errorType: data['type'], status: 400, message })) return 400;
  const name = values.filter((value) => typeof value === 'string').join(' ');
  const of = (statuses: typeof namedStatuses, text: string) => statuses.find(([pattern]) => pattern.test(text))?.[1];
  return of(wordedStatuses, message) ?? of(namedStatuses, name) ?? unknownStatus;
}

/** Returns the error that a body has in place of an answer; null where it has none. Gemini sends it in a list. */
export function errorIn(body: unknown): ProviderError | null {
  const data = fieldsOf(Array.isArray(body) ? body[0] : body);
  if (!data) return null;
  const own = errorOf(data['error']);
  if (own) return own;
  const place = places.find((name) => !isBlank(data[name]) && wordsIn(data[name]) !== '');
  // vLLM and SGLang write the fields of an error without one around them.
  const error = place && errorOf(typeof data[place] === 'string' ? data : { ...data, message: wordsIn(data[place]) });
  return error || null;
}

/** Returns the words in an error of any form. */
function wordsIn(value: unknown, levels = deepestWords): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value !== 'object' || value === null || levels === 0) return '';
  const below = (each: unknown) => wordsIn(each, levels - 1);
  if (Array.isArray(value)) return value.slice(0, mostItems).map(below).filter(Boolean).join('; ');
  const { data: placed } = placedSchema.safeParse(value);
  if (placed) return `${placed.loc.join('.')}: ${placed.msg}`;
  const own = wordFields.map((name) => below((value as Fields)[name])).find(Boolean);
  if (own === undefined) return isBlank(value) || isTooDeep(value) ? '' : JSON.stringify(value);
  const raw = routedSchema.safeParse(value).data?.metadata.raw;
  const routed = typeof raw === 'string' ? below(jsonOf(raw)) || raw.trim() : below(raw);
  return routed === '' || own.includes(routed) ? own : `${own}: ${routed}`;
}
