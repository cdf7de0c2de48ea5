import { finiteText, isObject, type Json, jsonOf } from '../../core/values/json.ts';
import { isExactNumber, losesDigits, rawJson, writtenJson } from '../../core/values/largeIntegers.ts';
import { isTooDeep } from '../../core/values/nesting.ts';
import { argumentNames } from './callForm.ts';

/** llama.cpp, Ollama and Anthropic send the arguments of a call as an object. */
const objectArguments = new RegExp(`"(?:${argumentNames.join('|')})"\\s*:\\s*[{[]`);

/**
 * Returns the body of an answer, or an event of a stream, as JSON; undefined for a text that is not JSON, except for the
 * NaN and Infinity of servers in Python. Whole numbers beyond 2^53, and numbers such as 5.0 in the arguments of a call, are
 * values that `JSON.stringify` writes as they came.
 */
export function bodyJson(body: string): unknown {
  const text = finiteText(body);
  const value = jsonOf(text);
  const hasObjects = objectArguments.test(text);
  if ((!hasObjects && !losesDigits(text)) || isTooDeep(value)) return value;
  const exact = rawJson(text) as Json;
  return hasObjects ? withWritten(exact, writtenJson(text) as Json, false) : exact;
}

/** The fields of a message that have calls. */
const callPlaces = ['tool_calls', 'function_call', 'content'];

/** Returns a value with the arguments of its calls from the same value as it was written. */
function withWritten(value: Json, written: Json, isCall: boolean): Json {
  if (Array.isArray(value))
    return value.map((each, at) => withWritten(each, (written as readonly Json[])[at] ?? null, isCall));
  if (!isObject(value) || isExactNumber(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const own = (written as { readonly [key: string]: Json })[key] ?? null;
      if (isCall && argumentNames.includes(key)) return [key, own];
      const isInside = callPlaces.includes(key) || (isCall && key === 'function');
      return [key, withWritten(each, own, isInside)];
    }),
  );
}
