import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { isObject, type Json, type JsonObject, jsonOf, withoutNulls } from '../../core/values/json.ts';
import { exactText, isExactNumber, losesDigits, rawJson } from '../../core/values/largeIntegers.ts';
import { isTooDeep } from '../../core/values/nesting.ts';
import { requestNumber, withMarkedIds } from './numericId.ts';

/** An error as servers write it: the code may be missing, the message may be empty, and null means absent. */
const errorSchema = z.looseObject({
  code: z.number().int().catch(ErrorCode.InternalError),
  message: z.preprocess(
    (message) => (isObject(message as Json) ? JSON.stringify(message) : message),
    z.string().catch(''),
  ),
  data: z.unknown().optional(),
});

const answerSchema = z.looseObject({
  id: z.unknown().optional(),
  error: z.unknown().optional(),
  result: z.unknown().optional(),
});

/** Levels of lists and objects in a message. The stack is not enough to write a much deeper one. */
const deepestMessage = 1000;
const tooDeep = `the answer is more than ${deepestMessage} levels deep`;

/**
 * Parses a JSON-RPC message of a server. An answer that is too deep is an error. An answer may have a null where the
 * specification leaves a key out. Throws a SyntaxError for a text that is not JSON, and a ZodError for JSON that is not a
 * message.
 * @param requestId the id of the request that an error without an id answers
 */
export function readMessage(text: string, requestId?: number | string): JSONRPCMessage {
  const value = JSON.parse(text) as Json;
  const answer = answerSchema.safeParse(value);
  const isDeep = isTooDeep(value, deepestMessage);
  if (!answer.success || 'method' in answer.data) {
    if (isDeep) throw new SyntaxError(tooDeep);
    return JSONRPCMessageSchema.parse(requestOf(withMarkedIds(value, text)));
  }
  const id = answer.data.id ?? requestId;
  const { error, result } = isDeep ? shallowAnswer(answer.data.result as Json) : answer.data;
  const isVersioned = messageSchema.safeParse(value).success;
  if (error === undefined || error === null)
    return JSONRPCMessageSchema.parse({
      jsonrpc: '2.0',
      id,
      result: resultOf(text, isVersioned ? (result ?? null) : result),
    });
  const sent = !isDeep && losesDigits(text) ? (rawJson(text) as { readonly error: unknown }).error : error;
  const { code, message, data: given } = errorOf(typeof sent === 'string' ? { message: sent } : sent);
  const isText = typeof given !== 'string' && !isDeep && losesDigits(text) && (given ?? null) !== null;
  const data = isText ? JSON.stringify(given) : given;
  return JSONRPCMessageSchema.parse({
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    error: { code, message, ...(data === undefined || data === null ? {} : { data }) },
  });
}

/** Returns what is read of an answer that is too deep. In a list of tools, the others can be used. */
function shallowAnswer(result: Json | undefined): { readonly error?: object; readonly result?: Json } {
  if (!isObject(result) || !Array.isArray(result['tools'])) return { error: { message: tooDeep } };
  return { result: cutAt(result, deepestMessage) };
}

/** Returns a value with null in place of each list and object that is more levels deep. */
function cutAt(value: Json, levels: number): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((each) => cutAt(each, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cutAt(each, levels - 1)]));
}

/**
 * Returns a request or a notification without the keys that are null, in its parameters too. Its version may be missing, and
 * the progress that it reports may be a text such as 40%.
 */
function requestOf(message: Json): unknown {
  if (!isObject(message)) return message;
  const { params: written, ...given } = withoutNulls(message);
  const rest: JsonObject = { ...given, jsonrpc: '2.0' };
  if (written === undefined) return rest;
  const params = isObject(written) ? withoutNulls(written) : written;
  return { ...rest, params: rest['method'] === 'notifications/progress' ? progressSchema.parse(params) : params };
}

const progressSchema = z.looseObject({
  progress: z.preprocess((progress) => Number.parseFloat(String(progress)), z.number().catch(0)),
  total: z.number().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/** The key of the text in the `_meta` of a result that has all digits of its numbers. */
const exactKey = 'rehearsal/exact-result';

/**
 * Returns a result as an object, which the SDK requires, without its `_meta`: nothing reads it, and the SDK refuses the
 * whole message for a value that it does not expect in it. Any other value, null too, is the content of the result. A
 * result with a number that a JavaScript number cannot hold has its own text in `_meta`.
 */
function resultOf(text: string, result: unknown): unknown {
  if (result === undefined) return result;
  const read = asObject(result as Json);
  if (!losesDigits(text)) return read;
  const exact = exactText(text, (message: { readonly result: unknown }) => message.result);
  return { ...read, _meta: { [exactKey]: exact } };
}

function asObject(result: Json): JsonObject {
  if (!isObject(result) || isExactNumber(result)) return { content: result ?? [] };
  const { _meta, ...rest } = result;
  return rest;
}

/** Returns a result that the SDK gives, in which `JSON.stringify` writes all digits of every number. */
export function exactResult(sent: object): JsonObject {
  const exact = ((sent as JsonObject)['_meta'] as JsonObject | undefined)?.[exactKey];
  return exact === undefined ? (sent as JsonObject) : asObject(rawJson(String(exact)) as Json);
}

const messageSchema = z.looseObject({ jsonrpc: z.literal('2.0') });

/** Returns the JSON of each message of a text. MCP of 2025-03-26 allows several in a list. */
export function batchOf(text: string): readonly string[] {
  const value = text.startsWith('[') ? jsonOf(text) : undefined;
  return Array.isArray(value) ? (rawJson(text) as unknown[]).map((message) => JSON.stringify(message)) : [text];
}

/** Returns whether a text is a message of MCP. Gateways and logs write their own errors as JSON too. */
export const isMessage = (text: string): boolean => messageSchema.safeParse(jsonOf(text)).success;

/** Methods of what a server sends on its own. */
const ofServer = /^(?:notifications\/.+|ping|roots\/list|sampling\/createMessage|elicitation\/create)$/;

const unversionedSchema = z.union([
  z.strictObject({ id: z.union([z.number(), z.string()]), result: z.unknown() }),
  z.strictObject({ id: z.union([z.number(), z.string()]), error: z.looseObject({ message: z.string() }) }),
  z.strictObject({ id: z.unknown().optional(), method: z.string().regex(ofServer), params: z.unknown().optional() }),
]);

/**
 * Returns whether a text is a message of MCP without its version: what a server sends on its own, or the answer to an open
 * request. It has no other keys, as a program may log JSON with an id and a result.
 */
export function isUnversioned(text: string, open: ReadonlySet<number>): boolean {
  const { data } = unversionedSchema.safeParse(jsonOf(text));
  return data !== undefined && ('method' in data || open.has(requestNumber(data.id)));
}

function errorOf(error: unknown): z.infer<typeof errorSchema> {
  const read = errorSchema.safeParse(error);
  return read.success ? read.data : { code: ErrorCode.InternalError, message: JSON.stringify(error), data: undefined };
}
