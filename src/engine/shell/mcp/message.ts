import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { exactJson, exactText, losesDigits } from '../../core/largeIntegers.ts';

/** An error as servers write it: the code may be missing, the message may be empty, and null means absent. */
const errorSchema = z.looseObject({
  code: z.number().int().catch(-32603),
  message: z.string().catch(''),
  data: z.unknown().optional(),
});

const answerSchema = z.looseObject({
  id: z.unknown().optional(),
  error: z.unknown().optional(),
  result: z.unknown().optional(),
});

/**
 * Parses a JSON-RPC message of a server. An answer may have a null where the specification leaves a key out. Throws a
 * SyntaxError for a text that is not JSON, and a ZodError for JSON that is not a message.
 * @param requestId the id of the request that an error without an id answers
 */
export function readMessage(text: string, requestId?: number | string): JSONRPCMessage {
  const value: unknown = JSON.parse(text);
  const answer = answerSchema.safeParse(value);
  if (!answer.success || 'method' in answer.data) return JSONRPCMessageSchema.parse(value);
  const id = answer.data.id ?? requestId;
  const { error, result } = answer.data;
  if (error === undefined || error === null)
    return JSONRPCMessageSchema.parse({ jsonrpc: '2.0', id, result: exactResult(text, resultOf(result)) });
  const { code, message, data } = typeof error === 'string' ? errorOf({ message: error }) : errorOf(error);
  return JSONRPCMessageSchema.parse({
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    error: { code, message, ...(data === undefined || data === null ? {} : { data }) },
  });
}

/**
 * Returns a result as an object, which the SDK requires, without its `_meta`: nothing reads it, and the SDK refuses the
 * whole message for a value that it does not expect in it. Any other value, null too, is the content of the result.
 */
function resultOf(result: unknown): unknown {
  if (result === undefined) return result;
  if (!isObject(result as Json)) return { content: result ?? [] };
  const { _meta, ...rest } = result as JsonObject;
  return rest;
}

const structuredSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).nullish(),
  structuredContent: z.looseObject({}),
});

/**
 * Returns a result whose data have all digits of their numbers, also of those that a JavaScript number cannot hold. Such
 * data without a text are the text of the result too, because a result without a text is shown as its data.
 */
function exactResult(text: string, result: unknown): unknown {
  if (!losesDigits(text)) return result;
  const { success, data } = structuredSchema.safeParse(result);
  if (!success) return result;
  const structuredContent = structuredIn(exactJson(text));
  const { content } = data;
  if (content?.some(({ type }) => type === 'text')) return { ...data, structuredContent };
  const shown = { type: 'text', text: exactText(text, structuredIn) };
  return { ...data, structuredContent, content: [shown, ...(content ?? [])] };
}

/** Returns the structured content in a message that is known to have some. */
const structuredIn = (message: unknown) =>
  (message as { readonly result: { readonly structuredContent: unknown } }).result.structuredContent;

function errorOf(error: unknown): z.infer<typeof errorSchema> {
  const read = errorSchema.safeParse(error);
  return read.success ? read.data : { code: -32603, message: JSON.stringify(error), data: undefined };
}
