import { finiteText, isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { isExactNumber, rawJson, withDigits } from '../../core/values/largeIntegers.ts';
import { type Attachments, type Media, mediaText, type ResourceLine } from '../../core/values/media.ts';
import { ResultTooLong } from './errors.ts';
import { exactResult } from './message.ts';

/** The result of a call. */
export type ReadResult = Attachments & {
  /** What the agent sees. */
  readonly content: string;
  readonly isError: boolean;
  /** The texts of its parts, those of embedded files too; left out where another part is among them. */
  readonly texts?: readonly string[];
  /** The structured content, where there is some. `JSON.stringify` writes all digits of its numbers. */
  readonly data?: Json;
};

/** What a result has as data. */
export type Data = Pick<ReadResult, 'content' | 'texts' | 'data'>;

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
  // Data is shown only where the server does not also write it as a text, as it should.
  const isNeeded = data !== undefined && !given.some((part) => textOf(part));
  const parts = given.map(readPart);
  const { text, media, resourceLines } = joinParts(isNeeded ? [JSON.stringify(data), ...parts] : parts);
  if (media.reduce((length, { data: bytes }) => length + bytes.length, text.length) > longest)
    throw new ResultTooLong(longest);
  const texts = given.map((part) => textOf(part) ?? embeddedText(part));
  return {
    content: text,
    isError: isError === true || isError === 1 || isError === 'true',
    ...(texts.includes(undefined) ? {} : { texts: texts as string[] }),
    ...(media.length === 0 ? {} : { media }),
    ...(resourceLines.length === 0 ? {} : { resourceLines }),
    ...(data === undefined ? {} : { data }),
  };
}

/** Returns a part as it is shown: as a text, as media, or as the JSON of a file with a text or of a link to a file. */
function readPart(part: Json): string | Media | ResourceLine {
  const shown = mediaOf(part) ?? textOf(part);
  if (shown !== undefined) return shown;
  const json = JSON.stringify(part);
  return isObject(part) && (part['type'] === 'resource' || part['type'] === 'resource_link') ? { json } : json;
}

type Joined = { readonly text: string; readonly media: readonly Media[]; readonly resourceLines: readonly number[] };

/** Returns the parts of a result as one text, with the lines in it that are media and resources. */
function joinParts(parts: readonly (string | Media | ResourceLine)[]): Joined {
  const texts: string[] = [];
  const media: Media[] = [];
  const resourceLines: number[] = [];
  let line = 0;
  for (const part of parts) {
    const text = shownText(part);
    if (typeof part !== 'string' && 'json' in part) resourceLines.push(line);
    else if (typeof part !== 'string') media.push({ ...part, line });
    texts.push(text);
    line += text.split('\n').length;
  }
  return { text: texts.join('\n'), media, resourceLines };
}

function shownText(part: string | Media | ResourceLine): string {
  if (typeof part === 'string') return part;
  return 'json' in part ? part.json : mediaText(part);
}

/**
 * Returns a result as data: the structured content if there is some, otherwise the text. A text that is JSON is parsed, and
 * several texts that are all objects or lists are the rows of a list. `JSON.stringify` writes all digits of its numbers.
 * @param outputSchema the schema that the tool declares
 */
export function exactDataOf({ content, texts = [content], data }: Data, outputSchema: JsonObject = {}): Json {
  const value = data === undefined ? (rowsIn(texts) ?? texts.join('\n')) : unwrap(data, content, outputSchema);
  return typeof value === 'string' ? (rawJsonOf(value) ?? value) : value;
}

/** Returns a result as data, as recordings and states have it. */
export const dataOf = (result: Data, outputSchema?: JsonObject): Json => withDigits(exactDataOf(result, outputSchema));

/** Returns the objects or lists that several texts are as JSON, or undefined. */
function rowsIn(texts: readonly string[]): Json | undefined {
  if (texts.length < 2 || !texts.every((text) => /^\s*[[{]/.test(text))) return undefined;
  const rows = texts.map(rawJsonOf);
  return rows.includes(undefined) ? undefined : (rows as Json);
}

function rawJsonOf(text: string): Json | undefined {
  try {
    return rawJson(finiteText(text)) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Structured content is an object, so servers put other values under a key of one. The SDK for Python does that for
 * lists, whose items are separate texts. Others repeat the text.
 */
function unwrap(data: Json, content: string, { title, properties, ...schema }: JsonObject): Json {
  if (!isObject(data) || isExactNumber(data)) return data;
  const [[key, value] = ['', null], ...others] = Object.entries(data);
  if (others.length > 0) return data;
  const isPythons =
    schema['x-fastmcp-wrap-result'] === true ||
    (String(title).endsWith('Output') && isObject(properties) && Object.keys(properties).join() === 'result');
  return value === content || (key === 'result' && isPythons) ? value : data;
}

/** Returns the picture, sound or file of a part; undefined for a part of another kind. */
function mediaOf(part: Json): Media | undefined {
  if (!isObject(part)) return undefined;
  if (part['type'] === 'image' || part['type'] === 'audio') return readMedia(part['data'], part['mimeType']);
  if (part['type'] !== 'resource' || !isObject(part['resource'])) return undefined;
  const { blob, mimeType, uri } = part['resource'];
  const file = readMedia(blob, mimeType);
  return file && typeof uri === 'string' ? { ...file, uri } : file;
}

/** Neither a type nor data can end the line that the content has in place of the media. */
function readMedia(data: Json | undefined, mimeType: Json | undefined): Media | undefined {
  const bytes = typeof data === 'string' ? base64Of(data) : undefined;
  // Some servers name the type only in a data URI.
  const [, named] = /^data:([^,]{1,200});base64,/.exec(String(data)) ?? [];
  return bytes === undefined ? undefined : { mimeType: typeOf(mimeType ?? named), data: bytes };
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

/** Returns the text of a file that a part embeds; undefined for a part of another kind. */
function embeddedText(part: Json): string | undefined {
  if (!isObject(part) || part['type'] !== 'resource' || !isObject(part['resource'])) return undefined;
  const { text } = part['resource'];
  return typeof text === 'string' ? text : undefined;
}
