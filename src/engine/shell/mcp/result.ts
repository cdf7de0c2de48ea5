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
  const { content, structuredContent, toolResult, isError, ...others } = exactResult(sent);
  const given = [content ?? []].flat().filter((part) => part !== null);
  // Some servers return the data itself in place of a result.
  const isBare = (content ?? null) === null && Object.keys(others).length > 0;
  const data = structuredContent ?? toolResult ?? (isBare ? others : undefined);
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
  const bytes = typeof data === 'string' ? base64Of(data) : undefined;
  return bytes === undefined ? undefined : { mimeType: typeOf(mimeType), data: bytes };
}

/** Returns base64 in the form that clients and models take; undefined for another text. */
function base64Of(text: string): string | undefined {
  const plain = text
    .replace(/^data:[^,]{0,200};base64,/, '')
    .replace(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (plain === '' || plain.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(plain)) return undefined;
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=');
}

/** Other names of types that models take. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
};

/** Returns a media type without its parameters. */
function typeOf(mimeType: Json | undefined): string {
  const [type = ''] = typeof mimeType === 'string' ? mimeType.toLowerCase().split(';') : [];
  const plain = type.trim();
  if (!/^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(plain)) return 'application/octet-stream';
  return Object.hasOwn(aliases, plain) ? (aliases[plain] as string) : plain;
}

/** Returns the text of a part; undefined for a part of another kind. */
function textOf(part: Json): string | undefined {
  if (typeof part === 'string') return part;
  if (!isObject(part) || part['type'] !== 'text') return undefined;
  const text = part['text'] ?? '';
  return typeof text === 'string' ? text : JSON.stringify(text);
}
