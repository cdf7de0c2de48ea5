import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { exactJson, largeIntegerPlaces, rawJson } from '../../core/values/largeIntegers.ts';

// The SDK takes an id that is a text or a safe number. A larger number is a text with a mark until its request is answered.

const mark = 'rehearsal/number:';
const markedId = new RegExp(`^${mark}(-?\\d+)$`);

/** Returns the number of the request that an id names. Some servers write it as a text, and the SDK takes that. */
export const requestNumber = (id: unknown): number => (id === null || id === '' ? Number.NaN : Number(id));

/**
 * Returns a request or a notification with a marked text in place of each id that is too large for a JavaScript number.
 * @param text the JSON text of the message
 */
export function withMarkedIds(message: Json, text: string): Json {
  const places = largeIntegerPlaces(text);
  const hasId = places.includes('/id');
  const cancelsId = places.includes('/params/requestId');
  if (!isObject(message) || !(hasId || cancelsId)) return message;
  const { id, params } = exactJson(text) as { readonly id: string; readonly params: { readonly requestId: string } };
  return {
    ...message,
    ...(hasId ? { id: `${mark}${id}` } : {}),
    ...(cancelsId ? { params: { ...(message['params'] as JsonObject), requestId: `${mark}${params.requestId}` } } : {}),
  };
}

/** Returns a message that `JSON.stringify` writes with the number in place of the marked id of a request that it answers. */
export function withNumericId<Message extends JSONRPCMessage>(message: Message): Message {
  const id = 'method' in message ? undefined : message.id;
  const [, digits] = markedId.exec(String(id)) ?? [];
  if (digits === undefined) return message;
  // The transports of the SDK find the request by the id, so only the JSON has the number.
  const toJSON = () => ({ ...message, id: rawJson(digits) });
  return Object.defineProperty({ ...message }, 'toJSON', { value: toJSON });
}
