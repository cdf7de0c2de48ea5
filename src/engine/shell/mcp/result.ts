import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { exactJson, isExactNumber, losesDigits, rawJson } from '../../core/largeIntegers.ts';
import { type Media, mediaText } from '../../core/media.ts';
import { ResultTooLong } from './errors.ts';
import { exactResult } from './message.ts';

/** The result of a call. */
export type ReadResult = {
  /** What the agent sees. */
  readonly content: string;
  readonly isError: boolean;
  /** Pictures, sounds and files; the content has a line in place of each. */
  readonly media?: readonly Media[];
  /** The structured content, where there is some. */
  readonly data?: Json;
  /** The JSON text of the data, where they have texts of digits in place of numbers. */
  readonly dataText?: string;
};

/**
 * Reads a result as a server sent it: what is null counts as absent, and a part of an unknown kind is shown as JSON. Throws
 * `ResultTooLong` where it has more characters than `longest`.
 */
export function readResult(sent: object, longest = Number.POSITIVE_INFINITY): ReadResult {
  const { content, structuredContent, toolResult, isError } = exactResult(sent);
  const given = [content ?? []].flat().filter((part) => part !== null);
  const data = structuredContent ?? toolResult ?? undefined;
  const media = given.flatMap((part) => mediaOf(part) ?? []);
  const hasText = given.some((part) => textOf(part));
  // Data is shown only where the server does not also write it as a text, as it should.
  const isNeeded = data !== undefined && !hasText;
  const parts = isNeeded ? [JSON.stringify(data), ...given] : given;
  const text = parts.map(shown).join('\n');
  if (media.reduce((length, { data: bytes }) => length + bytes.length, text.length) > longest)
    throw new ResultTooLong(longest);
  return {
    content: text,
    isError: isError === true,
    ...(media.length === 0 ? {} : { media }),
    ...(data === undefined ? {} : dataFrom(JSON.stringify(data))),
  };
}

function dataFrom(text: string): Pick<ReadResult, 'data' | 'dataText'> {
  return { data: exactJson(text), ...(losesDigits(text) ? { dataText: text } : {}) };
}

/** Returns the JSON text of a result as `dataOf` returns it, with a number in place of each text of digits. */
export function dataTextOf(
  { content, data, dataText = JSON.stringify(data) }: Pick<ReadResult, 'content' | 'data' | 'dataText'>,
  outputSchema: JsonObject = {},
): string {
  if (data === undefined) return content;
  const value = unwrapped(rawJson(dataText) as Json, content, outputSchema);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns a result as data: the structured content if there is some, otherwise the text. A text that is JSON is parsed.
 * @param outputSchema the schema that the tool declares
 */
export function dataOf({ content, data }: Pick<ReadResult, 'content' | 'data'>, outputSchema: JsonObject = {}): Json {
  const value = data === undefined ? content : unwrapped(data, content, outputSchema);
  if (typeof value !== 'string') return value;
  try {
    return exactJson(value);
  } catch {
    return value;
  }
}

/**
 * Structured content is an object, so servers put other values under a key of one. The SDK for Python does that for
 * lists, whose items are separate texts. Others repeat the text.
 */
function unwrapped(data: Json, content: string, { title, properties, ...schema }: JsonObject): Json {
  if (!isObject(data) || isExactNumber(data)) return data;
  const [[key, value] = ['', null], ...others] = Object.entries(data);
  if (others.length > 0) return data;
  const isPythons =
    schema['x-fastmcp-wrap-result'] === true ||
    (String(title).endsWith('Output') && isObject(properties) && Object.keys(properties).join() === 'result');
  return value === content || (key === 'result' && isPythons) ? value : data;
}

/** Returns a part as the agent sees it. */
function shown(part: Json): string {
  const media = mediaOf(part);
  return media ? mediaText(media) : (textOf(part) ?? JSON.stringify(part));
}

/** Returns the picture, sound or file of a part; undefined for a part of another kind. */
function mediaOf(part: Json): Media | undefined {
  if (!isObject(part)) return undefined;
  if (part['type'] === 'image' || part['type'] === 'audio') return mediaFrom(part['data'], part['mimeType']);
  if (part['type'] !== 'resource' || !isObject(part['resource'])) return undefined;
  const { blob, mimeType, uri } = part['resource'];
  const file = mediaFrom(blob, mimeType);
  return file && typeof uri === 'string' ? { ...file, uri } : file;
}

/** Neither a type nor data can end the line that the content has in place of the media. */
function mediaFrom(data: Json | undefined, mimeType: Json | undefined): Media | undefined {
  if (typeof data !== 'string' || data === '') return undefined;
  const isType = typeof mimeType === 'string' && /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(mimeType);
  return { mimeType: isType ? mimeType : 'application/octet-stream', data };
}

/** Returns the text of a part; undefined for a part of another kind. */
function textOf(part: Json): string | undefined {
  if (typeof part === 'string') return part;
  if (!isObject(part) || part['type'] !== 'text') return undefined;
  return typeof part['text'] === 'string' ? part['text'] : '';
}
