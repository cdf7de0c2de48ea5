import { finiteText, type Json, jsonOf } from '../../core/values/json.ts';
import { isExactNumber, withDigits, writtenJson } from '../../core/values/largeIntegers.ts';
import { isTooDeep } from '../../core/values/nesting.ts';

/** llama.cpp and Ollama send the arguments of a call as an object. */
const hasObjectArguments = (text: string) => /"arguments"\s*:\s*[{[]/.test(text);

/**
 * Returns the body of an answer, or an event of a stream, as JSON; undefined for a text that is not JSON, except for the
 * NaN and Infinity of servers in Python. Numbers in the arguments of a call are values that `JSON.stringify` writes as they
 * came: 5.0 and whole numbers beyond 2^53, too.
 */
export function bodyJson(body: string): unknown {
  const text = finiteText(body);
  const value = jsonOf(text);
  if (!hasObjectArguments(text) || isTooDeep(value)) return value;
  return plainOutsideArguments(writtenJson(text) as Json, false);
}

function plainOutsideArguments(value: Json, isCall: boolean): Json {
  if (Array.isArray(value)) return value.map((each) => plainOutsideArguments(each, isCall));
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return withDigits(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (isCall && key === 'arguments') return [key, each];
      const isInside = key === 'tool_calls' || key === 'function_call' || (isCall && key === 'function');
      return [key, plainOutsideArguments(each, isInside)];
    }),
  );
}
