import * as z from 'zod';
import { type Json, type JsonObject, jsonOf } from '../../core/values/json.ts';
import { exactJson, exactText, losesDigits, rawJson } from '../../core/values/largeIntegers.ts';
import { batchOf } from './message.ts';
import { withMarkedIds } from './numericId.ts';

/** The key of the text in the `_meta` of a request that has all digits of the numbers of its arguments. */
const exactKey = 'rehearsal/exact-arguments';

const requestSchema = z.looseObject({
  params: z.looseObject({ arguments: z.record(z.string(), z.unknown()), _meta: z.looseObject({}).optional() }),
});

/** A call whose arguments are null, which means that it has none. The SDK refuses it. */
const emptyCallSchema = z.looseObject({ params: z.looseObject({ arguments: z.null() }) });

/**
 * Parses a request of a client, or a list of them, with a text of digits in place of each number that is too large. The SDK
 * parses requests itself, so their arguments come along as a text. Throws a SyntaxError.
 */
export function exactRequest(text: string): unknown {
  if (Array.isArray(jsonOf(text))) return batchOf(text.trim()).map(exactRequest);
  const value = withoutExact(withMarkedIds(exactJson(text), text));
  const empty = emptyCallSchema.safeParse(value).data;
  if (empty) return { ...empty, params: { ...empty.params, arguments: {} } };
  const call = losesDigits(text) ? requestSchema.safeParse(value).data : undefined;
  if (!call) return value;
  const exact = exactText(
    text,
    (request: { readonly params: { readonly arguments: unknown } }) => request.params.arguments,
  );
  return { ...call, params: { ...call.params, _meta: { ...call.params._meta, [exactKey]: exact } } };
}

const markedSchema = z.looseObject({ params: z.looseObject({ _meta: z.looseObject({ [exactKey]: z.unknown() }) }) });

/** Returns a request without a text of exact arguments that the client itself has put there. */
function withoutExact(request: Json): unknown {
  const marked = markedSchema.safeParse(request).data;
  if (!marked) return request;
  const { [exactKey]: _, ...meta } = marked.params._meta;
  return { ...marked, params: { ...marked.params, _meta: meta } };
}

type CallParams = {
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
};

/** Returns the arguments of such a request. `JSON.stringify` writes all digits of their numbers. */
export function argumentsOf({ arguments: given = {}, _meta: meta }: CallParams): JsonObject {
  const exact = meta?.[exactKey];
  const read = typeof exact === 'string' ? (rawJson(exact) as Json) : given;
  return read as JsonObject;
}
